"""Gradient-boosted trees over the features of candidates: fitted, applied, saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from foretime.config import RerankerConfig
from foretime.data.facts import Facts, Ids
from foretime.errors import DataError
from foretime.evaluation.filters import AnswerIndex
from foretime.evaluation.ranks import batches, questions_at_once
from foretime.models import Model
from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.feature_file import FeatureFile
from foretime.reranker.features.extractor import FeatureExtractor, Features, Shortlist, score_each_term, shortlist_of
from foretime.reranker.tree_arrays import DEEPEST
from foretime.reranker.tree_files import damaged, of_another_version, read_trees, write_trees
from foretime.reranker.tree_text import read_tree_text

if TYPE_CHECKING:
    from lightgbm import Booster

WHAT = "foretime reranker 3"
"""What the file of a re-ranker says it is; the number goes up whenever features change their meaning."""


@dataclass(frozen=True)
class Examples:
    """Candidates of questions that the base model has not seen, with their features: what a re-ranker is fitted on.

    `features` is (candidates, features), `right` says which candidates are true, `sizes` how many each question has.
    """

    names: list[str]
    features: Features | FeatureFile
    right: NDArray[np.int8]
    sizes: Ids


@torch.inference_mode()
def examples_of(
    model: Model, extractor: FeatureExtractor, facts: Facts, seen: AnswerIndex, top: int, folder: Path
) -> Examples:
    """Return the examples of facts with their inverses; `seen` is what the base model has trained on.

    Facts with the same question are one question with several true candidates. A question whose answers are not among
    its best candidates teaches nothing and is left out. Features go to the disk of a folder.
    """
    questions, answers = distinct_questions(facts)
    names, features = list[str](), FeatureFile(folder)
    labels, sizes = [np.empty(0, dtype=np.int8)], [np.empty(0, dtype=np.int64)]
    for rows, batch in batches(questions, questions_at_once(extractor.index.entities)):
        terms = score_each_term(model, batch)
        shortlist = unknown_only(shortlist_of(torch.stack(list(terms.values())).sum(0), batch, seen, top))
        right = is_answer(shortlist, answers, rows.start)
        names, found = extractor.extract(terms, batch, shortlist)
        useful = np.bincount(shortlist.question, weights=right, minlength=len(batch)) > 0
        kept = useful[shortlist.question]
        features.append(found[kept])
        labels.append(right[kept])
        sizes.append(np.diff(shortlist.first)[useful])
    return Examples(names, features, np.concatenate(labels), np.concatenate(sizes))


@dataclass(frozen=True)
class Reranker:
    """Fitted trees, and how many of the best candidates they order anew."""

    trees: BoostedTrees
    top: int

    def save(self, path: Path) -> None:
        """Write the trees."""
        write_trees(path, WHAT, self.trees, top=self.top)

    @classmethod
    def load(cls, path: Path, graph_features: Sequence[str] = ()) -> Reranker:
        """Return the re-ranker in a file; raise `RunError` unless its last features are those of the graph."""
        trees, said = read_trees(path, WHAT)
        top, found, wanted = said.get("top"), list(trees.names), plain_names(graph_features)
        if type(top) is not int or top < 1:
            raise damaged(path, f"{top!r} is no number of candidates")
        if wanted and found[-len(wanted) :] != wanted:
            missing = [name for name in wanted if name not in found]
            fault = f"lacks the feature {missing[0]}" if missing else "has features that candidates no longer have"
            raise of_another_version(path, fault, "features other than those of candidates now")
        return cls(trees, top)


def fit(
    examples: Sequence[Examples],
    config: RerankerConfig,
    seed: int,
    threads: int,
    on_tree: Callable[[int], None] | None = None,
) -> Reranker:
    """Return the re-ranker that orders all examples best; raise `DataError` if there are none.

    `on_tree` is called after each tree with their number.
    """
    return Reranker(read_tree_text(boost(examples, config, seed, threads, on_tree).model_to_string()), config.top)


def boost(
    examples: Sequence[Examples],
    config: RerankerConfig,
    seed: int,
    threads: int,
    on_tree: Callable[[int], None] | None = None,
) -> Booster:
    """Return the trees as LightGBM has fitted them. Features are streamed: they may be many gigabytes."""
    import lightgbm

    from foretime.reranker.streamed import StreamedDataset  # loads LightGBM

    if sum(len(some.sizes) for some in examples) == 0:
        raise DataError(
            "the base model has the answer of no unseen fact among its best candidates; raise reranker.top, train it "
            "longer, or set reranker.use to false"
        )
    data = StreamedDataset(
        (some.features for some in examples),
        label=np.concatenate([some.right for some in examples]),
        group=np.concatenate([some.sizes for some in examples]),
        feature_name=plain_names(examples[0].names),
    )
    settings: dict[str, Any] = {
        "objective": "lambdarank",
        "num_leaves": config.leaves,
        "max_depth": DEEPEST,
        "learning_rate": config.learning_rate,
        "min_data_in_leaf": config.leaf_candidates,
        "feature_fraction": config.feature_share,
        "lambdarank_truncation_level": 30,
        "max_bin": 127,
        "seed": seed,
        "deterministic": True,
        "force_col_wise": True,  # by rows there would be two more copies of the bins, for the same trees
        "num_threads": threads,
        "verbosity": -1,
    }
    callbacks = [] if on_tree is None else [lambda state: on_tree(state.iteration + 1)]
    return lightgbm.train(settings, data, num_boost_round=config.trees, callbacks=callbacks)


def plain_names(names: Sequence[str]) -> list[str]:
    """Return the names of features as the trees have them, without blanks."""
    return [name.replace(" ", "_") for name in names]


def distinct_questions(facts: Facts) -> tuple[Facts, NDArray[np.int64]]:
    """Return the distinct questions of facts, and (question, answer) rows, (answers, 2), sorted."""
    keys = np.stack([facts.subject, facts.predicate, facts.start, facts.end])
    distinct, question = np.unique(keys, axis=1, return_inverse=True)
    zeros = np.zeros_like(distinct[0])
    answers = np.unique(np.stack([question, facts.object], axis=1), axis=0)
    return Facts(distinct[0], distinct[1], zeros, distinct[2], distinct[3]), answers


def unknown_only(shortlist: Shortlist) -> Shortlist:
    """Return the shortlist without its known answers."""
    first = np.append(0, np.cumsum(shortlist.ranked))
    return Shortlist(first, shortlist.object[shortlist.is_ranked], shortlist.ranked)


def is_answer(shortlist: Shortlist, answers: NDArray[np.int64], first_question: int) -> NDArray[np.int8]:
    """Return which candidates are among the answers, in which the first question has the number `first_question`."""
    width = int(max(answers[:, 1].max(initial=0), shortlist.object.max(initial=0))) + 1
    true = answers[:, 0] * width + answers[:, 1]
    return np.isin((shortlist.question + first_question) * width + shortlist.object, true).astype(np.int8)
