"""Runs in folders: which there are, and whether they are still the same."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NamedTuple

from foretime.errors import RunError
from foretime.rules.files import RUN_RULES
from foretime.runs.contents import MANIFEST
from foretime.runs.updates import FOLDER as UPDATES

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a run, when each was written and how large it is: another stamp is another run."""
CONFIG, REPORT = "config.toml", "report.json"
WEIGHTS = ("best.safetensors", "last.safetensors")
FILES = (
    CONFIG,
    "graph.json",
    "facts.safetensors",
    "attributes.parquet",
    RUN_RULES,
    "trace.jsonl",
    *WEIGHTS,
    "reranker.safetensors",
    MANIFEST,
    REPORT,
)


def only_updated(before: Stamp, now: Stamp) -> bool:
    """Return whether nothing has changed between two stamps but updates."""
    return before != now and _without_updates(before) == _without_updates(now)


def _without_updates(stamp: Stamp) -> Stamp:
    return tuple(one for one in stamp if not one[0].startswith(f"{UPDATES}/"))


class Seen(NamedTuple):
    """What is in the folders: the runs of each name, and what could not be looked at just now."""

    runs: dict[str, dict[Path, Stamp]]
    """Several of one name if they lie in different places; by whatever path a run was found first."""
    unseen: list[Path]

    @property
    def doubles(self) -> dict[str, list[Path]]:
        """The names that several runs have, and where these are."""
        return {name: list(found) for name, found in self.runs.items() if len(found) > 1}

    def is_hidden(self, path: Path) -> bool:
        """Return whether a path may be there, though it was not seen."""
        return any(path == hidden or hidden in path.parents for hidden in self.unseen)


def find_runs(folders: list[Path]) -> Seen:
    """Return the runs by name: a folder that is a run itself, or the finished runs in a folder."""
    seen = Seen({}, [])
    for folder in folders:
        try:
            own = (folder / CONFIG).is_file()
            paths = [folder] if own else sorted(folder.iterdir())
        except FileNotFoundError:
            if not folder.parent.is_dir():
                seen.unseen.append(folder)
            continue
        except OSError:  # a disk that fails now may be there again in five seconds
            seen.unseen.append(folder)
            continue
        for path in paths:
            try:
                stamp = _stamp(path, finished=not own)
            except OSError:
                seen.unseen.append(path)
                continue
            if stamp is not None:
                # a folder may have a name that is not UTF-8, which no response could show
                name = path.resolve().name.encode("utf-8", "replace").decode()
                found = seen.runs.setdefault(name, {})
                if path.resolve() not in {other.resolve() for other in found}:
                    found[path] = stamp
    return seen


def is_still(path: Path, stamp: Stamp) -> bool:
    """Return whether a run has the files that it had, apart from updates: these may come at any time."""
    try:
        found = _stamp(path, finished=False)
    except OSError:
        return False
    return found is not None and _without_updates(found) == _without_updates(stamp)


def check_folders(folders: list[Path]) -> list[str]:
    """Return a warning for each name that several runs have; raise `RunError` if a folder is not there."""
    for folder in folders:
        if not folder.is_dir():
            raise RunError(f"{folder}: no such folder; name the folder of a run, or one with runs in it")
    return [
        f"{' and '.join(map(str, paths))} have the same name; only {paths[0]} is served: rename the folder of the other"
        for paths in find_runs(folders).doubles.values()
    ]


def _stamp(path: Path, finished: bool) -> Stamp | None:
    """Return the stamp of a run, nothing if there is none, or none with a report where it must be finished."""
    found: dict[str, tuple[int, int]] = {}
    members = [f"{member.name}/{name}" for member in sorted(path.glob("member-*")) for name in WEIGHTS]
    updates = [f"{UPDATES}/{update.name}" for update in sorted((path / UPDATES).glob("*.jsonl"))]
    for name in (*FILES, *members, *updates):
        try:
            status = (path / name).stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        if stat.S_ISREG(status.st_mode):
            found[name] = (status.st_mtime_ns, status.st_size)
    needed = [CONFIG] + ([REPORT] if finished else [])
    if any(name not in found for name in needed) or not any(name in found for name in (REPORT, *WEIGHTS)):
        return None
    return tuple((name, *values) for name, values in found.items())
