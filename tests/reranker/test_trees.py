"""The re-ranker as trees: fitted the same way twice, saved and loaded, and refused when it is of another version."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from foretime.config import RerankerConfig
from foretime.errors import DataError, RunError
from foretime.reranker.feature_file import FeatureFile
from foretime.reranker.tree_files import write_trees
from foretime.reranker.trees import WHAT, Examples, Reranker, boost, fit

PARTS = ("features", "right", "sizes")
CONFIG = RerankerConfig(use=True, top=7, trees=10, leaves=4, leaf_candidates=3)


def some_examples(questions: int = 40, seed: int = 0) -> Examples:
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(questions * 5, 4)).astype(np.float32)
    right = np.zeros((questions, 5), dtype=np.int8)
    right[np.arange(questions), features[:, 1].reshape(questions, 5).argmax(1)] = 1
    names = ["score", "pair now", "score below the best", "events at the end"]
    return Examples(names, features, right.ravel(), np.full(questions, 5))


def test_fitting_twice_gives_the_same_trees():
    values = {fit([some_examples()], CONFIG, seed, 1).trees.arrays.value.tobytes() for seed in (4, 4, 5)}
    assert len(values) == 2


def test_threads_that_are_allowed_stay_so_after_a_fit():
    before = torch.get_num_threads()
    try:
        for allowed in (1, 2):
            torch.set_num_threads(allowed)
            fit([some_examples()], CONFIG, 0, 3 - allowed)
            assert torch.get_num_threads() == allowed
    finally:
        torch.set_num_threads(before)


def test_the_feature_that_reveals_the_answer_is_found():
    examples = some_examples()
    scores = fit([examples], CONFIG, 0, 1).trees.score(examples.features).reshape(40, 5)
    assert (scores.argmax(1) == examples.right.reshape(40, 5).argmax(1)).mean() > 0.9


def test_contributions_add_up_to_the_score():
    examples = some_examples()
    reranker = fit([examples], CONFIG, 0, 1).trees
    found = reranker.contributions(examples.features)
    assert found.shape == (200, 5)
    np.testing.assert_allclose(found.sum(1), reranker.score(examples.features), atol=1e-9)


def test_a_saved_reranker_scores_the_same(tmp_path: Path):
    reranker, features = fit([some_examples()], CONFIG, 0, 1), some_examples(seed=1).features
    reranker.save(tmp_path / "reranker.safetensors")
    loaded = Reranker.load(tmp_path / "reranker.safetensors")
    assert loaded.top == 7
    np.testing.assert_array_equal(loaded.trees.score(features), reranker.trees.score(features))
    loaded.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "reranker.safetensors").read_bytes()


def test_candidates_of_other_features_are_refused_with_a_remedy():
    with pytest.raises(RunError, match=r"have 4 features, and candidates 5: .* `foretime train --resume` fits them"):
        fit([some_examples()], CONFIG, 0, 1).trees.score(np.zeros((3, 5), dtype=np.float32))


@pytest.mark.parametrize("what", ["foretime reranker 4", "foretime slot time 1", ""])
def test_the_reranker_of_another_version_is_refused_with_a_remedy(tmp_path: Path, what: str):
    path = tmp_path / "reranker.safetensors"
    write_trees(path, what, fit([some_examples()], CONFIG, 0, 1).trees, top=7)
    with pytest.raises(RunError, match=rf"is '{what}': fitted by another version.* delete reranker\*\.safetensors in "):
        Reranker.load(path)


@pytest.mark.parametrize("top", [0, -1, "7", 7.0, None, True, [7]])
def test_a_reranker_must_know_how_many_candidates_it_orders(tmp_path: Path, top: object):
    path = tmp_path / "reranker.safetensors"
    write_trees(path, WHAT, fit([some_examples()], CONFIG, 0, 1).trees, top=top)
    with pytest.raises(RunError, match=r"reranker\.safetensors: damaged.* is no number of candidates; delete"):
        Reranker.load(path)


def test_a_reranker_of_other_features_is_refused_with_a_remedy(tmp_path: Path):
    path, names = tmp_path / "reranker.safetensors", some_examples().names
    fit([some_examples()], CONFIG, 0, 1).save(path)
    assert Reranker.load(path, names[1:]).top == 7
    with pytest.raises(
        RunError, match=r"lacks the feature one_more: fitted by another version.* delete reranker\*\.saf.* and `foreti"
    ):
        Reranker.load(path, [*names[1:], "one more"])
    with pytest.raises(RunError, match="has features that candidates no longer have: fitted by another version"):
        Reranker.load(path, names[:-1])


def test_trees_are_the_same_in_memory_in_parts_and_from_a_file(tmp_path: Path):
    parts = [some_examples(3), some_examples(200, seed=1)]
    features, right, sizes = (np.concatenate([getattr(part, name) for part in parts]) for name in PARTS)
    file = FeatureFile(tmp_path)
    for part in parts:
        file.append(part.features)
    assert file.shape == features.shape
    np.testing.assert_array_equal(file[7:900], features[7:900])
    np.testing.assert_array_equal(file[20], features[20])
    whole = Examples(parts[0].names, file, right, sizes)
    texts = {
        boost(some, CONFIG, 3, 1).model_to_string() for some in (parts, [replace(whole, features=features)], [whole])
    }
    assert len(texts) == 1
    assert not list(tmp_path.iterdir())  # the file has no name, so that none is left behind by a process that is killed


@pytest.mark.parametrize("seed", [0, 7])
def test_trees_of_streamed_features_are_those_of_an_array(seed: int):
    import lightgbm

    from foretime.reranker.streamed import StreamedDataset, StreamedFeatures

    rows = np.random.default_rng(seed).normal(size=(2_000, 30)).astype(np.float32)
    rows[: 2_000 - 25 * 3, 3::2] = 0.0  # too few others for a cut, where a leaf has 100 rows
    settings = {
        "bin_construct_sample_cnt": 300, "max_bin": 15, "seed": seed, "min_data_in_leaf": 100, "feature_fraction": 0.5,
        "objective": "regression", "verbosity": -1,
    }  # fmt: skip

    def trees(kind: type[lightgbm.Dataset], data: object) -> str:
        fitted = lightgbm.train(settings, kind(data, label=rows[:, 0].copy()), 5)
        return fitted.model_to_string().split("parameters:")[0]

    of_array, streamed = trees(lightgbm.Dataset, rows), trees(StreamedDataset, [rows[:700], rows[700:]])
    assert streamed == of_array
    assert trees(lightgbm.Dataset, [StreamedFeatures(rows)]) != of_array  # or no subclass would be needed


def test_without_a_single_example_there_is_an_error_with_a_remedy():
    nothing = Examples(["score"], np.zeros((0, 1), np.float32), np.zeros(0, np.int8), np.zeros(0, np.int64))
    with pytest.raises(DataError, match=r"raise reranker\.top"):
        fit([nothing], CONFIG, 0, 1)
