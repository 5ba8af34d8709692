"""The second stage in training: what it is fitted on, what the report says, and going on after an interruption."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from staged_runs import FITS, Staged, rows_of, train_watched

from foretime.config import Config, override
from foretime.data.facts import empty_facts
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError, Interrupted
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume
from foretime.runs.reranking import facts_of_base_model, parts_of
from interruptions import StopAfter


def test_the_parts_of_train_are_equally_large_and_drawn_by_the_seed(small_graph: Graph, staged_config: Config):
    part = parts_of(small_graph, staged_config)
    sizes = np.bincount(part)
    assert (len(sizes), sizes.sum()) == (3, len(small_graph.train))
    assert sizes.max() - sizes.min() <= 1
    assert np.array_equal(part, parts_of(small_graph, staged_config))
    assert not np.array_equal(part, parts_of(small_graph, override(staged_config, {"training.seed": 9})))


@pytest.mark.parametrize("fit", FITS)
def test_no_first_stage_has_trained_on_what_the_reranker_is_fitted_on(
    staged: dict[str, Staged], small_graph: Graph, staged_config: Config, fit: str
):
    found = staged[fit]
    rows, part = np.array(rows_of(small_graph.train)), parts_of(small_graph, staged_config)
    parts = [set(map(tuple, rows[part == number].tolist())) for number in range(3)]
    everything = set(rows_of(small_graph.train))
    without = [everything - one for one in parts]
    valid = set(rows_of(small_graph.valid))
    wanted = {
        "fold": ([without[0]], [(parts[0], without[0])]),
        "refit": ([everything, without[0]], [(parts[0], without[0])]),
        "out-of-fold": ([everything, *without], list(zip(parts, without, strict=True))),
        "valid": ([everything], [(valid, everything)]),
    }
    assert (found.trained, found.asked) == wanted[fit]
    assert all(asked and not asked & seen for asked, seen in found.asked)
    config = override(staged_config, {"reranker.fit": fit})
    assert set(rows_of(facts_of_base_model(small_graph, config))) == found.trained[0]
    unused = override(config, {"reranker.use": False})
    assert set(rows_of(facts_of_base_model(small_graph, unused))) == everything


@pytest.mark.parametrize("fit", FITS)
def test_every_way_of_fitting_ends_with_a_report_of_both_stages(staged: dict[str, Staged], fit: str):
    report = staged[fit].run.report()
    assert report["reranker"] == ("out-of-fold of 3 of 3 parts" if fit == "out-of-fold" else fit)
    for split in ("valid", "test"):
        assert 0 < report[split]["all"]["mrr"] <= 1
        assert 0 < report[split]["base_model"]["all"]["mrr"] <= 1
        assert report[split]["base_model"]["all"]["questions"] == report[split]["all"]["questions"]
    assert ("the reranker was fitted on valid" in report["choice"]) == (fit == "valid")


def test_the_report_of_the_first_stage_is_not_that_of_both(staged: dict[str, Staged]):
    """On a graph this small the second stage may leave the order as it is, but not whatever it is fitted on."""
    splits = [found.run.report()[split] for found in staged.values() for split in ("valid", "test")]
    assert any(report["all"]["mrr"] != report["base_model"]["all"]["mrr"] for report in splits)


def test_some_parts_and_valid_may_be_fitted_on_together(small_graph: Graph, staged_config: Config, tmp_path: Path):
    changes = {"reranker.fit": "out-of-fold", "reranker.parts": 2, "reranker.with_valid": True}
    found = train_watched(small_graph, override(staged_config, changes), tmp_path)
    rows, part = np.array(rows_of(small_graph.train)), parts_of(small_graph, staged_config)
    everything, valid = set(rows_of(small_graph.train)), set(rows_of(small_graph.valid))
    left_out = [set(map(tuple, rows[part == number].tolist())) for number in range(2)]
    assert found.trained == [everything, *(everything - one for one in left_out)]
    assert found.asked == [
        *((one, everything - one) for one in left_out),
        (valid, everything),
    ]
    report = found.run.report()
    assert report["reranker"] == "out-of-fold of 2 of 3 parts and valid"
    assert "the reranker was fitted on valid" in report["choice"]


@pytest.mark.parametrize("fit", ["fold", "out-of-fold"])
def test_a_reranker_that_is_missing_is_fitted_again_the_same(staged: dict[str, Staged], tmp_path: Path, fit: str):
    run = RunFolder(shutil.copytree(staged[fit].run.path, tmp_path / "run"))
    before, report = run.reranker_file.read_bytes(), run.report()
    run.reranker_file.unlink()
    resume(run.path)
    assert run.reranker_file.read_bytes() == before
    assert [run.report()[split] for split in ("valid", "test")] == [report[split] for split in ("valid", "test")]


def test_an_interruption_in_any_first_stage_changes_nothing(
    staged: dict[str, Staged], small_graph: Graph, staged_config: Config, tmp_path: Path
):
    broken, stops = create_run(small_graph, override(staged_config, {"reranker.fit": "refit"}), tmp_path / "run"), 0
    while not broken.report_file.exists():
        try:
            resume(broken.path, StopAfter(4))
        except Interrupted as stop:
            stops += 1
            said = str(stop)
    assert said == f"stopped; go on with foretime train --resume {broken.path}"
    assert stops >= 3
    assert broken.reranker_file.read_bytes() == staged["refit"].run.reranker_file.read_bytes()


def test_more_parts_than_facts_are_refused_before_anything_is_trained(
    small_graph: Graph, staged_config: Config, tmp_path: Path
):
    few = replace(small_graph, train=small_graph.train.take(slice(20)))
    with pytest.raises(DataError, match=r"train has 20 facts and cannot be cut into 21 parts; lower reranker\.folds"):
        create_run(few, override(staged_config, {"reranker.folds": 21}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_fitting_on_valid_needs_valid_facts(small_graph: Graph, staged_config: Config, tmp_path: Path):
    none = replace(small_graph, valid=empty_facts())
    with pytest.raises(ConfigError, match="there are no valid facts"):
        create_run(none, override(staged_config, {"reranker.fit": "valid"}), tmp_path / "run")
    with pytest.raises(ConfigError, match="there are no valid facts"):
        create_run(none, override(staged_config, {"reranker.with_valid": True}), tmp_path / "run")
