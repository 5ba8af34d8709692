"""Short trainings on the real benchmarks: the whole way from files to figures."""

from pathlib import Path

import numpy as np
import pytest

from foretime.config import Config, override
from foretime.data.facts import UNKNOWN
from foretime.data.graph import read_graph
from foretime.evaluation import AnswerIndex, evaluate, model_scorer
from foretime.inference.predictor import Predictor
from foretime.runs.life import train

pytestmark = pytest.mark.real


def test_wikidata12k_trains_and_is_ranked_under_the_three_filters(real_data: Path, tmp_path: Path):
    settings = {
        "model.name": "lcge",
        "model.rank": 16,
        "training.epochs": 4,
        "training.valid_every": 4,
        "training.valid_limit": 500,
        "penalties.event_n3": 0.01,
        "penalties.event_smoothness": 0.01,
        "penalties.event_rules": 0.0,
        "penalties.commonsense_n3": 0.1,
    }
    graph = read_graph(real_data / "wikidata12k")
    run = train(graph, override(Config(), settings), tmp_path / "run")
    predictor = Predictor.open(run)
    reports = {
        name: evaluate(model_scorer(predictor.model), graph, "test", name) for name in ("exact", "valid-at", "points")
    }
    chance = np.mean(1 / np.arange(1, len(graph.entities) + 1))
    assert all(report.all.mrr > 20 * chance for report in reports.values())
    assert reports["exact"].all.questions == reports["valid-at"].all.questions == 2 * len(graph.test)
    first = np.where(graph.test.start == UNKNOWN, graph.test.end, graph.test.start)
    last = np.where(graph.test.end == UNKNOWN, graph.test.start, graph.test.end)
    assert reports["points"].all.questions == 2 * int((np.abs(last - first) + 1).sum())
    # a filter that takes out more competitors can only help
    assert reports["valid-at"].all.mrr >= reports["exact"].all.mrr
    assert run.report()["test"]["all"]["mrr"] == pytest.approx(reports["exact"].all.mrr)


def test_the_exact_filter_of_wikidata12k_is_not_empty(real_data: Path):
    """The released code compares years with entity ids, so that its filter never finds anything."""
    graph = read_graph(real_data / "wikidata12k")
    questions = graph.test.with_inverses(len(graph.predicates))
    counts = {name: len(AnswerIndex.of(graph, name).filtered(questions).answer) for name in ("exact", "valid-at")}
    assert 0 < counts["exact"] < counts["valid-at"]


def test_icews14_learns_more_than_static_chance_in_two_short_epochs(real_data: Path, tmp_path: Path):
    settings = {
        "model.name": "tntcomplex",
        "model.rank": 20,
        "training.epochs": 2,
        "training.valid_every": 2,
        "training.valid_limit": 1000,
    }
    graph = read_graph(real_data / "icews14")
    report = train(graph, override(Config(), settings), tmp_path / "run").report()
    assert report["test"]["all"]["questions"] == 17_926
    assert report["test"]["unseen"]["questions"] == 2 * 146
    assert report["test"]["all"]["mrr"] > 0.3
    answers = Predictor.open(tmp_path / "run").complete(
        subject="China", predicate="Make a visit", time="2014-11-16", top=7128
    )
    assert len(answers) == 7128
