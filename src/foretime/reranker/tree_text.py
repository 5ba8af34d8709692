"""The text that LightGBM writes of fitted trees, read strictly: what is not as expected is an error.

It is read where trees have just been fitted, and where a run of an earlier version is upgraded, which kept that text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.tree_arrays import TreeArrays, arrays_of, counts_of

_FIXED = {"version": "v4", "num_class": "1", "num_tree_per_iteration": "1", "label_index": "0"}
_HEAD = {*_FIXED, "max_feature_idx", "objective", "feature_names", "feature_infos", "tree_sizes"}
_OBJECTIVES = {None, "lambdarank"}
"""Those whose score is the sum of the leaves, with nothing done to it; none is a gradient of our own."""
_PLAIN = {"num_cat": "0", "is_linear": "0"}
"""Trees that ask whether a value is above a threshold, and whose leaves are numbers."""
_OF_NODES = ("split_feature", "threshold", "decision_type", "left_child", "right_child", "internal_count")
_OF_LEAVES = ("leaf_value", "leaf_count")
_UNUSED = {"split_gain", "leaf_weight", "internal_value", "internal_weight", "shrinkage"}
_TREE = {"Tree", "num_leaves", *_PLAIN, *_OF_NODES, *_OF_LEAVES, *_UNUSED}
_FLOATS = {"threshold", "leaf_value"}
_END = "\nend of trees\n"
_CATEGORICAL, _DEFAULT_LEFT, _MISSING = 1, 2, 4
"""The bits of a decision; what is missing stands from the third on."""


def read_tree_text(text: str) -> BoostedTrees:
    """Return the trees in a text; raise `ValueError`, saying what is wrong, if they are none of ours."""
    body, end, _ = text.partition(_END)
    if not end:
        raise ValueError("its end is missing")
    head, *blocks = re.split("\n\n+", body.rstrip("\n"))
    names, trees = _read_head(head), [_read_tree(block, number) for number, block in enumerate(blocks)]
    if not trees:
        raise ValueError("it has no trees")
    return BoostedTrees(names, _joined(trees, len(names)))


def _read_head(text: str) -> tuple[str, ...]:
    """Return the names of the features."""
    first, _, rest = text.partition("\n")
    found = dict(_pairs(rest))
    fixed = {key: found.get(key) for key in _FIXED}
    if first != "tree" or fixed != _FIXED or not found.keys() <= _HEAD or found.get("objective") not in _OBJECTIVES:
        raise ValueError("it begins otherwise than trees of ours do")
    names = tuple(found.get("feature_names", "").split())
    if found.get("max_feature_idx") != str(len(names) - 1):
        raise ValueError(f"it has {len(names)} names of features, and as the last of them {found['max_feature_idx']}")
    return names


def _read_tree(text: str, number: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of one tree."""
    found = dict(_pairs(text))
    plain = {key: found.get(key) for key in _PLAIN}
    if found.keys() != _TREE or found["Tree"] != str(number):
        raise ValueError(f"tree {number} does not have what a tree of ours has")
    if plain != _PLAIN:
        raise ValueError(f"tree {number} has categories or linear leaves")
    arrays = {key: _numbers(found, key) for key in (*_OF_NODES, *_OF_LEAVES)}
    leaves = len(arrays["leaf_value"])
    if found["num_leaves"] != str(leaves):
        raise ValueError(f"tree {number} has {leaves} leaves and not {found['num_leaves'][:40]}")
    for key, array in arrays.items():
        if len(array) != leaves - (key in _OF_NODES):
            raise ValueError(f"tree {number} has {len(array)} values of {key} and {leaves} leaves")
    return arrays


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"a line {line[:40]!r}")
        yield key, value


def _numbers(found: dict[str, str], key: str) -> NDArray[Any]:
    try:
        return np.array(found[key].split(), dtype=np.float64 if key in _FLOATS else np.int32)
    except (ValueError, OverflowError):
        raise ValueError(f"{key} has a value that is no number, or too large") from None


def _joined(trees: list[dict[str, NDArray[Any]]], features: int) -> TreeArrays:
    """Return the arrays of all trees; raise `ValueError` if they are wrong."""
    joined = {key: np.concatenate([tree[key] for tree in trees]) for key in (*_OF_NODES, *_OF_LEAVES)}
    decision = joined["decision_type"]
    if np.any(decision & _CATEGORICAL):
        raise ValueError("a node asks about categories")
    leaves = np.array([len(tree["leaf_value"]) for tree in trees], dtype=np.int32)
    # a tree of one leaf says nothing by its count, which some versions write as 0
    examples = np.where(np.repeat(leaves, leaves) == 1, 1, joined["leaf_count"]).astype(np.int32)
    found = {
        "leaves": leaves,
        "feature": joined["split_feature"],
        "threshold": joined["threshold"],
        "missing_right": (decision & _DEFAULT_LEFT == 0).astype(np.uint8),
        "child": np.stack([joined["left_child"], joined["right_child"]], axis=1),
        "value": joined["leaf_value"],
        "examples": examples,
        "missing": _missing(joined["split_feature"], decision // _MISSING, features),
    }
    arrays = arrays_of(found, features)
    if not np.array_equal(counts_of(arrays)[: len(decision)], joined["internal_count"]):
        raise ValueError("the counts of its nodes are not those of their leaves")
    return arrays


def _missing(feature: NDArray[np.int32], missing: NDArray[np.int32], features: int) -> NDArray[np.uint8]:
    """Return what is missing in each feature, which all nodes must agree on; nothing in one that none asks about."""
    found = np.zeros(features, dtype=np.uint8)
    inside = (feature >= 0) & (feature < features) & (missing >= 0) & (missing <= 2)
    found[feature[inside]] = missing[inside]
    if not inside.all() or np.any(found[feature] != missing):
        raise ValueError("nodes do not agree on what is missing in a feature")
    return found
