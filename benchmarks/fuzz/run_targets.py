"""Readers of the files of a run. Where a file has a hash of its own, fuzzing is let through: the hash is made to fit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.fuzz.small_run import files_of
from benchmarks.fuzz.target import Reader, Target
from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import ForetimeError
from foretime.inference.agenda.maker import _kept
from foretime.reranker.slots.softmax import load_softmaxes
from foretime.reranker.trees import Reranker
from foretime.rules.files import read_rules
from foretime.runs.contents import BEST, CONFIG, FACTS, GAP, GRAPH, MANIFEST, REPORT, RERANKER, RULES, SOFTMAX
from foretime.runs.folder import RunFolder
from foretime.runs.loading import read_max_gap
from foretime.runs.manifest import read_manifest
from foretime.runs.updates import UpdateLog, digest
from foretime.training.checkpoint import read_checkpoint
from foretime.training.trainer import check_checkpoint

UPDATE = "updates/000001.jsonl"
ATTRIBUTES = "attributes.parquet"
MADE_UP = {
    GAP.pattern: b'{"max_gap": 3, "valid": {"mrr": {"3": 0.5}}}\n',
    "warm_start.json": b'{"run": "runs/other", "fingerprint": "00"}\n',
    "backtests.jsonl": b'{"number": 1, "at": "2024-02-01", "first": "2024-01-01", "last": "2024-01-09", "test_facts": 3}\n',
    "report-after-3.json": b'{"test": {}}\n',
}
"""Files that the small run has not."""


def damaged(name: str, read: Callable[[RunFolder], object], seal: Callable[[bytes], bytes] = bytes) -> Reader:
    """Return a reader of a run in which the input stands in the place of a file, sealed by a hash where it has one."""

    def read_run(content: bytes, folder: Path) -> None:
        run = folder / "run"
        file = run / name
        file.parent.mkdir(exist_ok=True)
        before = file.read_bytes() if file.exists() else None
        file.write_bytes(seal(content))
        try:
            assert read(RunFolder(run)) is not None
        finally:
            file.write_bytes(before) if before is not None else file.unlink()

    return read_run


def begun(read: Reader, source: Path) -> Reader:
    """Return the reader, with a copy of the run in its folder."""

    def read_run(content: bytes, folder: Path) -> None:
        if not (folder / "run").exists():
            shutil.copytree(source, folder / "run")
        read(content, folder)

    return read_run


def sealed_update(content: bytes) -> bytes:
    """Return an update with its sha256, if its header can hold one."""
    head, _, body = content.partition(b"\n")
    try:
        header = json.loads(head)
        header.pop("sha256", None)
        header["sha256"] = digest(header, body)
    except (AttributeError, ValueError, TypeError, RecursionError):
        return content
    return json.dumps(header).encode() + b"\n" + body


def sealed_header(content: bytes) -> bytes:
    """Return a file of tensors whose first eight bytes say how long its header is, if it has one."""
    rest = content[8:].decode("latin-1")
    try:
        _, end = json.JSONDecoder().raw_decode(rest)
    except (ValueError, RecursionError):
        return content
    end += len(rest[end:]) - len(rest[end:].lstrip(" "))
    return end.to_bytes(8, "little") + content[8:]


def checked_weights(run: RunFolder, config: Config, graph: Graph) -> object:
    """Return what is in the best weights, as a loading checks it."""
    check_checkpoint(run.best_file, config, graph)
    return read_checkpoint(run.best_file)


def both(*reads: Callable[[], object]) -> object:
    """Return that all were read; one that is refused keeps none of the others from being read."""
    refused: ForetimeError | None = None
    for read in reads:
        try:
            read()
        except ForetimeError as error:
            refused = error
    if refused is not None:
        raise refused
    return True


def read_agenda(run: RunFolder) -> object:
    """Return whether there is what a forecast has kept; anything wrong with it means that there is nothing."""
    return _kept(run.path / "agenda.json", "report") is not None


def run_targets(run: Path) -> list[Target]:
    """Return the readers of the files of a run."""
    files = files_of(run) | MADE_UP
    whole = RunFolder(run)
    config, graph = whole.config(), whole.graph()
    features = tuple(json.loads(_said(files[RERANKER.pattern]))["features"])
    shapes = _shapes(files[SOFTMAX.pattern])
    readers: dict[str, tuple[Reader, int]] = {
        CONFIG.pattern: (damaged(CONFIG.pattern, RunFolder.config), 2),
        REPORT.pattern: (damaged(REPORT.pattern, lambda found: both(found.report, found.problems)), 1),
        MANIFEST: (damaged(MANIFEST, lambda found: both(partial(read_manifest, found.path), found.check)), 2),
        GRAPH.pattern: (damaged(GRAPH.pattern, RunFolder.graph), 2),
        FACTS.pattern: (damaged(FACTS.pattern, RunFolder.graph, sealed_header), 1),
        ATTRIBUTES: (damaged(ATTRIBUTES, RunFolder.graph), 1),
        RULES.pattern: (damaged(RULES.pattern, lambda found: read_rules(found.rules_file, graph)), 1),
        BEST.pattern: (damaged(BEST.pattern, partial(checked_weights, config=config, graph=graph), sealed_header), 1),
        RERANKER.pattern: (damaged(RERANKER.pattern, _reads_trees(features), sealed_header), 2),
        SOFTMAX.pattern: (
            damaged(SOFTMAX.pattern, lambda found: load_softmaxes(found.softmax_file, shapes), sealed_header),
            1,
        ),
        UPDATE: (
            damaged(UPDATE, lambda found: UpdateLog(found.path, graph.timeline).read(), sealed_update),
            2,
        ),
        "trace.jsonl": (damaged("trace.jsonl", RunFolder.trace), 2),
        GAP.pattern: (damaged(GAP.pattern, lambda found: (read_max_gap(found.gap_file),)), 1),
        "warm_start.json": (damaged("warm_start.json", RunFolder.warm_start), 1),
        "backtests.jsonl": (damaged("backtests.jsonl", RunFolder.backtests), 1),
        "report-after-3.json": (damaged("report-after-3.json", RunFolder.tested_before), 1),
        "agenda.json": (damaged("agenda.json", read_agenda), 1),
    }
    files["agenda.json"] = b'{"report": "report", "sha256": "00"}\n'
    return [
        Target(f"run: {name}", (_short(files[name]),), begun(read, run), share)
        for name, (read, share) in readers.items()
    ]


def _short(content: bytes) -> bytes:
    """Return a sample that fuzzing can change: a longer one is cut off."""
    return content[: 1 << 17]


def _reads_trees(features: tuple[str, ...]) -> Callable[[RunFolder], object]:
    def read(run: RunFolder) -> object:
        return Reranker.load(run.reranker_file, features)

    return read


def _said(content: bytes) -> str:
    head: dict[str, Any] = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return str(head["__metadata__"]["trees"])


def _shapes(content: bytes) -> dict[str, tuple[int, int]]:
    head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return {name: tuple(one["shape"]) for name, one in head.items() if name != "__metadata__"}
