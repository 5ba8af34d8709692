"""The re-ranker in training: what it is fitted on, what the report says, and resuming after an interruption."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reranked_runs import FITS, Reranked, rows_of, train_watched

from foretime.config import Config, override
from foretime.data.facts import empty_facts
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError, Interrupted
from foretime.reranker.folds import facts_of_base_model, folds_of
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume
from interruptions import StopAfter


def test_the_folds_of_train_are_equally_large_and_drawn_by_the_seed(small_graph: Graph, reranked_config: Config):
    fold = folds_of(small_graph, reranked_config)
    sizes = np.bincount(fold)
    assert (len(sizes), sizes.sum()) == (3, len(small_graph.train))
    assert sizes.max() - sizes.min() <= 1
    assert np.array_equal(fold, folds_of(small_graph, reranked_config))
    assert not np.array_equal(fold, folds_of(small_graph, override(reranked_config, {"training.seed": 9})))


def test_folds_by_time_are_equally_large_and_the_newest_facts_come_first(small_graph: Graph, reranked_config: Config):
    config = override(reranked_config, {"reranker.cut": "time", "reranker.folds": 4})
    folds, time = folds_of(small_graph, config), small_graph.train.known_ends()[0]
    assert np.ptp(np.bincount(folds, minlength=4)) <= 1
    for newer in range(3):
        assert time[folds == newer].min() >= time[folds == newer + 1].max()
    assert np.array_equal(folds, folds_of(small_graph, override(config, {"training.seed": 99})))


@pytest.mark.parametrize("fit", FITS)
def test_no_base_model_has_trained_on_what_the_reranker_is_fitted_on(
    reranked: dict[str, Reranked], small_graph: Graph, reranked_config: Config, fit: str
):
    found = reranked[fit]
    rows, fold = np.array(rows_of(small_graph.train)), folds_of(small_graph, reranked_config)
    folds = [set(map(tuple, rows[fold == number].tolist())) for number in range(3)]
    everything = set(rows_of(small_graph.train))
    without = [everything - one for one in folds]
    valid = set(rows_of(small_graph.valid))
    wanted = {
        "fold": ([without[0]], [(folds[0], without[0])]),
        "refit": ([everything, without[0]], [(folds[0], without[0])]),
        "out-of-fold": ([everything, *without], list(zip(folds, without, strict=True))),
        "valid": ([everything], [(valid, everything)]),
    }
    assert (found.trained, found.asked) == wanted[fit]
    assert all(asked and not asked & seen for asked, seen in found.asked)
    config = override(reranked_config, {"reranker.fit": fit})
    assert set(rows_of(facts_of_base_model(small_graph, config))) == found.trained[0]
    unused = override(config, {"reranker.use": False})
    assert set(rows_of(facts_of_base_model(small_graph, unused))) == everything


@pytest.mark.parametrize("fit", FITS)
def test_every_way_of_fitting_ends_with_a_report_of_both_scores(reranked: dict[str, Reranked], fit: str):
    report = reranked[fit].run.report()
    assert report["reranker"] == ("out-of-fold of 3 of 3 folds" if fit == "out-of-fold" else fit)
    for split in ("valid", "test"):
        assert 0 < report[split]["all"]["mrr"] <= 1
        assert 0 < report[split]["base_model"]["all"]["mrr"] <= 1
        assert report[split]["base_model"]["all"]["questions"] == report[split]["all"]["questions"]
    assert ("the re-ranker was fitted on valid" in report["choice"]) == (fit == "valid")


def test_the_report_of_the_base_model_is_not_that_of_the_re_ranked(reranked: dict[str, Reranked]):
    """On a graph this small the re-ranker may leave the order as it is, but not whatever it is fitted on."""
    splits = [found.run.report()[split] for found in reranked.values() for split in ("valid", "test")]
    assert any(report["all"]["mrr"] != report["base_model"]["all"]["mrr"] for report in splits)


def test_some_folds_and_valid_may_be_fitted_on_together(small_graph: Graph, reranked_config: Config, tmp_path: Path):
    changes = {"reranker.fit": "out-of-fold", "reranker.fitted_folds": 2, "reranker.with_valid": True}
    found = train_watched(small_graph, override(reranked_config, changes), tmp_path)
    rows, fold = np.array(rows_of(small_graph.train)), folds_of(small_graph, reranked_config)
    everything, valid = set(rows_of(small_graph.train)), set(rows_of(small_graph.valid))
    left_out = [set(map(tuple, rows[fold == number].tolist())) for number in range(2)]
    assert found.trained == [everything, *(everything - one for one in left_out)]
    assert found.asked == [
        *((one, everything - one) for one in left_out),
        (valid, everything),
    ]
    report = found.run.report()
    assert report["reranker"] == "out-of-fold of 2 of 3 folds and valid"
    assert "the re-ranker was fitted on valid" in report["choice"]


@pytest.mark.parametrize("fit", ["fold", "out-of-fold"])
def test_a_reranker_that_is_missing_is_fitted_again_the_same(reranked: dict[str, Reranked], tmp_path: Path, fit: str):
    run = RunFolder(shutil.copytree(reranked[fit].run.path, tmp_path / "run"))
    before, report = run.reranker_file.read_bytes(), run.report()
    run.reranker_file.unlink()
    resume(run.path)
    assert run.reranker_file.read_bytes() == before
    assert [run.report()[split] for split in ("valid", "test")] == [report[split] for split in ("valid", "test")]


def test_an_interruption_in_any_base_model_changes_nothing(
    reranked: dict[str, Reranked], small_graph: Graph, reranked_config: Config, tmp_path: Path
):
    broken, stops = create_run(small_graph, override(reranked_config, {"reranker.fit": "refit"}), tmp_path / "run"), 0
    while not broken.report_file.exists():
        try:
            resume(broken.path, StopAfter(4))
        except Interrupted as stop:
            stops += 1
            said = str(stop)
    assert said == f"stopped; resume with foretime train --resume {broken.path}"
    assert stops >= 3
    assert broken.reranker_file.read_bytes() == reranked["refit"].run.reranker_file.read_bytes()


def test_more_folds_than_facts_are_refused_before_anything_is_trained(
    small_graph: Graph, reranked_config: Config, tmp_path: Path
):
    few = replace(small_graph, train=small_graph.train.take(slice(20)))
    with pytest.raises(DataError, match=r"train has 20 facts and cannot be cut into 21 folds; lower reranker\.folds"):
        create_run(few, override(reranked_config, {"reranker.folds": 21}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_fitting_on_valid_needs_valid_facts(small_graph: Graph, reranked_config: Config, tmp_path: Path):
    none = replace(small_graph, valid=empty_facts())
    with pytest.raises(ConfigError, match="there are no valid facts"):
        create_run(none, override(reranked_config, {"reranker.fit": "valid"}), tmp_path / "run")
    with pytest.raises(ConfigError, match="there are no valid facts"):
        create_run(none, override(reranked_config, {"reranker.with_valid": True}), tmp_path / "run")
