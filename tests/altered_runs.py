"""Copies of finished runs that a test has changed on purpose, whole again or not finished any more."""

from pathlib import Path

from foretime.runs.folder import RunFolder
from foretime.runs.manifest import write_whole


def sealed(path: Path) -> Path:
    """Have the manifest of a run list its files as they are now; return the run."""
    write_whole(path, RunFolder(path).report_file.read_bytes())
    return path


def unfinished(path: Path) -> Path:
    """Leave a run as it was before it was finished; return it."""
    run = RunFolder(path)
    run.report_file.unlink()
    run.manifest_file.unlink()
    return path
