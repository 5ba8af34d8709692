"""What is tuned: a TOML file that names a configuration and the ranges of some of its settings."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from foretime.config import LARGEST_SEED, MOST_EPOCHS, Config, Section, check_section, read_config, read_toml
from foretime.errors import ConfigError
from foretime.training.guidance import RULES_OF_A_FILE
from foretime.training.settings import changed_config, complete_config

MOST_TRIALS = 100_000
NOT_TUNABLE = {
    "data": "it would change what is asked",
    "reranker": "trials are compared by the base model alone",
    "rules.file": "a file of rules may have been mined from the facts that trials are compared by",
    "training.filter": "it would change how trials are compared",
    "training.valid_limit": "it would change how trials are compared",
    "training.ensemble_size": "trials are compared by the first model alone",
    "training.seed": "the best seed is luck",
    "training.device": "it changes nothing but the speed",
    "training.threads": "it changes nothing but the speed",
    "training.checkpoint_seconds": "it changes nothing but the speed",
}
"""Sections and settings that cannot be tuned, and why."""


def _check_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number", "Input should be a number, without quotes")
    if not abs(value) <= sys.float_info.max:  # also catches nan
        raise PydanticCustomError("finite", "Input should be a finite number")
    return value


def _check_choice(value: object) -> object:
    if not isinstance(value, bool | str):
        if not isinstance(value, int | float):
            raise PydanticCustomError("choice", "Input should be one value: a number, a text, true or false")
        _check_number(value)
    return value


Number = Annotated[int | float, BeforeValidator(_check_number)]
Choice = Annotated[bool | int | float | str, BeforeValidator(_check_choice)]


class RangeSection(Section):
    """The range of a setting: `low` and `high`, or `choices`."""

    low: Number | None = None
    """The least value. With two integers only integers are tried."""
    high: Number | None = None
    """The greatest value."""
    log: bool = False
    """Whether values are drawn evenly by their logarithm."""
    choices: list[Choice] = Field(default_factory=list)
    """The values to choose from."""

    @property
    def ends(self) -> tuple[int | float, int | float]:
        """The least and the greatest value."""
        if self.low is None or self.high is None:
            raise ValueError("a range of choices has no ends")
        return self.low, self.high

    def fault(self) -> str | None:
        """Return what is wrong with the range, if anything is."""
        if self.choices:
            extra = self.low is not None or self.high is not None or self.log
            return "give either choices, or low and high" if extra else None
        if self.low is None or self.high is None:
            return "give low and high, or choices"
        if self.low >= self.high:
            return f"low = {self.low} should be less than high = {self.high}"
        return "log needs low above 0" if self.log and self.low <= 0 else None


class TuneSection(Section):
    """`[tune]`: what is tuned, and how long."""

    config: str
    """The configuration, relative to this file."""
    trials: int = Field(default=30, ge=1, le=MOST_TRIALS)
    """How many trials there are in all."""
    startup_trials: int = Field(default=5, ge=1, le=MOST_TRIALS)
    """Trials before any is pruned."""
    warmup_epochs: int = Field(default=0, ge=0, le=MOST_EPOCHS)
    """Epochs after which a trial may be pruned: if it is below the median of the others at that epoch."""
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    """The seed of the search; that of the trainings is the configuration's."""


class PlanSection(Section):
    """A whole plan."""

    tune: TuneSection
    ranges: dict[str, dict[str, RangeSection]] = Field(min_length=1)


@dataclass(frozen=True)
class TunePlan:
    """A checked plan: every value in its ranges is one that the configuration may have."""

    path: Path
    base: Config
    ranges: dict[str, RangeSection]
    trials: int
    startup_trials: int
    warmup_epochs: int
    seed: int

    def warnings(self) -> list[str]:
        """Return why the figures of the trials may not be those of unseen facts."""
        file = self.base.rules.file
        if not file:
            return []
        seen = "if from valid too, trials are compared by facts that their rules have seen"
        return [f"{self.path}: the configuration has rules.file = {file!r}: {RULES_OF_A_FILE}; {seen}"]


def read_plan(path: Path | str) -> TunePlan:
    """Return the plan in a TOML file."""
    path = Path(path)
    found = _read_sections(path)
    base = read_config(path.parent / found.tune.config)
    if not base.data.path:
        raise ConfigError(f"{path.parent / found.tune.config}: names no graph; write data.path")
    _check_unseen(path, base)
    ranges = {f"{section}.{key}": own for section, keys in found.ranges.items() for key, own in keys.items()}
    for key, own in ranges.items():
        _check_range(f"{path}: ranges.{key}: ", base, key, own)
    return TunePlan(path, base, ranges, **found.tune.model_dump(exclude={"config"}))


def _read_sections(path: Path) -> PlanSection:
    values = read_toml(path, "no such file; write one with [tune] and [ranges], as configs/tune/icews14-lcge.toml")
    if "tune" not in values:
        raise ConfigError(f"{path}: has no [tune]; write config = … there, and the ranges under [ranges]")
    _check_names(path, values.get("ranges"))
    return check_section(PlanSection, values, f"{path}: ")


def _check_names(path: Path, ranges: Any) -> None:
    """Raise `ConfigError` if a range has a name that is not that of a setting in a section."""
    faults = []
    for name, value in ranges.items() if isinstance(ranges, dict) else ():
        if "." in name:
            faults.append(f'ranges."{name}": in quotes it is one name; write {name} = {{ … }} without them')
        elif isinstance(value, dict) and value and value.keys() <= RangeSection.model_fields.keys():
            faults.append(f"ranges.{name}: names no section; write section.{name} = {{ … }}, as in model.rank")
    if faults:
        raise ConfigError("\n".join(f"{path}: {fault}" for fault in faults))


def _check_unseen(path: Path, base: Config) -> None:
    """Raise `ConfigError` if trials would have seen the facts that they are compared by."""
    evidence = ["train"] if base.evidence.past_only else base.evidence.splits  # the past is what forecasts may see
    for name, splits in (("rules.splits", base.rules.splits), ("evidence.splits", evidence)):
        seen = [split for split in splits if split != "train"]
        if seen:
            raise ConfigError(f"{path}: {name} has {seen[0]}, by which trials are compared; leave train alone there")


def _check_range(place: str, base: Config, key: str, own: RangeSection) -> None:
    for name, why in NOT_TUNABLE.items():
        if key == name or key.startswith(f"{name}."):
            raise ConfigError(f"{place}cannot be tuned: {why}; take it out of the ranges")
    fault = own.fault()
    if fault:
        raise ConfigError(f"{place}{fault}")
    values: list[Any] = list(own.choices) or list(own.ends)
    if not own.choices and not all(isinstance(end, int) for end in own.ends):
        low, high = own.ends
        values.append(low + (high - low) / math.pi)  # a fraction, which a setting of whole numbers refuses
    for value in values:
        changed = changed_config(base, {key: value}, place)
        try:
            complete_config(changed)
        except ConfigError as error:  # what only the model can tell, such as an unknown option
            raise ConfigError(f"{place}{error}") from None
