"""Which graph a run has learned, and which one its list means: a name alone does not tell."""

from __future__ import annotations

from functools import cache

from foretime.config import DataConfig
from foretime.data.graph import read_graph
from foretime.errors import ForetimeError
from foretime.runs.folder import RunFolder


def fingerprint_in(run: RunFolder) -> str | None:
    """Return that of a run's graph, if it has begun and can be read."""
    try:
        return run.graph().fingerprint() if run.config_file.exists() else None
    except ForetimeError:
        return None


def is_another(known: str | None, data: DataConfig) -> bool:
    """Return whether a known fingerprint is not that of the graph that a section `data` names, as far as both tell."""
    found = _fingerprint(data.model_dump_json()) if known else None
    return found is not None and found != known


@cache
def _fingerprint(data: str) -> str | None:
    """Return that of the graph of a section; nothing if it cannot be read, which training will tell."""
    section = DataConfig.model_validate_json(data)
    try:
        return read_graph(section.path, section).fingerprint()
    except ForetimeError:
        return None
