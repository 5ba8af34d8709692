"""Gradient-boosted trees over the columns of candidates: fitted, applied, saved as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from foretime.config import RerankerConfig
from foretime.data.facts import Facts, Ids
from foretime.errors import DataError, RunError
from foretime.evaluation.filters import AnswerIndex
from foretime.evaluation.ranks import batches
from foretime.files import write_text
from foretime.models import Model
from foretime.reranker.features.extractor import (
    Columns,
    Describer,
    Shortlist,
    score_each_term,
    shortlist_of,
    term_columns,
)

if TYPE_CHECKING:
    from lightgbm import Booster

BATCH = 256
_LAST_LINE = "\npandas_categorical:"
"""How the text of every booster ends."""
_FIRST_LINE = re.compile(r"foretime reranker 2, top (\d+)")
"""How the file of a reranker begins; the number goes up whenever columns change their meaning."""


@dataclass(frozen=True)
class Examples:
    """Described candidates of questions that the first stage has not seen: what a reranker is fitted on.

    `columns` is (candidates, columns), `right` says which candidates are true, `sizes` how many each question has.
    """

    names: list[str]
    columns: Columns
    right: NDArray[np.int8]
    sizes: Ids


def join(parts: list[Examples]) -> Examples:
    """Return the examples of all parts, one part after the other."""
    return Examples(
        parts[0].names,
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.sizes for part in parts]),
    )


@torch.inference_mode()
def examples_of(model: Model, describer: Describer, facts: Facts, known: AnswerIndex, top: int) -> Examples:
    """Return the examples that facts ask for; `facts` hold the inverses, `known` is what the first stage has seen.

    Facts with the same question are one question with several true candidates. A question whose answers are not among
    its best candidates teaches nothing and is left out.
    """
    questions, answers = distinct_questions(facts)
    parts: list[Examples] = []
    for rows, batch in batches(questions, BATCH):
        terms = score_each_term(model, batch)
        shortlist = open_only(shortlist_of(torch.stack(list(terms.values())).sum(0), batch, known, top))
        right = is_answer(shortlist, answers, rows.start)
        names, columns = describe(describer, terms, batch, shortlist)
        useful = np.bincount(shortlist.question, weights=right, minlength=len(batch)) > 0
        kept = useful[shortlist.question]
        parts.append(Examples(names, columns[kept], right[kept], np.diff(shortlist.first)[useful]))
    return join(parts)


def describe(
    describer: Describer, terms: dict[str, torch.Tensor], questions: Facts, shortlist: Shortlist
) -> tuple[list[str], Columns]:
    """Return all columns of the candidates, (candidates, columns), and their names."""
    names, said = term_columns(terms, shortlist)
    return names + describer.profile_names(), np.hstack([said, describer.profiles(questions, shortlist)])


@dataclass(frozen=True)
class Reranker:
    """A fitted second stage."""

    booster: Booster
    top: int

    def score(self, columns: Columns) -> NDArray[np.float64]:
        """Return the score of each candidate, (candidates,)."""
        return np.asarray(self.booster.predict(columns), dtype=np.float64)

    def contributions(self, columns: Columns) -> NDArray[np.float64]:
        """Return what each column adds to the score of each candidate, (candidates, columns + 1), the base last."""
        return np.asarray(self.booster.predict(columns, pred_contrib=True), dtype=np.float64)

    def save(self, path: Path) -> None:
        """Write the trees as text."""
        write_text(path, f"foretime reranker 2, top {self.top}\n{self.booster.model_to_string()}")

    @classmethod
    def load(cls, path: Path, profile_names: Sequence[str] = ()) -> Reranker:
        """Return the reranker in a file, fitted on columns of which the last are those of the profile."""
        from lightgbm import Booster
        from lightgbm.basic import LightGBMError

        try:
            head, _, body = path.read_text(encoding="utf-8").partition("\n")
            first_line = _FIRST_LINE.fullmatch(head)
            if first_line is None:
                raise _of_another_version(
                    path, f"begins with {head[:40]!r}", "columns that are no longer told the same way"
                )
            if _LAST_LINE not in body[-80:]:  # LightGBM ends the whole process over a text that is cut off
                raise ValueError("its end is missing")
            booster = Booster(model_str=body)
        except (ValueError, LightGBMError) as error:
            raise RunError(f"{path}: damaged, it is no reranker: {error}") from None
        columns, wanted = booster.feature_name(), _plain(profile_names)
        if wanted and columns[-len(wanted) :] != wanted:
            missing = [name for name in wanted if name not in columns]
            found = f"lacks the column {missing[0]}" if missing else "has columns that candidates no longer have"
            raise _of_another_version(path, found, "other columns than candidates have now")
        return cls(booster, int(first_line[1]))


def fit(
    parts: Sequence[Examples],
    config: RerankerConfig,
    seed: int,
    threads: int,
    hear: Callable[[int], None] | None = None,
) -> Reranker:
    """Return the reranker that orders the examples of all parts best.

    `hear` is told how many trees there are, after each. The parts are not joined: they may be many gigabytes.
    """
    import lightgbm

    if sum(len(part.sizes) for part in parts) == 0:
        raise DataError(
            "the first stage has the answer of no fact that it has not seen among its best candidates; "
            "raise reranker.top, train it longer, or set reranker.use to false"
        )
    data = lightgbm.Dataset(
        [part.columns for part in parts],
        label=np.concatenate([part.right for part in parts]),
        group=np.concatenate([part.sizes for part in parts]),
        feature_name=_plain(parts[0].names),
    )
    settings: dict[str, Any] = {
        "objective": "lambdarank",
        "num_leaves": config.leaves,
        "learning_rate": config.learning_rate,
        "min_data_in_leaf": config.leaf_candidates,
        "feature_fraction": config.column_share,
        "lambdarank_truncation_level": 30,
        "max_bin": 127,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": threads,
        "verbosity": -1,
    }
    callbacks = [] if hear is None else [lambda state: hear(state.iteration + 1)]
    booster = lightgbm.train(settings, data, num_boost_round=config.trees, callbacks=callbacks)
    return Reranker(booster, config.top)


def _of_another_version(path: Path, found: str, fitted_on: str) -> RunError:
    remedy = "delete it, and `foretime train --resume` fits it anew"
    return RunError(f"{path}: {found}: fitted by another version, on {fitted_on}; {remedy}")


def _plain(names: Sequence[str]) -> list[str]:
    return [name.replace(" ", "_") for name in names]


def distinct_questions(facts: Facts) -> tuple[Facts, NDArray[np.int64]]:
    """Return the distinct questions of facts, and (question, answer) rows, (answers, 2), sorted."""
    keys = np.stack([facts.subject, facts.predicate, facts.start, facts.end])
    distinct, question = np.unique(keys, axis=1, return_inverse=True)
    zeros = np.zeros_like(distinct[0])
    answers = np.unique(np.stack([question, facts.object], axis=1), axis=0)
    return Facts(distinct[0], distinct[1], zeros, distinct[2], distinct[3]), answers


def open_only(shortlist: Shortlist) -> Shortlist:
    """Return the shortlist without its known answers."""
    first = np.append(0, np.cumsum(shortlist.ranked))
    return Shortlist(first, shortlist.object[shortlist.is_ranked], shortlist.ranked)


def is_answer(shortlist: Shortlist, answers: NDArray[np.int64], first_question: int) -> NDArray[np.int8]:
    """Return which candidates are among the answers; the first question here has the number `first_question` there."""
    width = int(max(answers[:, 1].max(initial=0), shortlist.object.max(initial=0))) + 1
    true = answers[:, 0] * width + answers[:, 1]
    return np.isin((shortlist.question + first_question) * width + shortlist.object, true).astype(np.int8)
