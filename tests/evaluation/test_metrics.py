"""The table of metrics: its values by hand, and that everything which shows metrics shows what is in it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from foretime.evaluation import METRICS, Evaluation, Metric, Metrics, evaluations_in, metrics_table
from foretime.evaluation.comparison import compare_ranks
from foretime.inference.ranked_runs import rank_run
from foretime.inference.run import Run
from foretime.runs.folder import RunFolder

BY_HAND = {"mrr": (1 + 1 / 2 + 1 / 4 + 1 / 20) / 4, "hits@1": 0.25, "hits@3": 0.5, "hits@10": 0.75}


def test_metrics_are_means_over_questions():
    metrics = Metrics.of(np.array([1.0, 2.0, 4.0, 20.0]))
    assert metrics.to_dict() == {"questions": 4, **{name: pytest.approx(value) for name, value in BY_HAND.items()}}
    assert BY_HAND.keys() == METRICS.keys()
    assert (metrics.mrr, metrics["mrr"]) == (metrics.means["mrr"],) * 2
    assert Metrics.from_dict(json.loads(json.dumps(metrics.to_dict())) | {"mrr_interval": [0, 1]}) == metrics
    assert Metrics.of(np.empty(0)).to_dict() == {"questions": 0, **dict.fromkeys(METRICS, 0.0)}


def test_better_ranks_make_no_metric_worse():
    some = np.arange(1.0, 30.0)
    for metric in METRICS.values():
        change = metric.of(some) - metric.of(some + 1)
        assert (change >= 0).all() if metric.better == "higher" else (change <= 0).all()
        assert change.any()


def test_a_metric_that_is_added_to_the_table_is_shown_everywhere(small_run, monkeypatch):
    added = Metric("added", "ADD", lambda ranks: ranks, "the mean rank", "lower", digits=1)
    before = Metrics.of(np.array([2.0]))
    monkeypatch.setitem(METRICS, added.name, added)
    ranked = rank_run(Run(small_run), "test")
    result = compare_ranks(ranked, replace(ranked, ranks=ranked.ranks + 1), resamples=20, flips=10)
    assert result.metrics["added"].difference == pytest.approx(1.0)
    assert "ADD " in str(result)
    report = evaluations_in(RunFolder(small_run).report())
    assert before.to_dict().keys() == report["test"].all.to_dict().keys()  # written before there was this metric
    found = replace(report["test"], all=Metrics.of(ranked.ranks))
    assert "ADD" in metrics_table({"test": found}).filled().heads()
    assert f"{ranked.ranks.mean():.1f}" in str(found)


def test_an_evaluation_is_what_its_report_says(small_run):
    report = RunFolder(small_run).report()
    found = evaluations_in(report)
    assert list(found) == ["valid", "test"]
    test = found["test"]
    assert json.loads(json.dumps(test.to_dict())) == report["test"]
    assert test.objects.questions + test.subjects.questions == test.seen.questions + test.unseen.questions
    assert test.to_frame()["questions"].iloc[0] == test.by_predicate.to_frame()["questions"].sum() == test.all.questions
    assert test.by_predicate.column("mrr") == [metrics.mrr for metrics in test.predicates.values()]
    assert sum(test.by_distance.column("questions")) == test.all.questions
    assert test._repr_html_().count("<tr>") == 1 + len(test.table()) == 1 + 4  # nobody asked about unseen entities
    assert repr(test) == str(test) == str(test.table())


def test_the_table_of_metrics_has_a_row_for_each_split_and_base_model(small_run):
    found = evaluations_in(RunFolder(small_run).report())
    assert metrics_table(found).column("split") == ["valid", "test"]
    assert "model" not in str(metrics_table(found))
    base = {"all": found["test"].all.to_dict(), "mrr_interval": [0.1, 0.2]}  # what earlier reports have kept of it
    both = Evaluation.from_dict(found["test"].to_dict() | {"base_model": base})
    assert Evaluation.from_dict(both.to_dict()) == both
    assert (both.base_model.filter, both.base_model.objects.questions) == ("exact", 0)
    frame = metrics_table({"test": both}).to_frame()
    assert frame["model"].tolist() == ["re-ranked", "base model"]
    assert frame["mrr_low"].tolist() == [both.mrr_interval[0], 0.1]
