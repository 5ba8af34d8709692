"""What a result was made by: the version of the code, and the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

import foretime
from foretime.files import write_json

MADE = "made.json"
"""The file of a run folder that tells by which commit it was begun."""


class Provenance(NamedTuple):
    """The commit of the code, if it is known, and the processor.

    A run that goes on after the code has changed was begun by one commit and finished by another.
    """

    commit: str | None
    processor: str
    finished_by: str | None = None


def provenance() -> Provenance:
    """Return what results are made by here."""
    return Provenance(code_commit(), processor())


def provenance_of(folder: Path) -> Provenance:
    """Return what a run is made by: by the code of its beginning, which its folder keeps, and by that of now."""
    now, file = provenance(), folder / MADE
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_json(file, {"commit": now.commit})
        return now
    begun = _begun(folder)
    if begun is None or begun["commit"] == now.commit:
        return now
    return now._replace(commit=begun["commit"], finished_by=now.commit)


def commit_in(folder: Path) -> str | None:
    """Return the commit of the code that has begun a run, if its folder tells."""
    begun = _begun(folder)
    return begun["commit"] if begun else None


def _begun(folder: Path) -> dict[str, str | None] | None:
    """Return what a run folder tells of its beginning, nothing if that is missing or damaged."""
    try:
        found = json.loads((folder / MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(found, dict) and isinstance(found.get("commit", 0), str | None)
    return found if known else None


def code_commit() -> str | None:
    """Return the commit that the code was checked out from, `+` behind it if files have changed since; or nothing."""
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
