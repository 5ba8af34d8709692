"""Batches of training questions: equal questions are put together, so that each is scored once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Events, Facts, Ids
from foretime.models.base import Queries


class Batch(NamedTuple):
    """Distinct questions with all their training answers.

    `queries` holds the distinct questions, (rows,). For each answer, (pairs,): `row` is the row of its question,
    `questions` is that question itself, with its time, and `objects` is the answer. `scale` is the number of pairs
    against that of an average step: it weighs the loss, so that every training pair counts the same.
    """

    queries: Queries
    row: Tensor
    questions: Queries
    objects: Tensor
    scale: float


class QuestionPool:
    """The training questions of a model, grouped into distinct ones: by `(s, p, t)`, or by `(s, p)` without time."""

    def __init__(self, events: Events, uses_time: bool) -> None:
        """Group the events, which must hold the inverses too."""
        keys = [events.subject, events.predicate, *([events.time] if uses_time else [])]
        order = np.lexsort(keys[::-1])
        changed = np.zeros(len(order), dtype=bool)
        for key in keys:
            changed[1:] |= np.diff(key[order]) != 0
        changed[:1] = True
        self._events = Events(*(column[order] for column in events))
        self._first = np.append(np.flatnonzero(changed), len(order))

    @property
    def distinct(self) -> int:
        """How many distinct questions there are."""
        return len(self._first) - 1

    @property
    def pairs(self) -> int:
        """How many (question, answer) pairs there are."""
        return len(self._events.subject)

    def order(self, seed: int, epoch: int) -> Ids:
        """Return the distinct questions in the order of an epoch: the same for the same seed and epoch."""
        return np.random.default_rng([seed, epoch]).permutation(self.distinct)

    def batch(self, rows: Ids, steps: int = 1) -> Batch:
        """Return the chosen distinct questions with all their answers, as one of an epoch's steps."""
        first, count = self._first[rows], self._first[rows + 1] - self._first[rows]
        row = np.repeat(np.arange(len(rows)), count)
        pairs = np.arange(len(row)) + np.repeat(first - (np.cumsum(count) - count), count)
        questions = Queries(*(torch.from_numpy(column[pairs]) for column in self._columns()))
        queries = Queries(*(torch.from_numpy(column[first]) for column in self._columns()))
        objects = torch.from_numpy(self._events.object[pairs])
        return Batch(queries, torch.from_numpy(row), questions, objects, scale=len(pairs) * steps / self.pairs)

    def _columns(self) -> tuple[Ids, Ids, Ids]:
        return self._events.subject, self._events.predicate, self._events.time


def timeless_events(facts: Facts) -> Events:
    """Return facts without a time as questions for a model without time: the step that stands there means nothing."""
    return Events(facts.subject, facts.predicate, facts.object, np.zeros(len(facts), dtype=np.int64))


def join_events(first: Events, second: Events) -> Events:
    """Return the events of both, one after the other."""
    return Events(*(np.concatenate(columns) for columns in zip(first, second, strict=True)))


def step_rows(order: Ids, step: int, steps: int) -> Ids:
    """Return the distinct questions of one step, when an epoch's order is cut into equal steps."""
    return order[len(order) * step // steps : len(order) * (step + 1) // steps]
