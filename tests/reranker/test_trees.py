"""The re-ranker as trees: fitted the same way twice, saved and loaded, and refused when damaged."""

from pathlib import Path

import numpy as np
import pytest

from foretime.config import RerankerConfig
from foretime.errors import DataError, RunError
from foretime.reranker.trees import Examples, Reranker, fit, join

CONFIG = RerankerConfig(use=True, top=7, trees=10, leaves=4, leaf_candidates=3)


def some_examples(questions: int = 40, seed: int = 0) -> Examples:
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(questions * 5, 4)).astype(np.float32)
    right = np.zeros((questions, 5), dtype=np.int8)
    right[np.arange(questions), features[:, 1].reshape(questions, 5).argmax(1)] = 1
    names = ["score", "pair now", "score below the best", "events at the end"]
    return Examples(names, features, right.ravel(), np.full(questions, 5))


def test_fitting_twice_gives_the_same_trees():
    texts = {fit([some_examples()], CONFIG, seed, 1).booster.model_to_string() for seed in (4, 4, 5)}
    assert len(texts) == 2


def test_the_feature_that_reveals_the_answer_is_found():
    examples = some_examples()
    scores = fit([examples], CONFIG, 0, 1).score(examples.features).reshape(40, 5)
    assert (scores.argmax(1) == examples.right.reshape(40, 5).argmax(1)).mean() > 0.9


def test_contributions_add_up_to_the_score():
    examples = some_examples()
    reranker = fit([examples], CONFIG, 0, 1)
    found = reranker.contributions(examples.features)
    assert found.shape == (200, 5)
    np.testing.assert_allclose(found.sum(1), reranker.score(examples.features), atol=1e-9)


def test_a_saved_reranker_scores_the_same(tmp_path: Path):
    reranker, features = fit([some_examples()], CONFIG, 0, 1), some_examples(seed=1).features
    reranker.save(tmp_path / "reranker.txt")
    loaded = Reranker.load(tmp_path / "reranker.txt")
    assert loaded.top == 7
    np.testing.assert_array_equal(loaded.score(features), reranker.score(features))
    loaded.save(tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "reranker.txt").read_bytes()


GARBAGE = {
    "no trees": b"foretime reranker 3, top 5\n",
    "no text": b"\xff\xfe\x00\x81",
    "words": b"foretime reranker 3, top 5\nonce upon a time\n",
    "words with the right end": b"foretime reranker 3, top 5\nonce upon a time\n\npandas_categorical:null\n",
}


@pytest.mark.parametrize("case", GARBAGE)
def test_garbage_is_refused(tmp_path: Path, case: str):
    path = tmp_path / "reranker.txt"
    path.write_bytes(GARBAGE[case])
    with pytest.raises(RunError, match=r"reranker\.txt: damaged, it is no re-ranker"):
        Reranker.load(path)


@pytest.mark.parametrize(
    "head",
    [b"", b"top=100\ntree\n", b"foretime combiner 2, top 5\n", b"foretime reranker 4, top 5\n", b"tree\nversion=v4\n"],
)
def test_the_reranker_of_another_version_is_refused_with_a_remedy(tmp_path: Path, head: bytes):
    path = tmp_path / "reranker.txt"
    path.write_bytes(head + b"\n\npandas_categorical:null\n")
    with pytest.raises(RunError, match=r"fitted by another version.* delete it, and `foretime train --resume`"):
        Reranker.load(path)


def test_a_reranker_of_other_features_is_refused_with_a_remedy(tmp_path: Path):
    path, names = tmp_path / "reranker.txt", some_examples().names
    fit([some_examples()], CONFIG, 0, 1).save(path)
    assert Reranker.load(path, names[1:]).top == 7
    with pytest.raises(
        RunError, match=r"lacks the feature one_more: fitted by another version.* delete it, and `foreti"
    ):
        Reranker.load(path, [*names[1:], "one more"])
    with pytest.raises(RunError, match="has features that candidates no longer have: fitted by another version"):
        Reranker.load(path, names[:-1])


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.9, 0.995])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, share: float):
    path = tmp_path / "reranker.txt"
    fit([some_examples()], CONFIG, 0, 1).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(RunError, match=r"reranker\.txt: damaged, it is no re-ranker: its end is missing"):
        Reranker.load(path)


def test_examples_are_joined_one_after_the_other():
    parts = [some_examples(3), some_examples(2, seed=1)]
    joined = join(parts)
    assert joined.sizes.tolist() == [5] * 5
    np.testing.assert_array_equal(joined.features, np.concatenate([part.features for part in parts]))
    assert joined.right.tolist() == [*parts[0].right, *parts[1].right]
    assert fit(parts, CONFIG, 0, 1).booster.model_to_string() == fit([joined], CONFIG, 0, 1).booster.model_to_string()


def test_without_a_single_example_there_is_an_error_with_a_remedy():
    nothing = Examples(["score"], np.zeros((0, 1), np.float32), np.zeros(0, np.int8), np.zeros(0, np.int64))
    with pytest.raises(DataError, match=r"raise reranker\.top"):
        fit([nothing], CONFIG, 0, 1)
