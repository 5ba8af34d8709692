"""Runs in folders: which there are, and whether they are still the same."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NamedTuple

from foretime.errors import RunError
from foretime.rules.files import RUN_RULES
from foretime.runs.updates import FOLDER as UPDATES

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a run, when each was written and how large it is: another stamp is another run."""
CONFIG, REPORT = "config.toml", "report.json"
WEIGHTS = ("best.safetensors", "last.safetensors")
FILES = (CONFIG, "graph.json", "facts.safetensors", RUN_RULES, "trace.jsonl", *WEIGHTS, "reranker.txt", REPORT)


def only_updated(before: Stamp, now: Stamp) -> bool:
    """Return whether nothing has changed between two stamps but updates."""
    return before != now and _without_updates(before) == _without_updates(now)


def _without_updates(stamp: Stamp) -> Stamp:
    return tuple(one for one in stamp if not one[0].startswith(f"{UPDATES}/"))


class Seen(NamedTuple):
    """What is in the folders: runs by name, and what could not be looked at just now."""

    runs: dict[str, tuple[Path, Stamp]]
    unseen: list[Path]

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
                seen.runs.setdefault(path.resolve().name, (path, stamp))
    return seen


def check_folders(folders: list[Path]) -> None:
    """Raise `RunError` if a folder is not there, or two runs have one name."""
    names: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise RunError(f"{folder}: no such folder; name the folder of a run, or one with runs in it")
        for name, (path, _) in find_runs([folder]).runs.items():
            if names.setdefault(name, path).resolve() != path.resolve():
                raise RunError(f"{names[name]} and {path} have the same name; rename one of the folders")


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
