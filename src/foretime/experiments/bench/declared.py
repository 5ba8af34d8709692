"""A declared list of runs: a TOML file that names configurations, data sets, seeds and a budget."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from foretime.config import LARGEST_SEED, Config, Section, check_section, read_config
from foretime.errors import ConfigError
from foretime.runs.fingerprint import config_hash
from foretime.training.settings import changed_config

VARIANT, NAME = r"^[\w+-]*$", r"^(\w[\w .+-]*)?$"
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED, strict=True)]


class BudgetSection(Section):
    """`[bench]`: where everything goes, and how long it may take."""

    runs: str = "runs/bench"
    """The folder of the run folders, seen from where the command is run."""
    results: str = "results/bench.jsonl"
    """The file of the results, one line for each run."""
    seconds_per_run: float = Field(default=0.0, ge=0.0)
    """Seconds that a run may take, over all the times that it goes on; 0 for as long as it takes."""
    seconds_in_all: float = Field(default=0.0, ge=0.0)
    """Seconds that one call may take; 0 for as long as it takes."""
    threads: int = Field(default=0, ge=0)
    """Threads of each run; 0 for what its configuration says."""


class EntrySection(Section):
    """`[[run]]`: a configuration, and what differs from it."""

    config: str
    """The configuration file, seen from the list."""
    data: str = ""
    """The data set; empty: that of the configuration."""
    seeds: list[Seed] = Field(default=[0], min_length=1)
    """One run for each seed."""
    name: str = Field(default="", pattern=NAME)
    """What the runs are called; empty: the name of the configuration file, and the variant."""
    variant: str = Field(default="", pattern=VARIANT)
    """What this is of its model, as in the paper's Table 4: `-RGPR` or `-TIS`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Other settings, by their dotted names."""


class ListSection(Section):
    """A whole list, its entries not yet looked at."""

    bench: BudgetSection = Field(default_factory=BudgetSection)
    run: list[dict[str, Any]] = Field(min_length=1)


@dataclass(frozen=True)
class Planned:
    """One run of a list."""

    name: str
    config: Config
    hash: str
    variant: str


@dataclass(frozen=True)
class BenchList:
    """A list that was read, its configurations too. A budget of 0 is none."""

    path: Path
    runs: Path
    results: Path
    seconds_per_run: float
    seconds_in_all: float
    planned: tuple[Planned, ...]

    def folder(self, planned: Planned) -> Path:
        """Return the run folder: another configuration has another one."""
        return self.runs / f"{planned.name}-{planned.hash[:8]}"


def read_list(path: Path | str, only: list[str] | None = None, threads: int | None = None) -> BenchList:
    """Return the list in a TOML file, or only the runs whose names match one of the patterns, such as `icews14-*`.

    `threads` takes the place of the list's.
    """
    path = Path(path)
    bench, listed = read_sections(path)
    threads = bench.threads if threads is None else threads
    entries = [(number, entry) for number, entry in enumerate(listed, start=1) if _wanted(entry, only)]
    names = [name for entry in listed for name in run_names(entry)]
    idle = [pattern for pattern in only or [] if not any(fnmatch(name, pattern) for name in names)]
    if idle:
        raise ConfigError(f"{path}: no run matches {', '.join(idle)}; foretime bench status {path} names them")
    _check_files(path, entries)
    planned = [
        run for number, entry in entries for run in _plan(path, number, entry, threads) if _matches(run.name, only)
    ]
    names = [run.name for run in planned]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"{path}: two runs are called {', '.join(twice)}; give one of them another name")
    return BenchList(
        path, Path(bench.runs), Path(bench.results), bench.seconds_per_run, bench.seconds_in_all, tuple(planned)
    )


def read_sections(path: Path) -> tuple[BudgetSection, list[EntrySection]]:
    """Return what a list says, its configurations not yet looked at."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such list; write one with [[run]] entries, as configs/bench/paper.toml"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as a list: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    found = check_section(ListSection, values, f"{path}: ")
    entries = enumerate(found.run, start=1)
    return found.bench, [check_section(EntrySection, entry, f"{path}: run {number}: ") for number, entry in entries]


def _check_files(path: Path, entries: list[tuple[int, EntrySection]]) -> None:
    """Raise one `ConfigError` with every configuration that is not there."""
    missing = [
        f"{path}: run {number}: config = {entry.config!r}: there is no file {path.parent / entry.config}; "
        "write it, or take the run out of the list"
        for number, entry in entries
        if not (path.parent / entry.config).is_file()
    ]
    if missing:
        raise ConfigError("\n".join(missing))


def _plan(path: Path, number: int, entry: EntrySection, threads: int) -> list[Planned]:
    """Return one run for each seed."""
    base = read_config(path.parent / entry.config)
    place = f"{path}: run {number}: "
    _check_settings(place, entry)
    planned = []
    for name, seed in zip(run_names(entry), entry.seeds, strict=True):
        changes = {**entry.settings, "training.seed": seed}
        changes |= {"data.path": entry.data} if entry.data else {}
        changes |= {"training.threads": threads} if threads else {}
        config = changed_config(base, changes, place)
        if not config.data.path:
            raise ConfigError(f'{place}neither data nor the configuration names a graph; write data = "icews14"')
        try:
            planned.append(Planned(name, config, config_hash(config), entry.variant))
        except ConfigError as error:  # what only the model can tell, such as an unknown option
            raise ConfigError(f"{place}{error}") from None
    return planned


def _check_settings(place: str, entry: EntrySection) -> None:
    """Raise `ConfigError` for seeds and settings that would overwrite each other, and for settings in a table."""
    if len(set(entry.seeds)) < len(entry.seeds):
        raise ConfigError(f"{place}seeds = {entry.seeds}: a seed is there twice; each makes one run")
    for key, value in entry.settings.items():
        if isinstance(value, dict) and value:
            raise ConfigError(
                f'{place}settings: {key} is a table; write "{key}.{next(iter(value))}" = …, with the quotes'
            )
    if "training.seed" in entry.settings:
        raise ConfigError(
            f"{place}training.seed is among the settings; write seeds = [{entry.settings['training.seed']}]"
        )
    if "data.path" in entry.settings and entry.data:
        raise ConfigError(f"{place}data.path is among the settings and data is given too; leave one of them out")


def run_names(entry: EntrySection) -> list[str]:
    """Return what the runs of an entry are called, one for each seed."""
    base = entry.name or Path(entry.config).stem + entry.variant
    return [f"{base}-{seed}" for seed in entry.seeds]


def _wanted(entry: EntrySection, only: list[str] | None) -> bool:
    return any(_matches(name, only) for name in run_names(entry))


def _matches(name: str, only: list[str] | None) -> bool:
    return not only or any(fnmatch(name, pattern) for pattern in only)
