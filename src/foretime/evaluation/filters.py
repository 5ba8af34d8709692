"""Filters: which other answers to a question are true as well, and so must not count against the one asked for.

Three filters are named, because the literature mixes them. For events at single times all three are the same.

`exact`     other answers of exactly the same subject, predicate, start and end. Keyed by time: an answer that is true
            in May is a fair competitor in June.
`valid-at`  any answer that holds at one of the times asked about. An interval without an end still holds, one without
            a start has always held.
`points`    one question for each step of a fact's interval, under the filter `valid-at`.
"""

from __future__ import annotations

from copy import copy
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph

FilterName = Literal["exact", "valid-at", "points"]


class AnswerPairs(NamedTuple):
    """Pairs of a question, by its row, and an answer to it; each column is (pairs,)."""

    question: Ids
    answer: Ids


class AnswerIndex:
    """Finds the answers that some facts give to questions."""

    def __init__(self, facts: Facts, filter_name: FilterName = "exact") -> None:
        """Index the facts, which must hold the inverses too if inverse questions are to be asked."""
        self.filter_name = filter_name
        self._predicates = int(facts.predicate.max(initial=0)) + 1
        self._span = int(max(facts.start.max(initial=0), facts.end.max(initial=0))) + 2
        self._pairs = np.unique(self._pair(facts))
        self._intervals = np.unique(self._interval(facts))
        keys = self._keys(facts)
        self._order = np.argsort(keys, kind="stable")
        self._facts, self._sorted_keys = facts.take(self._order), keys[self._order]

    @classmethod
    def of(cls, graph: Graph, filter_name: FilterName = "exact") -> AnswerIndex:
        """Return the index of train, valid and test in both directions: what every evaluation filters by."""
        return cls(graph.facts().with_inverses(len(graph.predicates)), filter_name)

    def keep(self, kept: NDArray[np.bool_]) -> AnswerIndex:
        """Return the index of some of the facts, without sorting them again; `kept` is (facts,)."""
        index, rows = copy(self), kept[self._order]
        index._facts, index._sorted_keys = self._facts.take(rows), self._sorted_keys[rows]
        index._order = np.cumsum(kept)[self._order[rows]] - 1
        return index

    def grown(self, added: Facts, predicates: int, predicates_now: int) -> AnswerIndex:
        """Return the index with more facts and their inverses, without indexing its own again.

        It must have inverses, under `predicates` predicates; the added facts have `predicates_now`.
        """
        from foretime.evaluation.grown_answers import GrownAnswers

        return GrownAnswers(self, added, predicates, predicates_now)

    def filtered(self, questions: Facts) -> AnswerPairs:
        """Return the answers that are removed from the ranking of each question: all but the true one, each once."""
        question, answer = self.answers(questions)
        other = answer != questions.object[question]
        return AnswerPairs(question[other], answer[other])

    def answers(self, questions: Facts) -> AnswerPairs:
        """Return every answer to each question, the true one too, each once."""
        keys = self._keys(questions)
        first = np.searchsorted(self._sorted_keys, keys, side="left")
        count = np.searchsorted(self._sorted_keys, keys, side="right") - first
        question, row = np.repeat(np.arange(len(questions)), count), _ranges(first, count)
        if self.filter_name != "exact":
            holds = _holds_at_an_end(self._facts, row, questions, question)
            question, row = question[holds], row[holds]
        answer = self._facts.object[row]
        width = int(answer.max(initial=0)) + 1
        return AnswerPairs(*np.divmod(np.unique(question * width + answer), width))

    def _keys(self, facts: Facts) -> Ids:
        """Return one number for what the filter compares, −1 where no indexed fact has it."""
        pair = _place(self._pairs, self._pair(facts))
        if self.filter_name != "exact":
            return pair
        interval = _place(self._intervals, self._interval(facts))
        return np.where((pair < 0) | (interval < 0), -1, pair * len(self._intervals) + interval)

    def _pair(self, facts: Facts) -> Ids:
        # a predicate beyond every indexed one must not run into the numbers of the next subject
        beyond = facts.predicate >= self._predicates
        return np.where(beyond, -1, facts.subject * self._predicates + facts.predicate)

    def _interval(self, facts: Facts) -> Ids:
        beyond = (facts.start >= self._span) | (facts.end >= self._span)
        return np.where(beyond, -1, (facts.start - UNKNOWN) * (self._span + 1) + (facts.end - UNKNOWN))


def questions_of(facts: Facts, predicates: int, filter_name: FilterName = "exact") -> Facts:
    """Return the questions that the facts ask, the inverse ones last; the answers are in the column `object`."""
    asked = facts_by_step(facts) if filter_name == "points" else facts
    return asked.with_inverses(predicates)


def facts_of_questions(facts: Facts, filter_name: FilterName = "exact") -> Ids:
    """Return for each of `questions_of` the row of the fact that asks it, (questions,)."""
    count = _steps(facts) if filter_name == "points" else np.ones(len(facts), dtype=np.int64)
    return np.tile(np.repeat(np.arange(len(facts)), count), 2)


def facts_by_step(facts: Facts) -> Facts:
    """Return each fact once for every step from its start to its end; at its known end only if the other is unknown."""
    row = np.repeat(np.arange(len(facts)), _steps(facts))
    step = _ranges(np.minimum(*facts.known_ends()), _steps(facts))
    return Facts(facts.subject[row], facts.predicate[row], facts.object[row], step, step)


def _steps(facts: Facts) -> Ids:
    """Return how many steps each fact has from its start to its end."""
    start, end = facts.known_ends()
    count: Ids = np.abs(end - start) + 1
    return count


def _ranges(first: Ids, count: Ids) -> Ids:
    """Return the numbers `first, first + 1, …`, as many as `count` says, one such range after the other."""
    numbers: Ids = np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
    return numbers


def _place(sorted_values: Ids, values: Ids) -> Ids:
    """Return the position of each value in the sorted distinct values, −1 where it is not among them."""
    if len(sorted_values) == 0:
        return np.full(len(values), -1)
    place = np.minimum(np.searchsorted(sorted_values, values), len(sorted_values) - 1)
    return np.where((sorted_values[place] == values) & (values >= 0), place, -1)


def _holds_at_an_end(facts: Facts, row: Ids, questions: Facts, question: Ids) -> NDArray[np.bool_]:
    """Return whether each fact, given by its row, holds at the start or the end of its question."""
    far = np.iinfo(np.int64).max
    start = np.where(facts.start == UNKNOWN, -far, facts.start)[row]
    end = np.where(facts.end == UNKNOWN, far, facts.end)[row]
    first, last = np.minimum(start, end), np.maximum(start, end)
    holds = np.zeros(len(row), dtype=bool)
    for step in (questions.start[question], questions.end[question]):
        holds |= (step != UNKNOWN) & (first <= step) & (step <= last)
    return holds
