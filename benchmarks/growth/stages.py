"""The stages of the way from files to explained answers, each run on its own in a process that does nothing else."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import foretime  # before torch: it sets the environment

# isort: split
import numpy as np

from foretime.config import Config, RulesConfig
from foretime.data.graph import Graph, read_graph
from foretime.evidence.index import build_index
from foretime.rules.mining import mine_rules
from foretime.runs.finish import finish_run
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run
from foretime.runs.loading import load_model
from foretime.runs.machine import peak_memory_mb
from foretime.runs.presets import FACTS_OF_A_FOLD, preset_config
from foretime.runs.reranking import fit_reranker
from foretime.training.callbacks import Callback, TrainingPlan
from foretime.training.trainer import Trainer

SETTINGS: dict[str, Any] = {
    "evidence.families": ["pair", "object", "active", "affinity"],
    "evidence.epochs": 1,
    "training.epochs": 1,
    "training.valid_every": 1,
    "reranker.trees": 50,
    "reranker.slots": False,
}
"""What the preset `quick` sets for large graphs, here for all sizes, so that like is compared with like.

But there is one epoch, of which a sample is timed and the time of all that the preset would train is reported; a quarter of
the trees; and no model of predicates and times: these are fitted on a number of facts that does not grow.
"""
ANSWERED, EXPLAINED = 100, 20
"""Questions that are answered, and explained, one by one."""


class Sample(NamedTuple):
    """How many facts a stage works on where its time follows their number: that of all is proportional."""

    trained: int
    reranked: int


class Measured(NamedTuple):
    """The processor's seconds of a stage, and how many pieces of work it did out of how many there are.

    Not those of the clock: on a machine that others use as well these would say nothing about growth.
    """

    seconds: float
    done: int = 1
    of: int = 1
    weights: int | None = None
    """How many weights the evidence has, where the stage is its index."""


class StepClock(Callback):
    """Tells how long the steps of a training took the processor, without what comes before and after them."""

    seconds = 0.0

    def begin(self, plan: TrainingPlan) -> None:
        """Start."""
        self._began = time.process_time()

    def step(self, epoch: int, step: int, loss: float) -> None:
        """Take the time so far."""
        self.seconds = time.process_time() - self._began


def measure(stage: str, folder: Path, sample: Sample) -> dict[str, Any]:
    """Return what a stage costs on the world in a folder, in this process."""
    empty = resident_mb()
    found = STAGES[stage](folder, sample)
    return {
        **found._asdict(),
        "whole_seconds": found.seconds * found.of / found.done,
        "memory_mb": peak_memory_mb(),
        "empty_mb": empty,
    }


def resident_mb() -> float:
    """Return what this process holds now: its libraries, before it has read anything."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return round(pages * 4096 / (1 << 20), 1)


def _read(folder: Path, sample: Sample) -> Measured:
    return _timed(lambda: read_graph(folder / "world"))


def _mine(folder: Path, sample: Sample) -> Measured:
    graph = read_graph(folder / "world")
    return _timed(lambda: mine_rules(graph, RulesConfig()))


def _index(folder: Path, sample: Sample) -> Measured:
    graph = read_graph(folder / "world")
    config = _config(graph, sample).evidence
    began = time.process_time()
    index = build_index(graph, config)
    return Measured(time.process_time() - began, weights=index.weights)


def _train(folder: Path, sample: Sample) -> Measured:
    """Train on a sample of the facts against the evidence of all; the whole is what the preset trains in all epochs."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    graph = read_graph(folder / "world")
    config = _config(graph, sample)
    run = create_run(graph, config, folder / "run")
    count = min(sample.trained, len(graph.train))
    some = graph.train.take(np.sort(np.random.default_rng(0).choice(len(graph.train), count, replace=False)))
    clock = StepClock()
    Trainer(run, run.config(), graph, clock, some).fit()
    return Measured(clock.seconds, count, facts_trained(graph))


def facts_trained(graph: Graph) -> int:
    """Return how many facts the preset learns from in all its epochs together: each asks two questions."""
    training = preset_config("quick", graph).training
    return training.epochs * min(len(graph.train), (training.epoch_limit or 2 * len(graph.train)) // 2)


def _rerank(folder: Path, sample: Sample) -> Measured:
    """Fit the re-ranker on a fold; the whole is that of one as large graphs have it."""
    run, config, graph = _run(folder)
    model = load_model(run, config, graph)
    done = len(graph.train) // config.reranker.folds
    return _timed(lambda: fit_reranker(run, config, graph, model, Callback()), done, FACTS_OF_A_FOLD)


def _rank(folder: Path, sample: Sample) -> Measured:
    """Calibrate on valid and rank it, with a fixed number of facts."""
    run, config, graph = _run(folder)
    run.report_file.unlink(missing_ok=True)
    done = len(graph.valid)
    return _timed(lambda: finish_run(run, config, graph, Callback(), with_test=False), done, done)


def _answer(folder: Path, sample: Sample) -> Measured:
    run = foretime.open_run(folder / "run")
    asked = _questions(run.graph, ANSWERED + 1)
    run.predict(**_without_object(asked[0]))  # reads the weights and indexes what is known
    return _timed(lambda: [run.predict(**_without_object(one)) for one in asked[1:]], ANSWERED, ANSWERED)


def _explain(folder: Path, sample: Sample) -> Measured:
    run = foretime.open_run(folder / "run")
    asked = _questions(run.graph, EXPLAINED + 1)
    run.explain(**asked[0]).to_text()
    return _timed(lambda: [run.explain(**one).to_text() for one in asked[1:]], EXPLAINED, EXPLAINED)


STAGES: dict[str, Callable[[Path, Sample], Measured]] = {
    "read": _read, "mine": _mine, "index": _index, "train": _train, "rerank": _rerank, "rank": _rank, "answer": _answer,
    "explain": _explain,
}  # fmt: skip


def _config(graph: Graph, sample: Sample) -> Config:
    folds = max(2, min(100, len(graph.train) // sample.reranked))
    return preset_config("quick", graph, {**SETTINGS, "reranker.folds": folds})


def _run(folder: Path) -> tuple[RunFolder, Config, Graph]:
    run = RunFolder.find(folder / "run")
    return run, run.config(), run.graph()


def _questions(graph: Graph, count: int) -> list[dict[str, Any]]:
    entity, predicate, label = graph.entities.name, graph.predicates.name, graph.timeline.label
    rows = zip(*(column[:count].tolist() for column in graph.test.columns()[:4]), strict=True)
    return [
        {"subject": entity(s), "predicate": predicate(p), "object": entity(o), "time": label(t)} for s, p, o, t in rows
    ]


def _without_object(question: dict[str, Any]) -> dict[str, Any]:
    return {slot: name for slot, name in question.items() if slot != "object"}


def _timed(job: Callable[[], object], done: int = 1, of: int = 1) -> Measured:
    began = time.process_time()
    job()
    return Measured(time.process_time() - began, done, of)
