"""Lists of runs: TOML files that name configurations, graphs, seeds and a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from foretime.config import (
    LARGEST_SEED,
    MOST_SECONDS,
    MOST_THREADS,
    Config,
    Section,
    check_section,
    read_config,
    read_toml,
)
from foretime.errors import ConfigError
from foretime.runs.fingerprint import config_hash
from foretime.training.settings import changed_config

VARIANT, NAME = r"^[\w+-]*$", r"^(\w[\w .+-]*)?$"
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED, strict=True)]


class BudgetSection(Section):
    """`[bench]`: where runs and results go, and how long everything may take."""

    runs: str = "runs/bench"
    """The folder of the run folders, seen from where the command is run."""
    results: str = "results/bench.jsonl"
    """The file of the results, one line for each run."""
    seconds_per_run: float = Field(default=0.0, ge=0.0, le=MOST_SECONDS)
    """Seconds that a run may take, over all calls that resume it; 0: no limit."""
    seconds_in_all: float = Field(default=0.0, ge=0.0, le=MOST_SECONDS)
    """Seconds that one call may take; 0: no limit."""
    threads: int = Field(default=0, ge=0, le=MOST_THREADS)
    """Threads of each run; 0 for what its configuration says."""


class EntrySection(Section):
    """`[[run]]`: a configuration, and what differs from it."""

    config: str
    """The configuration file, seen from the list."""
    data: str = ""
    """The graph; empty: that of the configuration."""
    seeds: list[Seed] = Field(default=[0], min_length=1)
    """One run for each seed."""
    name: str = Field(default="", pattern=NAME)
    """What the runs are called; empty: the name of the configuration file, and the variant."""
    variant: str = Field(default="", pattern=VARIANT)
    """What this is of its model, as in the paper's Table 4: `-RGPR` or `-TIS`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Other settings, by their dotted names."""

    def names(self) -> list[str]:
        """Return what the runs are called, one for each seed."""
        base = self.name or Path(self.config).stem + self.variant
        return [f"{base}-{seed}" for seed in self.seeds]


class ListSection(Section):
    """A whole list, its entries not yet checked."""

    bench: BudgetSection = Field(default_factory=BudgetSection)
    run: list[dict[str, Any]] = Field(min_length=1)


@dataclass(frozen=True)
class PlannedRun:
    """One run of a list."""

    name: str
    config: Config
    hash: str
    variant: str


@dataclass(frozen=True)
class BenchList:
    """A list that was read together with its configurations. A budget of 0 is no limit."""

    path: Path
    runs: Path
    results: Path
    seconds_per_run: float
    seconds_in_all: float
    planned: tuple[PlannedRun, ...]

    def folder(self, planned: PlannedRun) -> Path:
        """Return the run folder: another configuration has another one."""
        return self.runs / f"{planned.name}-{planned.hash[:8]}"


def read_list(path: Path | str, only: Sequence[str] | None = None, **budget: float | None) -> BenchList:
    """Return the list in a TOML file, or only the runs whose names match one of the patterns, such as `icews14-*`.

    `budget` replaces keys of `[bench]`: `seconds_per_run`, `seconds_in_all` and `threads`, where they are not None.
    """
    path, patterns = Path(path), [only] if isinstance(only, str) else list(only or [])
    bench, listed = read_sections(path)
    bench = bench.model_copy(update={key: value for key, value in budget.items() if value is not None})
    names = [name for entry in listed for name in entry.names()]
    idle = [pattern for pattern in patterns if not any(fnmatch(name, pattern) for name in names)]
    if idle:
        raise ConfigError(f"{path}: no run matches {', '.join(idle)}; foretime bench status {path} names them")
    chosen = {name for name in names if not patterns or any(fnmatch(name, pattern) for pattern in patterns)}
    entries = {number: entry for number, entry in enumerate(listed, start=1) if chosen & set(entry.names())}
    _check_files(path, entries)
    planned = [
        run for number, entry in entries.items() for run in _plan(path, number, entry, bench) if run.name in chosen
    ]
    twice = sorted(name for name, count in Counter(run.name for run in planned).items() if count > 1)
    if twice:
        raise ConfigError(f"{path}: two runs are called {', '.join(twice)}; give one of them another name")
    places = Path(bench.runs), Path(bench.results)
    return BenchList(path, *places, bench.seconds_per_run, bench.seconds_in_all, tuple(planned))


def read_sections(path: Path) -> tuple[BudgetSection, list[EntrySection]]:
    """Return what a list says, without reading its configurations."""
    values = read_toml(path, "no such list; write one with [[run]] entries, as configs/bench/paper.toml")
    found = check_section(ListSection, values, f"{path}: ")
    entries = enumerate(found.run, start=1)
    return found.bench, [check_section(EntrySection, entry, f"{path}: run {number}: ") for number, entry in entries]


def _check_files(path: Path, entries: dict[int, EntrySection]) -> None:
    """Raise one `ConfigError` with every configuration that is not there."""
    missing = [
        f"{path}: run {number}: config = {entry.config!r}: there is no file {path.parent / entry.config}; "
        "write it, or take the run out of the list"
        for number, entry in entries.items()
        if not (path.parent / entry.config).is_file()
    ]
    if missing:
        raise ConfigError("\n".join(missing))


def _plan(path: Path, number: int, entry: EntrySection, bench: BudgetSection) -> list[PlannedRun]:
    """Return one run for each seed."""
    place, base = f"{path}: run {number}: ", read_config(path.parent / entry.config)
    _check_settings(place, entry)
    changes = entry.settings | ({"data.path": entry.data} if entry.data else {})
    changes |= {"training.threads": bench.threads} if bench.threads else {}
    planned = []
    for name, seed in zip(entry.names(), entry.seeds, strict=True):
        config = changed_config(base, changes | {"training.seed": seed}, place)
        if not config.data.path:
            raise ConfigError(f'{place}neither data nor the configuration names a graph; write data = "icews14"')
        try:
            planned.append(PlannedRun(name, config, config_hash(config), entry.variant))
        except ConfigError as error:  # what only the model can tell, such as an unknown option
            raise ConfigError(f"{place}{error}") from None
    return planned


def _check_settings(place: str, entry: EntrySection) -> None:
    """Raise `ConfigError` for seeds and settings that would overwrite each other, and for settings in a table."""
    settings, fault = entry.settings, ""
    table = next((key for key, value in settings.items() if isinstance(value, dict) and value), None)
    if len(set(entry.seeds)) < len(entry.seeds):
        fault = f"seeds = {entry.seeds}: a seed is there twice; each makes one run"
    elif table is not None:
        fault = f'settings: {table} is a table; write "{table}.{next(iter(settings[table]))}" = …, with the quotes'
    elif "training.seed" in settings:
        fault = f"training.seed is among the settings; write seeds = [{settings['training.seed']}]"
    elif "data.path" in settings and entry.data:
        fault = "data.path is among the settings and data is given too; leave one of them out"
    if fault:
        raise ConfigError(place + fault)
