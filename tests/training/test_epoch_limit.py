"""Epochs of a part of the training questions, drawn for each anew."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foretime.config import Config, override
from foretime.data.graph import Graph, read_graph
from foretime.runs.life import create_run, train
from foretime.training.callbacks import Callback, TrainingPlan
from foretime.training.trainer import Trainer
from interruptions import check_resumes

LIMIT = {"training.epoch_limit": 250}


class Planned(Callback):
    """Keeps what was announced."""

    plan: TrainingPlan | None = None

    def begin(self, plan: TrainingPlan) -> None:
        self.plan = plan


def steps_of(graph: Graph, config: Config, folder: Path) -> int:
    run = create_run(graph, config, folder)
    return Trainer(run, run.config(), graph, Callback()).steps


def test_an_epoch_has_at_most_so_many_questions(small_graph: Graph, small_config: Config, tmp_path: Path) -> None:
    whole = steps_of(small_graph, small_config, tmp_path / "whole")
    assert whole > 3
    assert steps_of(small_graph, override(small_config, LIMIT), tmp_path / "limited") == 2
    tiny = override(small_config, {"training.epoch_limit": 1})
    assert steps_of(small_graph, tiny, tmp_path / "tiny") == 1
    more = override(small_config, {"training.epoch_limit": 10**6})
    assert steps_of(small_graph, more, tmp_path / "more") == whole


def test_the_plan_says_how_many_questions_an_epoch_has(
    small_graph: Graph, small_config: Config, tmp_path: Path
) -> None:
    heard = Planned()
    train(small_graph, override(small_config, LIMIT | {"training.epochs": 1}), tmp_path / "run", heard, with_test=False)
    assert heard.plan is not None
    assert heard.plan.steps == 2
    assert 150 < heard.plan.questions <= 250


def test_an_epoch_of_large_steps_is_within_its_limit_or_one_step(tmp_path: Path) -> None:
    """Without time there are two different questions, with all answers of train each: two steps of an epoch."""
    days = np.datetime64("2020-01-01") + np.arange(300)
    (tmp_path / "events.tsv").write_text("".join(f"a\tp\tb\t{day}\n" for day in days), encoding="utf-8")
    graph = read_graph(tmp_path / "events.tsv")
    settings = {"model.name": "complex", "training.batch_size": 10, "training.threads": 1}
    for limit, steps in ((0, 2), (2 * len(graph.train), 2), (2 * len(graph.train) - 1, 1), (20, 1)):
        config = override(Config(), {**settings, "training.epoch_limit": limit})
        assert steps_of(graph, config, tmp_path / str(limit)) == steps


def test_each_epoch_asks_others(
    small_graph: Graph, small_config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[np.ndarray[Any, Any]] = []
    step = Trainer._step

    def watched(self: Trainer, orders: list[np.ndarray[Any, Any]], number: int) -> Any:
        asked.append(orders[0][: len(orders[0]) * self.steps // self._of_all])
        return step(self, orders, number)

    monkeypatch.setattr(Trainer, "_step", watched)
    config = override(small_config, LIMIT | {"training.epochs": 2})
    run = create_run(small_graph, config, tmp_path / "run")
    Trainer(run, run.config(), small_graph, Callback()).fit()
    first, second = set(asked[0].tolist()), set(asked[-1].tolist())
    assert len(first & second) < len(first) / 2


def test_an_interrupted_training_resumes_within_its_limit(
    small_graph: Graph, small_config: Config, tmp_path: Path
) -> None:
    check_resumes(small_graph, override(small_config, LIMIT), tmp_path)
