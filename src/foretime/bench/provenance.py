"""What a result was made by: the version of the code, and the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

import foretime


class Provenance(NamedTuple):
    """The commit of the code, if it is known, and the processor."""

    commit: str | None
    processor: str


def provenance() -> Provenance:
    """Return what results are made by here."""
    return Provenance(code_commit(), processor())


def code_commit() -> str | None:
    """Return the commit that the code was checked out from, `+` behind it if files have changed since; or nothing."""
    folder = Path(foretime.__file__).parent
    commit = _git(folder, "rev-parse", "HEAD")
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
