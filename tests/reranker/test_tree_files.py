"""Files of trees: what is damaged or was crafted is refused before anything follows a child, and never crashes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from foretime.errors import RunError
from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.tree_arrays import DEEPEST, TreeArrays
from foretime.reranker.tree_files import read_trees, write_trees

WHAT = "trees of a test 1"
MUTATIONS = 400
ARRAYS = TreeArrays(
    leaves=np.array([3, 1, 2], np.int32),
    feature=np.array([1, 0, 1], np.int32),
    threshold=np.array([0.5, -1.0, np.inf]),
    missing_right=np.array([1, 0, 1], np.uint8),
    child=np.array([[1, -1], [-2, -3], [-1, -2]], np.int32),
    value=np.array([0.1, -0.2, 0.3, 0.05, -1.0, 2.0]),
    examples=np.array([5, 4, 3, 12, 6, 6], np.int32),
    missing=np.array([0, 2], np.uint8),
)
"""A tree of three leaves, one of a single leaf, and one of two that asks whether a value is missing."""
TREES = BoostedTrees(("score", "pair_now"), ARRAYS)
FEATURES = np.array([[-2, 0], [0, 0], [0, 1], [np.nan, np.nan], [5, 7]], np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_trees(tmp_path / "reranker.safetensors", WHAT, TREES, top=7)
    return tmp_path / "reranker.safetensors"


def scores_in(path: Path) -> list[list[float]]:
    trees, _ = read_trees(path, WHAT)
    return [trees.score(FEATURES).tolist(), *trees.contributions(FEATURES).tolist()]


def test_trees_are_read_as_they_were_written(path: Path):
    trees, said = read_trees(path, WHAT)
    assert (trees.names, said["top"]) == (TREES.names, 7)
    for name, array in ARRAYS._asdict().items():
        np.testing.assert_array_equal(getattr(trees.arrays, name), array)
    np.testing.assert_allclose(trees.score(FEATURES), [-1.15, -0.65, -0.85, 2.15, -0.85])
    np.testing.assert_allclose(trees.contributions(FEATURES).sum(1), trees.score(FEATURES))


def mutated(content: bytes, draw: np.random.Generator) -> bytes:
    """The bytes with one piece of them changed, left out, put in or cut off."""
    at, length = int(draw.integers(len(content))), int(draw.integers(1, 9))
    junk = draw.integers(0, 256, length, dtype=np.uint8).tobytes()
    flipped = bytes([content[at] ^ (1 << int(draw.integers(8)))])
    return (
        content[:at] + flipped + content[at + 1 :],
        content[:at] + junk + content[at + length :],
        content[:at] + content[at + length :],
        content[:at] + junk + content[at:],
        content[:at],
        content[:at] + content[at : at + 60] + content[at:],
    )[draw.integers(6)]


def test_whatever_happens_to_a_file_it_is_refused_or_says_the_same(path: Path):
    whole, wanted, refused = path.read_bytes(), scores_in(path), 0
    for seed in range(MUTATIONS):
        path.write_bytes(mutated(whole, np.random.default_rng(seed)))
        try:
            assert scores_in(path) == wanted
        except RunError:
            refused += 1
    assert refused > 0.9 * MUTATIONS


def changed(name: str, at: int | tuple[int, int], value: float) -> TreeArrays:
    """The arrays with one value changed."""
    array = getattr(ARRAYS, name).copy()
    array[at] = value
    return ARRAYS._replace(**{name: array})


def chain(depth: int) -> TreeArrays:
    """One tree in which each node stands below another."""
    child = np.stack([-1 - np.arange(depth), np.append(np.arange(1, depth), -depth - 1)], axis=1).astype(np.int32)
    zeros = np.zeros(depth)
    return TreeArrays(
        np.array([depth + 1], np.int32), zeros.astype(np.int32), zeros, zeros.astype(np.uint8), child,
        np.ones(depth + 1), np.ones(depth + 1, np.int32), ARRAYS.missing,
    )  # fmt: skip


CRAFTED = {
    "a child is its own parent": (changed("child", (1, 0), 1), "a child comes before its parent"),
    "a child leads back": (changed("child", (1, 0), 0), "a child comes before its parent"),
    "two lead to a leaf": (changed("child", (1, 0), -3), "a child has two parents"),
    "two lead to a node": (changed("child", (0, 1), 1), "a child has two parents"),
    "a child that is not there": (changed("child", (0, 1), 2), "a child is out of its tree"),
    "a leaf of the next tree": (changed("child", (0, 1), -4), "a child is out of its tree"),
    "a child far away": (changed("child", (0, 1), 2**31 - 1), "a child is out of its tree"),
    "a leaf far away": (changed("child", (0, 1), -(2**31)), "a child is out of its tree"),
    "a feature too many": (changed("feature", 0, 2), "a node asks about none of its 2 features"),
    "a feature below 0": (changed("feature", 0, -1), "a node asks about none of its 2 features"),
    "NaN as threshold": (changed("threshold", 0, np.nan), "a threshold is no number"),
    "a threshold below all": (changed("threshold", 0, -np.inf), "a threshold is no number"),
    "NaN in a leaf": (changed("value", 0, np.nan), "the value of a leaf is not finite"),
    "a boundless leaf": (changed("value", 0, np.inf), "the value of a leaf is not finite"),
    "an empty leaf": (changed("examples", 0, 0), "a leaf is of no examples"),
    "less than no examples": (changed("examples", 0, -5), "a leaf is of no examples"),
    "neither left nor right": (changed("missing_right", 0, 2), "missing_right has a value that is neither"),
    "missing in another way": (changed("missing", 0, 3), "missing has a value that is not"),
    "no leaf": (changed("leaves", 1, 0), "a tree has no leaf"),
    "fewer leaves than none": (changed("leaves", 1, -7), "a tree has no leaf"),
    "as many leaves as there are numbers": (changed("leaves", 1, 2**31 - 1), "do not have 6 leaves together"),
    "no trees": (ARRAYS._replace(leaves=np.zeros(0, np.int32)), "it has no trees"),
    "a value too few": (ARRAYS._replace(value=ARRAYS.value[:-1]), "do not have 5 leaves together"),
    "a count too few": (ARRAYS._replace(examples=ARRAYS.examples[:-1]), "5 counts of 6 leaves"),
    "a threshold too few": (ARRAYS._replace(threshold=ARRAYS.threshold[:-1]), "threshold has 2 values for 3 nodes"),
    "a node too few": (ARRAYS._replace(child=ARRAYS.child[:-1]), "child has 2 values for 3 nodes"),
    "three children": (ARRAYS._replace(child=np.zeros((3, 3), np.int32)), "a node has 3 children"),
    "no children": (ARRAYS._replace(child=np.zeros((3, 0), np.int32)), "a node has 0 children"),
    "children in one line": (ARRAYS._replace(child=ARRAYS.child.ravel()), "child has 1 dimensions of int32"),
    "half the precision": (ARRAYS._replace(value=ARRAYS.value.astype(np.float32)), "1 dimensions of float32"),
    "ids of another size": (ARRAYS._replace(feature=ARRAYS.feature.astype(np.int64)), "1 dimensions of int64"),
    "features without a name": (ARRAYS._replace(missing=np.zeros(3, np.uint8)), "missing has 3 values for 2 features"),
    "a tree too deep": (chain(DEEPEST + 1), "a tree is deeper than 1,000 nodes"),
}


@pytest.mark.parametrize("case", CRAFTED)
def test_a_crafted_file_whose_digest_is_right_is_refused(path: Path, case: str):
    arrays, fault = CRAFTED[case]
    write_trees(path, WHAT, BoostedTrees(TREES.names, arrays))
    with pytest.raises(RunError) as caught:
        read_trees(path, WHAT)
    assert f"{path}: damaged, it holds no trees: " in str(caught.value)
    assert fault in str(caught.value)
    assert f"; delete reranker*.safetensors in {path.parent}, and `foretime train --resume" in str(caught.value)


def test_trees_as_deep_as_they_may_be_are_applied(path: Path):
    write_trees(path, WHAT, BoostedTrees(TREES.names, chain(DEEPEST)))
    trees, _ = read_trees(path, WHAT)
    assert trees.score(FEATURES).tolist() == [1.0] * len(FEATURES)
    np.testing.assert_allclose(trees.contributions(FEATURES), [[0.0, 0.0, 1.0]] * len(FEATURES), atol=1e-12)


def rewritten(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Write a file anew after a change of its arrays and of what it says, without another digest."""
    content = path.read_bytes()
    head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    said, arrays = json.loads(head["__metadata__"]["trees"]), safetensors.numpy.load(content)
    change(said, arrays)
    path.write_bytes(safetensors.numpy.save(arrays, {"trees": json.dumps(said)}))


