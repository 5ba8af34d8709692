"""The files of a run, in one table: what each is called, and whether answers depend on it.

What answers depend on is listed in the manifest of a finished run. The rest is not: checkpoints that training resumes
from, updates, and what the agenda has learned have hashes of their own, and nothing is answered by a trace.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from foretime.rules.files import RUN_RULES

Role = Literal["config", "graph", "rules", "weights", "members", "reranker", "slots", "report", "backtests"]
TREES = "safetensors"
"""How the names of files of trees end."""
MANIFEST = "manifest.json"


class RunFile(NamedTuple):
    """A file that answers depend on: its name in the folder of a run, where * stands for anything, and its role."""

    pattern: str
    role: Role


CONFIG = RunFile("config.toml", "config")
GRAPH = RunFile("graph.json", "graph")
FACTS = RunFile("facts.safetensors", "graph")
ATTRIBUTES = RunFile("attributes.parquet", "graph")
RULES = RunFile(RUN_RULES, "rules")
BEST = RunFile("best.safetensors", "weights")
MEMBERS = RunFile("member-*/best.safetensors", "members")
RERANKER = RunFile(f"reranker.{TREES}", "reranker")
WITHOUT_VALID = RunFile(f"reranker_without_valid.{TREES}", "reranker")
TO_CALIBRATE = RunFile(f"reranker_to_calibrate.{TREES}", "reranker")
SOFTMAX = RunFile("slots.safetensors", "slots")
SLOTS = RunFile(f"slots-*.{TREES}", "slots")
GAP = RunFile("gap.json", "report")
REPORT = RunFile("report.json", "report")
BACKTESTS = RunFile("backtests.jsonl", "backtests")
"""The only one that grows: a line is there before the manifest lists it."""
RUN_FILES = (
    CONFIG, GRAPH, FACTS, ATTRIBUTES, RULES, BEST, MEMBERS, RERANKER, WITHOUT_VALID, TO_CALIBRATE, SOFTMAX, SLOTS,
    GAP, REPORT, BACKTESTS,
)  # fmt: skip

_RESTORE = "restore it from a copy of the run, or train again in another folder"
REMEDIES: dict[Role, str] = {
    "config": _RESTORE,
    "graph": _RESTORE,
    "rules": _RESTORE,
    "weights": _RESTORE,
    "members": "restore it, or remove its folder: foretime train --resume {run} then trains that member again",
    "reranker": f"restore it, or remove {RERANKER.pattern}: foretime train --resume {{run}} then fits it again",
    "slots": "restore it, or remove it: foretime train --resume {run} then fits it again",
    "report": "restore it, or write it again with foretime train --resume {run}",
    "backtests": "restore it from a copy of the run: it says how often test was ranked",
}
"""What to do about a file that is missing or differs."""


def files_in(folder: Path) -> dict[str, Role]:
    """Return the files in the folder of a run that its answers depend on, by their names, and what each is for."""
    return {
        path.relative_to(folder).as_posix(): file.role
        for file in RUN_FILES
        for path in sorted(folder.glob(file.pattern))
    }


def role_of(name: str) -> Role | None:
    """Return what a file is for, by its name in the folder of a run; nothing if answers depend on no such file."""
    return next((file.role for file in RUN_FILES if Path(name).match(file.pattern) and _as_deep(name, file)), None)


def _as_deep(name: str, file: RunFile) -> bool:
    return name.count("/") == file.pattern.count("/")
