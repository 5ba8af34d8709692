"""The comparison of our trees with LightGBM's: the same numbers, and times of both, on a few made-up candidates."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import tree_kernel
from foretime.config import RerankerConfig
from foretime.reranker.trees import Examples

QUESTIONS, CANDIDATES, FEATURES = 40, 10, 5


def test_both_give_the_same_numbers_and_take_some_time(monkeypatch: pytest.MonkeyPatch):
    draw = np.random.default_rng(0)
    features = draw.normal(size=(QUESTIONS * CANDIDATES, FEATURES)).astype(np.float32)
    right = (features[:, 0] + draw.normal(size=len(features)) > 1).astype(np.int8)
    names = [f"feature {number}" for number in range(FEATURES)]
    examples = Examples(names, features, right, np.full(QUESTIONS, CANDIDATES))
    monkeypatch.setattr(tree_kernel, "FILE", 500)
    monkeypatch.setattr(tree_kernel, "EXPLAINED", 5)
    config = RerankerConfig(trees=6, leaves=5, leaf_candidates=4, top=CANDIDATES)
    found = tree_kernel.compared(examples, config, threads=1, repeat=2)
    assert (found["trees"], found["features"]) == (6, FEATURES)
    assert found["scores_apart"] == 0
    assert found["contributions_apart"] < 1e-12
    assert found["candidates"] == {"question": CANDIDATES, "file": 500, "explanations": 5}
    for figures in ("lightgbm_takes_times", "milliseconds"):
        assert found[figures].keys() == {"question", "file", "explanations"}
    assert all(times > 0 for times in found["lightgbm_takes_times"].values())


def test_a_run_gives_the_examples_that_its_re_ranker_is_fitted_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from foretime.data.synthetic import generate_world
    from foretime.runs.folder import RunFolder

    monkeypatch.setattr(tree_kernel, "generate_world", lambda: generate_world(1000))
    small = {"training.epochs": 1, "reranker.trees": 4, "reranker.folds": 3}
    monkeypatch.setattr(tree_kernel, "WORLD", tree_kernel.WORLD | small)
    path = tree_kernel.trained_world(tmp_path)
    examples, config = tree_kernel.examples_in(path)
    assert config == RunFolder.open(path).config().reranker
    assert len(examples.features) == examples.sizes.sum() == len(examples.right) > 0
    assert 0 < examples.right.sum() <= len(examples.sizes) * config.top