OTHERWISE: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "an array too few": lambda _, arrays: arrays.pop("examples"),
    "an array too many": lambda _, arrays: arrays.update(more=np.zeros(1)),
    "a leaf that was changed": lambda _, arrays: arrays.update(value=arrays["value"] + 1e-9),
    "another order": lambda said, _: said.update(top=8),
    "other names": lambda said, _: said.update(features=["pair_now", "score"]),
    "a name too few": lambda said, _: said.update(features=["score"]),
    "no names": lambda said, _: said.update(features=7),
    "numbers as names": lambda said, _: said.update(features=[1, 2]),
    "no digest": lambda said, _: said.pop("sha256"),
    "not what it is": lambda said, _: said.pop("what"),
}


@pytest.mark.parametrize("case", OTHERWISE)
def test_a_file_that_says_otherwise_than_it_was_written_is_refused(path: Path, case: str):
    rewritten(path, OTHERWISE[case])
    with pytest.raises(RunError, match=r"reranker\.safetensors: damaged, it holds no trees: "):
        read_trees(path, WHAT)


@pytest.mark.parametrize("said", ["", "[]", "7", "{", "[" * 200_000, '{"what": ' * 100_000, "\\ud800"])
def test_what_a_file_says_may_be_anything(path: Path, said: str):
    path.write_bytes(safetensors.numpy.save(ARRAYS._asdict(), {"trees": said}))
    with pytest.raises(RunError, match="damaged, it holds no trees"):
        read_trees(path, WHAT)


def head_of(text: str) -> bytes:
    return len(text).to_bytes(8, "little") + text.encode()


GARBAGE = {
    "nothing": b"",
    "words": b"foretime reranker 3, top 5\ntree\n",
    "a head of a size that nothing has": (2**63).to_bytes(8, "little") + b"{}",
    "no metadata": safetensors.numpy.save(ARRAYS._asdict()),
    "a shape without bounds": head_of(
        json.dumps({"value": {"dtype": "F64", "shape": [2**62, 2**62], "data_offsets": [0, 0]}})
    ),
    "a type that NumPy lacks": head_of(json.dumps({"value": {"dtype": "BF16", "shape": [0], "data_offsets": [0, 0]}})),
}


@pytest.mark.parametrize("case", GARBAGE)
def test_garbage_is_refused(path: Path, case: str):
    path.write_bytes(GARBAGE[case])
    with pytest.raises(RunError, match=r"reranker\.safetensors: damaged, it holds no trees: "):
        read_trees(path, WHAT)
