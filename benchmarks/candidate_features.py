"""The features of candidates, kept in memory so that a benchmark can fit many re-rankers on them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids
from foretime.evaluation import AnswerIndex
from foretime.evaluation.ranks import batches
from foretime.models import Model
from foretime.reranker.features.extractor import FeatureExtractor, Features, score_each_term, shortlist_of
from foretime.reranker.trees import Examples, distinct_questions, is_answer, unknown_only


@dataclass(frozen=True)
class CandidateFeatures:
    """The candidates of distinct questions: `values` is (candidates, features), `question` and `object` (candidates,).

    `asked` are the distinct questions, `answers` the (question, answer) pairs that are ranked, (pairs, 2).
    """

    names: list[str]
    values: Features
    question: Ids
    object: Ids
    right: NDArray[np.int8]
    asked: Facts
    answers: NDArray[np.int64]

    @property
    def questions(self) -> int:
        """How many distinct questions there are."""
        return len(self.asked)

    @property
    def predicate(self) -> Ids:
        """The predicate of each question."""
        return self.asked.predicate

    @property
    def facts(self) -> Facts:
        """The pairs that are ranked, as facts."""
        return replace(self.asked.take(self.answers[:, 0]), object=self.answers[:, 1])

    def column(self, name: str) -> Features:
        """Return one feature, (candidates,)."""
        return self.values[:, self.names.index(name)]

    def columns(self, names: list[str]) -> Features:
        """Return some features, (candidates, names)."""
        return self.values[:, [self.names.index(name) for name in names]]

    def with_column(self, name: str, values: Features) -> CandidateFeatures:
        """Return the candidates with one more feature."""
        return replace(self, names=[*self.names, name], values=np.hstack([self.values, values[:, None]]))

    def of_questions(self, kept: NDArray[np.bool_]) -> CandidateFeatures:
        """Return the candidates of some questions, to be fitted on."""
        rows = kept[self.question]
        columns = (self.values, self.question, self.object, self.right)
        values, question, object_, right = (column[rows] for column in columns)
        return replace(self, values=values, question=question, object=object_, right=right)

    def first(self, share: float) -> CandidateFeatures:
        """Return the candidates of a share of the questions, drawn at random."""
        return self.of_questions(np.random.default_rng(0).random(self.questions) < share)

    def examples(self, names: list[str]) -> Examples:
        """Return what a re-ranker is fitted on: questions with an answer among their candidates."""
        useful = np.bincount(self.question, weights=self.right, minlength=self.questions) > 0
        rows = useful[self.question]
        sizes = np.bincount(self.question[rows], minlength=self.questions)
        return Examples(names, self.columns(names)[rows], self.right[rows], sizes[sizes > 0])

    def ranks(self, scores: NDArray[np.float64], known: AnswerIndex) -> NDArray[np.float64]:
        """Return the filtered rank of each answer; behind all candidates of its question if it is not among them."""
        row, other = known.answers(self.asked)
        width = int(max(self.object.max(), other.max(initial=0), self.answers.max())) + 1
        fair = ~np.isin(self.question * width + self.object, np.unique(row * width + other))
        keys = self.question * width + self.object
        order = np.argsort(keys)
        wanted = self.answers[:, 0] * width + self.answers[:, 1]
        place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        found = keys[order][place] == wanted
        own = np.where(found, scores[order[place]], -np.inf)
        first = np.searchsorted(self.question, np.arange(self.questions + 1))
        ranks = np.empty(len(wanted))
        for i, question in enumerate(self.answers[:, 0]):
            competitors = scores[first[question] : first[question + 1]][fair[first[question] : first[question + 1]]]
            ranks[i] = 1 + np.sum(competitors > own[i]) + np.sum(competitors == own[i]) / 2
        ranks[~found] *= 2.0  # somewhere behind the shortlist: too good for the far ones, which hardly count
        return ranks


@torch.inference_mode()
def candidate_features(
    model: Model, extractor: FeatureExtractor, facts: Facts, known: AnswerIndex, top: int
) -> CandidateFeatures:
    """Return the features of the candidates of all distinct questions in the facts, which hold the inverses too."""
    asked, answers = distinct_questions(facts)
    parts = []
    for rows, batch in batches(asked, 256):
        terms = score_each_term(model, batch)
        shortlist = unknown_only(shortlist_of(torch.stack(list(terms.values())).sum(0), batch, known, top))
        names, values = extractor.extract(terms, batch, shortlist)
        right = is_answer(shortlist, answers, rows.start)
        parts.append((values, shortlist.question + rows.start, shortlist.object, right))
    values, question, object_, right = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return CandidateFeatures(names, values, question, object_, right, asked, answers)
