"""Boosted trees applied: LightGBM's own numbers, and Shapley values by their definition."""

import math
from itertools import combinations
from typing import Any

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from foretime.reranker.boosted_trees import FEW, BoostedTrees
from foretime.reranker.tree_arrays import counts_of
from foretime.reranker.tree_text import read_tree_text

ROWS, QUESTION = 120, 10
ODD = [np.nan, 0.0, -0.0, 1e-36, -1e-36, 1e-35, np.inf, -np.inf, 3.4e38]
SETTINGS = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}


def fitted(features: NDArray[Any], right: NDArray[Any], trees: int = 5, **options: Any) -> lightgbm.Booster:
    sizes = [QUESTION] * (len(right) // QUESTION)
    data = lightgbm.Dataset(features, right, group=sizes)
    return lightgbm.train(SETTINGS | {"min_data_in_leaf": 1} | options, data, trees)


def assert_same(booster: lightgbm.Booster, features: NDArray[Any]) -> None:
    trees = read_tree_text(booster.model_to_string())
    np.testing.assert_array_equal(trees.score(features), booster.predict(features, num_threads=1))
    wanted = booster.predict(features, pred_contrib=True, num_threads=1)
    np.testing.assert_allclose(trees.contributions(features), wanted, rtol=0.0, atol=1e-12)


@st.composite
def drawn(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    """Features with gaps and repeated, odd and constant values, answers, and options of the fit."""
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    width = draw(st.integers(1, 6))
    features = numbers.normal(size=(ROWS, width)).round(draw(st.sampled_from([0, 1, 6])))
    for value in draw(st.lists(st.sampled_from(ODD), max_size=4)):
        features[numbers.random(features.shape) < draw(st.sampled_from([0.02, 0.3]))] = value
    if draw(st.booleans()):
        features[:, 0] = 1.0
    right = (np.nan_to_num(features[:, -1]) + numbers.normal(size=ROWS) > 0.7).astype(np.int8)
    options = {
        "num_leaves": draw(st.integers(2, 25)),
        "zero_as_missing": draw(st.booleans()),
        "use_missing": draw(st.booleans()),
        "feature_fraction": draw(st.sampled_from([0.5, 1.0])),
    }
    return features.astype(draw(st.sampled_from([np.float32, np.float64]))), right, options


@settings(max_examples=60, deadline=None)
@given(drawn(), st.integers(0, 2**32))
def test_scores_are_those_of_lightgbm_to_the_last_bit_and_contributions_nearly(
    case: tuple[NDArray[Any], NDArray[Any], dict[str, Any]], seed: int
):
    features, right, options = case
    draw, others = np.random.default_rng(seed), features.copy()
    others[draw.random(others.shape) < 0.3] = draw.choice(ODD)
    booster = fitted(features, right, **options)
    assert_same(booster, np.concatenate([features, others]))


def test_a_tree_of_one_leaf_is_a_constant():
    features = np.random.default_rng(0).normal(size=(ROWS, 3)).astype(np.float32)
    booster = fitted(features, np.zeros(ROWS))
    assert read_tree_text(booster.model_to_string()).arrays.leaves.tolist() == [1]
    assert_same(booster, features)


def test_a_deep_tree_and_a_feature_that_is_asked_about_again_and_again():
    draw = np.random.default_rng(0)
    features = draw.normal(size=(ROWS, 2)).astype(np.float32)
    booster = fitted(features, draw.integers(0, 2, ROWS), num_leaves=60, min_sum_hessian_in_leaf=0.0)
    assert_same(booster, features)


@pytest.mark.parametrize("rows", [0, 1, FEW, FEW + 1, 1003])
def test_any_number_of_rows_is_scored_and_taken_apart(rows: int):
    draw = np.random.default_rng(0)
    examples = draw.normal(size=(ROWS, 3)).astype(np.float32)
    trees = read_tree_text(fitted(examples, examples[:, 0] > 1).model_to_string())
    features = draw.normal(size=(rows, 3)).astype(np.float32)
    scores, contributions = trees.score(features), trees.contributions(features)
    assert (scores.shape, contributions.shape) == ((rows,), (rows, 4))
    for row in range(0, rows, 97):
        assert trees.score(features[row : row + 1])[0] == scores[row]
        np.testing.assert_array_equal(trees.contributions(features[row : row + 1])[0], contributions[row])
    np.testing.assert_array_equal(trees.score(np.asfortranarray(features)), scores)


def expected(trees: BoostedTrees, row: NDArray[Any], known: set[int], node: int, counts: NDArray[Any]) -> float:
    """What a tree says if only some features are known: by the others a row goes both ways, by how many went there."""
    arrays, child = trees.arrays, trees.arrays.child_of_all
    if node < 0:
        return float(arrays.value[~node])
    feature = int(arrays.feature[node])
    if feature in known:
        side = int(row[feature] > arrays.threshold[node])
        return expected(trees, row, known, int(child[node, side]), counts)
    both = [expected(trees, row, known, int(child[node, side]), counts) * counts[child[node, side]] for side in (0, 1)]
    return float(sum(both) / counts[node])


def test_contributions_are_shapley_values_by_their_definition():
    draw = np.random.default_rng(3)
    features = draw.normal(size=(ROWS, 4)).astype(np.float32)
    trees = read_tree_text(fitted(features, draw.integers(0, 2, ROWS), trees=2, num_leaves=9).model_to_string())
    counts, roots = counts_of(trees.arrays), trees.arrays.root.tolist()
    for row, found in zip(features[:6], trees.contributions(features[:6]), strict=True):
        said = {
            known: sum(expected(trees, row, set(known), root, counts) for root in roots)
            for size in range(5)
            for known in combinations(range(4), size)
        }
        for feature in range(4):
            wanted = 0.0
            for known, without in said.items():
                if feature not in known:
                    weight = math.factorial(len(known)) * math.factorial(3 - len(known)) / math.factorial(4)
                    wanted += weight * (said[tuple(sorted((*known, feature)))] - without)
            assert found[feature] == pytest.approx(wanted, abs=1e-12)
        assert found[-1] == pytest.approx(said[()], abs=1e-12)
