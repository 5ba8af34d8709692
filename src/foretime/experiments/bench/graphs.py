"""Which graph a run was trained on, and which one its list means: a name alone does not tell."""

from __future__ import annotations

from functools import cache

from foretime.config import DataConfig
from foretime.data.graph import read_graph
from foretime.errors import ForetimeError
from foretime.runs.folder import RunFolder


def fingerprint_in(run: RunFolder) -> str | None:
    """Return the fingerprint of the graph of a run, if it has begun and can be read."""
    try:
        return run.graph().fingerprint() if run.config_file.exists() else None
    except ForetimeError:
        return None


def is_another(known: str | None, data: DataConfig) -> bool:
    """Return whether a known fingerprint differs from that of the graph that `[data]` names, if both are known."""
    found = _fingerprint(data.model_dump_json()) if known else None
    return found is not None and found != known


@cache
def _fingerprint(data: str) -> str | None:
    """Return the fingerprint of the graph of a section, or None if it cannot be read: training will say why."""
    section = DataConfig.model_validate_json(data)
    try:
        return read_graph(section.path, section).fingerprint()
    except ForetimeError:
        return None
