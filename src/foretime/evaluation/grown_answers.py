"""The answers of a graph that has grown: those of the trained graph, indexed once, and those of what was added."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts
from foretime.evaluation.filters import AnswerIndex, AnswerPairs

_NONE = np.iinfo(np.int64).max


class GrownAnswers(AnswerIndex):
    """Finds what `AnswerIndex` finds in the facts of train and those that were added, without indexing train again."""

    def __init__(self, trained: AnswerIndex, added: Facts, predicates: int, predicates_now: int) -> None:
        """Index the added facts; `trained` has all facts of train with inverses, under `predicates` predicates."""
        self.filter_name, self._trained = trained.filter_name, trained
        self._before, self._now = predicates, predicates_now
        self._added = AnswerIndex(added.with_inverses(predicates_now), trained.filter_name)
        self._added_facts = len(added)

    def answers(self, questions: Facts) -> AnswerPairs:
        """Return every answer to each question, the true one too, each once."""
        found = [self._trained.answers(self._as_trained(questions)), self._added.answers(questions)]
        question, answer = (np.concatenate(column) for column in zip(*found, strict=True))
        width = int(answer.max(initial=0)) + 1
        return AnswerPairs(*np.divmod(np.unique(question * width + answer), width))

    def keep(self, kept: NDArray[np.bool_]) -> GrownAnswers:
        """Return the index of some of the facts: train, what was added, and the inverses of both in the same order."""
        half = kept[: len(kept) // 2]
        train = len(half) - self._added_facts
        other = copy(self)
        other._trained = self._trained.keep(np.tile(half[:train], 2))
        other._added = self._added.keep(np.tile(half[train:], 2))
        other._added_facts = int(half[train:].sum())
        return other

    def _as_trained(self, questions: Facts) -> Facts:
        """Return the questions under the ids of the trained predicates; one that was not trained has none."""
        inverted, own = np.divmod(questions.predicate, self._now)
        predicate = np.where(own < self._before, own + inverted * self._before, _NONE)
        return replace(questions, predicate=predicate)
