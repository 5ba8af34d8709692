"""The re-ranker in training: what it is fitted on, what the report says, and resuming after an interruption."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reranked_runs import FITS, Reranked, rows_of, train_watched

from foretime.config import Config, RerankerConfig, override
from foretime.data.facts import empty_facts
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError, Interrupted
from foretime.reranker.folds import facts_of_base_model, folds_of, halves_of_valid, valid_to_fit_on
from foretime.runs.evaluation import calibrate
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume
from foretime.runs.loading import load_model, scorer_of
from foretime.runs.protocols import ask
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
    first_half = set(rows_of(halves_of_valid(small_graph, override(reranked_config, changes))[0]))
    assert found.asked == [
        *((one, everything - one) for one in left_out),
        (first_half, everything),
        (valid, everything),
    ]
    report = found.run.report()
    assert report["reranker"] == "out-of-fold of 2 of 3 folds and valid"
    assert "the re-ranker that answers was fitted on all of valid" in report["choice"]


def test_valid_is_judged_by_a_re_ranker_that_has_not_seen_it(
    reranked: dict[str, Reranked], small_graph: Graph, reranked_config: Config, tmp_path: Path
):
    changes = {"reranker.fit": "refit", "reranker.with_valid": True}
    found = train_watched(small_graph, override(reranked_config, changes), tmp_path).run
    without = reranked["refit"].run
    assert found.reranker_without_valid.read_bytes() == without.reranker_file.read_bytes()
    assert found.reranker_file.read_bytes() != without.reranker_file.read_bytes()
    assert found.report()["valid"] == without.report()["valid"]
    assert found.report()["test"] != without.report()["test"]


def test_probabilities_are_calibrated_on_the_half_of_valid_that_their_re_ranker_has_not_seen(
    small_graph: Graph, reranked_config: Config, tmp_path: Path
):
    config = override(reranked_config, {"reranker.fit": "refit", "reranker.with_valid": True})
    run = train_watched(small_graph, config, tmp_path).run
    fitted = {run.reranker_file, run.reranker_without_valid, run.reranker_to_calibrate}
    assert len({file.read_bytes() for file in fitted}) == 3
    scorer = scorer_of(run, config, small_graph, load_model(run, config, small_graph), run.reranker_to_calibrate)
    asked = ask(scorer, small_graph, config.evidence, "valid")
    expected = calibrate(asked, small_graph, halves_of_valid(small_graph, config)[1])
    assert run.report()["calibration"]["object"] == expected["object"].to_dict()


@pytest.mark.parametrize("cut", ["random", "time"])
def test_the_halves_of_valid_are_all_of_it_and_by_time_the_second_is_the_newer(small_graph: Graph, cut: str):
    config = Config.model_validate(
        {"reranker": {"use": True, "fit": "refit", "cut": cut, "with_valid": True, "folds": 2}}
    )
    first, second = (rows_of(half) for half in halves_of_valid(small_graph, config))
    assert sorted(first + second) == sorted(rows_of(small_graph.valid))
    assert len(first) == len(small_graph.valid) // 2
    assert (max(row[3] for row in first) <= min(row[3] for row in second)) == (cut == "time")


def test_no_more_of_valid_is_fitted_on_than_a_fold_has_and_the_newest_of_it(small_graph: Graph):
    by_time = RerankerConfig(use=True, fit="refit", cut="time", with_valid=True, folds=100)
    chosen, most = valid_to_fit_on(small_graph, by_time), len(small_graph.train) // 100
    left = set(rows_of(small_graph.valid)) - set(rows_of(chosen))
    assert len(chosen) == most < len(small_graph.valid)
    assert min(row[3] for row in rows_of(chosen)) >= max(row[3] for row in left)
    everything = valid_to_fit_on(small_graph, RerankerConfig(use=True, cut="time", with_valid=True, folds=2))
    assert len(everything) == len(small_graph.valid)


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
