"""A graph without valid facts: nothing is said of valid, and the weights of the last epoch are taken."""

from dataclasses import replace
from pathlib import Path

import pytest

from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import Interrupted
from foretime.experiments.bench.rows import row_of_finished
from foretime.experiments.bench.running import summary
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume, train
from foretime.training.callbacks import Callback, TrainingPlan
from interruptions import StopAfter, bytes_of


@pytest.fixture(scope="module")
def graph(small_graph: Graph) -> Graph:
    return replace(small_graph, valid=small_graph.valid.take(slice(0)))


@pytest.fixture(scope="module")
def config(small_config: Config) -> Config:
    return override(small_config, {"training.epochs": 5, "training.valid_every": 1, "training.patience": 1})


class Hearing(Callback):
    def __init__(self) -> None:
        self.plans: list[TrainingPlan] = []
        self.announced: list[str] = []

    def begin(self, plan: TrainingPlan) -> None:
        self.plans.append(plan)

    def announce(self, text: str) -> None:
        self.announced.append(text)


@pytest.fixture(scope="module")
def whole(graph: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return train(graph, config, tmp_path_factory.mktemp("run") / "whole")


def test_the_trace_says_nothing_of_valid(graph: Graph, whole: RunFolder):
    assert len(graph.valid) == 0
    assert [(line["epoch"], "valid_mrr" in line) for line in whole.trace()] == [(n, False) for n in range(1, 6)]
    report = whole.report()
    assert (report["best_epoch"], report["epochs"], "valid" in report) == (5, 5, False)


def test_a_resumed_training_knows_no_figure_of_valid(graph: Graph, config: Config, whole: RunFolder, tmp_path: Path):
    run, heard = create_run(graph, config, tmp_path / "run"), Hearing()
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(25))
    assert run.best_file.exists()
    resume(run.path, heard)
    assert [plan.best_mrr for plan in heard.plans] == [None]
    assert "ranking valid" not in heard.announced
    assert bytes_of(run.path) == bytes_of(whole.path)


def test_a_result_has_no_curve_that_could_rise(whole: RunFolder):
    row = row_of_finished(whole)
    assert (row["curve"], row["last_gain"], row["converged"], row["valid"]) == ([], None, None, None)
    assert "valid MRR" not in summary(row)
