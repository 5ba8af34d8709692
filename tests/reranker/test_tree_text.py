"""The text of fitted trees: what differs from what our fits write is an error that says so."""

import lightgbm
import numpy as np
import pytest

from foretime.reranker.tree_text import read_tree_text


@pytest.fixture(scope="module")
def text() -> str:
    draw = np.random.default_rng(0)
    features = draw.normal(size=(120, 3))
    features[draw.random(features.shape) < 0.2] = np.nan
    data = lightgbm.Dataset(features, features[:, 0] > 1, group=[10] * 12, feature_name=["a", "b_now", "c"])
    settings = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1, "num_leaves": 4, "min_data_in_leaf": 3}
    return str(lightgbm.train(settings, data, 2).model_to_string())


def test_a_text_gives_the_names_and_the_trees(text: str):
    found = read_tree_text(text)
    assert found.names == ("a", "b_now", "c")
    assert found.arrays.leaves.tolist() == [4, 4]
    lines = [line.split("=")[1].split() for line in text.splitlines() if line.startswith("leaf_value=")]
    assert found.arrays.value.tolist() == [float(value) for line in lines for value in line]


CHANGES = {
    "an objective that bends scores": ("objective=lambdarank", "objective=binary sigmoid:1", "begins otherwise"),
    "several classes": ("num_class=1", "num_class=2", "begins otherwise"),
    "a mean of trees": ("label_index=0", "label_index=0\naverage_output=1", "begins otherwise"),
    "another version": ("version=v4", "version=v5", "begins otherwise"),
    "categories": ("num_cat=0", "num_cat=1", "tree 0 has categories"),
    "linear leaves": ("is_linear=0", "is_linear=1", "or linear leaves"),
    "a tree that is left out": ("Tree=0", "Tree=1", "tree 0 does not have"),
    "a line that is left out": ("num_cat=0\n", "", "tree 0 does not have what"),
    "a line too many": ("num_cat=0\n", "num_cat=0\ncat_threshold=1\n", "tree 0 does not have what"),
    "a line without a key": ("num_cat=0\n", "num_cat=0\nonce upon a time\n", "a line 'once upon a time'"),
    "a leaf too few": ("num_leaves=4", "num_leaves=3", "tree 0 has 4 leaves and not 3"),
    "more leaves than numbers": ("num_leaves=4", f"num_leaves={10**30}", "tree 0 has 4 leaves and not 1000"),
    "no leaves": ("num_leaves=4", "num_leaves=", "tree 0 has 4 leaves and not "),
    "a child too many": ("left_child=", "left_child=1 ", "tree 0 has 4 values of left_child and 4 leaves"),
    "a child far away": ("left_child=", f"left_child={10**30} ", "left_child has a value that is no number, or too"),
    "a threshold in words": ("threshold=", "threshold=x", "threshold has a value that is no number"),
    "a feature too few": ("feature_names=a ", "feature_names=", "2 names of features"),
    "without an end": ("end of trees", "and so on", "its end is missing"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_text_that_is_otherwise_is_refused(text: str, case: str):
    old, new, fault = CHANGES[case]
    assert old in text
    with pytest.raises(ValueError, match=fault):
        read_tree_text(text.replace(old, new, 1))


def test_counts_that_do_not_add_up_and_features_that_are_missing_in_two_ways_are_refused(text: str):
    with pytest.raises(ValueError, match="the counts of its nodes are not those of their leaves"):
        read_tree_text(text.replace("internal_count=120", "internal_count=121", 1))
    line = next(line for line in text.splitlines() if line.startswith("decision_type="))
    for other, fault in (("1", "asks about categories"), ("14", "do not agree"), ("-2", "do not agree")):
        with pytest.raises(ValueError, match=fault):
            read_tree_text(text.replace(line, f"decision_type={' '.join([other] * 3)}", 1))


def test_a_text_that_is_cut_off_anywhere_is_refused(text: str):
    for end in range(0, text.index("end of trees"), 7):
        with pytest.raises(ValueError, match="its end is missing"):
            read_tree_text(text[:end])


def test_no_change_of_a_text_ends_in_anything_but_an_error_or_trees(text: str):
    lines = text[: text.index("feature_importances")].splitlines(keepends=True)
    for seed in range(300):
        draw, changed = np.random.default_rng(seed), list(lines)
        row = int(draw.integers(len(lines)))
        at, letter = int(draw.integers(len(lines[row]))), draw.choice(list("0123456789-.=e \nTna"))
        changed[row] = lines[row][:at] + letter + lines[row][at + draw.integers(2) :]
        try:
            trees = read_tree_text("".join(changed))
        except ValueError:
            continue
        assert len(trees.score(np.zeros((2, len(trees.names))))) == 2
