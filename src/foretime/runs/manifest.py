"""The manifest of a finished run: the size and the sha256 of every file that its answers depend on.

manifest.json   {"format": 1, "changing": null, "files": {"best.safetensors": {"size": …, "sha256": …}, …}}

It is written right before the report, which it knows already: with its report, a run is finished, and then everything
is there. A command that is to change a listed file says so first, under `changing`, and lists what must stay; if it is
stopped on its way, the run is refused until the same command has done the rest.
"""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

from foretime.errors import RunError
from foretime.files import json_bytes, parse_json, read_bytes, sha256_of, write_bytes
from foretime.runs.contents import BACKTESTS, MANIFEST, REMEDIES, REPORT, Role, files_in, role_of

FORMAT = 1
SETTLED = 2 * 10**9
"""Nanoseconds after which a change of a file shows in its time: a disk may count in steps of a second or two."""
UNLISTED = f"not a file of this run, {MANIFEST} does not list it"
_COMMAND = re.compile(r"(--epochs \d{1,9})?", re.ASCII)
"""What `changing` may be."""
_hashes: dict[tuple[str, int, int, int], str] = {}
"""The hashes of files by path, size, and the times of the last change of content and of the entry."""


class ListedFile(NamedTuple):
    """What the manifest says of a file."""

    size: int
    sha256: str


class Manifest(NamedTuple):
    """What a run folder must have."""

    files: dict[str, ListedFile]
    changing: str | None = None
    """What stands behind `foretime train --resume RUN` in the command that is changing the run, if one is."""

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        files = {name: one._asdict() for name, one in sorted(self.files.items())}
        return json_bytes({"format": FORMAT, "changing": self.changing, "files": files})


class FileProblem(NamedTuple):
    """What is wrong with a file of a run: its name, its role, what is wrong, and what to do."""

    name: str
    role: Role | None
    what: str
    remedy: str


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in a folder, nothing if there is none; a damaged one is a `RunError`."""
    file = folder / MANIFEST
    try:
        content = read_bytes(file)
        found = _parsed(parse_json(content))
        if found.to_bytes() != content:
            raise ValueError("it is not as it was written")
    except FileNotFoundError:
        return None
    except (OSError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise RunError(
            f"{file}: damaged ({error}); restore it, or, if nothing else was changed, remove it: "
            f"foretime upgrade {folder} writes it again"
        ) from None
    return found


def _parsed(found: Any) -> Manifest:
    if found["format"] != FORMAT:
        raise ValueError(f"it has the format {found['format']!r}, not {FORMAT}: another version wrote it")
    changing, files = found["changing"], {name: ListedFile(**one) for name, one in found["files"].items()}
    if changing is not None and not _COMMAND.fullmatch(changing):  # it is shown, to be typed
        raise ValueError("changing is not a command")
    if any(type(one.size) is not int or one.size < 0 or not isinstance(one.sha256, str) for one in files.values()):
        raise ValueError("a size is not a number, or a hash is not text")
    if unknown := [name for name in files if role_of(name) is None]:
        raise ValueError(f"{unknown[0]} is not a file of a run")
    return Manifest(files, changing)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a run."""
    write_bytes(folder / MANIFEST, manifest.to_bytes())


def write_whole(folder: Path, report: bytes) -> None:
    """List every file of a run as it is, with the report that is about to be written."""
    files = {name: listed(folder / name) for name in files_in(folder)}
    files[REPORT.pattern] = ListedFile(len(report), hashlib.sha256(report).hexdigest())
    write_manifest(folder, Manifest(files))


def write_changing(folder: Path, changing: str, roles: set[Role]) -> None:
    """Say that a command is about to change the files of some roles; the others are listed as they are."""
    files = {name: listed(folder / name) for name, role in files_in(folder).items() if role not in roles}
    write_manifest(folder, Manifest(files, changing))


def list_backtests(folder: Path) -> None:
    """List the backtests of a run as they are now; a run that is being changed lists them once that is done."""
    manifest = read_manifest(folder)
    if manifest is not None and manifest.changing is None:
        files = {**manifest.files, BACKTESTS.pattern: listed(folder / BACKTESTS.pattern)}
        write_manifest(folder, Manifest(files))


def listed(file: Path) -> ListedFile:
    """Return the size and the sha256 of a file, which is read once in a process as long as it stays the same."""
    status = file.stat()
    key = (str(file.absolute()), status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if key not in _hashes:
        found = sha256_of(file)
        if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < SETTLED:
            return ListedFile(status.st_size, found)  # changed again right now, it might look the same
        _hashes[key] = found
    return ListedFile(status.st_size, _hashes[key])


def compare(folder: Path, manifest: Manifest) -> list[FileProblem]:
    """Return what is wrong with the files that a manifest lists, and with those that it should list."""
    problems = []
    for name, wanted in manifest.files.items():
        if what := _difference(folder / name, wanted):
            problems.append(_problem(folder, name, what))
    if manifest.changing is None:
        unknown = sorted(files_in(folder).keys() - manifest.files.keys() - {BACKTESTS.pattern})
        problems += [FileProblem(name, role_of(name), UNLISTED, "move it elsewhere") for name in unknown]
    return problems


def _problem(folder: Path, name: str, what: str) -> FileProblem:
    role = role_of(name)
    return FileProblem(name, role, what, REMEDIES[role].format(run=folder) if role else "")


def _difference(file: Path, wanted: ListedFile) -> str:
    """Return how a file differs from what is listed, an empty text if it does not."""
    try:
        size = file.stat().st_size
        if size == wanted.size and listed(file) == wanted:
            return ""
        if file.name == BACKTESTS.pattern and size > wanted.size:
            content = read_bytes(file)[: wanted.size]
            if ListedFile(len(content), hashlib.sha256(content).hexdigest()) == wanted:
                return ""  # who added a line was killed before it was listed
    except FileNotFoundError:
        return f"missing, though {MANIFEST} lists it"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if size != wanted.size:
        return f"damaged, it has {size:,} bytes and not the {wanted.size:,} that {MANIFEST} lists"
    return f"damaged, its content is not what {MANIFEST} has the sha256 of"
