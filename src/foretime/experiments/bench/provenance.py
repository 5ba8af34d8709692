"""What a result was made by: the version of the code, and the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

import foretime
from foretime.files import make_folder, read_json, write_json

MADE = "made.json"
"""The file of a run folder with the commit that began it."""


class Provenance(NamedTuple):
    """The commit that began a run, if it is known, the processor, and the commit that finished it, if it is another."""

    commit: str | None
    processor: str
    finished_by: str | None = None


def provenance_of(folder: Path) -> Provenance:
    """Return what a run is made by; the first call notes the commit in the folder."""
    commit, file = code_commit(), folder / MADE
    if not file.exists():
        make_folder(folder)
        write_json(file, {"commit": commit})
    known, begun = _begun(folder)
    if not known or begun == commit:
        return Provenance(commit, processor())
    return Provenance(begun, processor(), commit)


def commit_in(folder: Path) -> str | None:
    """Return the commit of the code that began a run, if its folder has it."""
    return _begun(folder)[1]


def _begun(folder: Path) -> tuple[bool, str | None]:
    """Return whether a run folder says which commit began it, and that commit."""
    try:
        commit = read_json(folder / MADE)["commit"]
    except (OSError, ValueError, LookupError, TypeError):
        return False, None
    return (True, commit) if isinstance(commit, str | None) else (False, None)


def code_commit() -> str | None:
    """Return the commit that the code was checked out from, with a `+` if files have changed since, or None."""
    folder = Path(foretime.__file__).parent
    tracked = _git(folder, "ls-files", "--error-unmatch", "__init__.py")  # not merely installed in somebody's checkout
    commit = _git(folder, "rev-parse", "HEAD") if tracked else None
    if not commit:
        return None
    return commit.strip() + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no", ".") else "")


def processor() -> str:
    """Return the name of the processor and how many cores there are."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    except OSError:  # there is no git here
        return None
    return done.stdout if done.returncode == 0 else None
