"""Windows of the past, asked single-step: every event before a question's time is evidence, and weights are fixed."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foretime.data.facts import Facts, Ids, empty_facts
from foretime.data.graph import Graph
from foretime.evaluation import AnswerIndex, FilterName, Metrics, questions_of
from foretime.evaluation.backtests import WindowFigures
from foretime.evaluation.filters import facts_of_questions
from foretime.evaluation.groups import KINDS
from foretime.evaluation.ranks import join_ranks
from foretime.evaluation.reliability import Believed, expected_calibration_error, join
from foretime.reranker.other_evidence import scorer_on
from foretime.reranker.scorer import Scorer
from foretime.runs.evaluation import Calibrations, rank_entities
from foretime.runs.protocols import pair_history

NEVER = KINDS.index("never")


class AskedPast(NamedTuple):
    """The questions of some steps: the step of each question's fact, its rank, and what it was answered."""

    step: Ids
    rank: np.ndarray[tuple[int], np.dtype[np.float64]]
    believed: Believed
    pair_seen: np.ndarray[tuple[int], np.dtype[np.bool_]]
    """Whether the subject had an event with the answer before, (questions,)."""
    entity_known: np.ndarray[tuple[int], np.dtype[np.bool_]]
    """Whether the answer had any event before, (questions,)."""

    def figures(self, first: int, last: int) -> WindowFigures:
        """Return the figures of the questions from one step to another."""
        rows = self._rows(first, last)
        found = self.believed.take(rows)
        return WindowFigures(Metrics.of(self.rank[rows]), expected_calibration_error(found.probability, found.right))

    def coverage(self, first: int, last: int) -> tuple[float, float]:
        """Return the shares of answers that were seen with the subject before, and that were known at all."""
        rows = self._rows(first, last)
        return float(self.pair_seen[rows].mean()), float(self.entity_known[rows].mean())

    def _rows(self, first: int, last: int) -> Ids:
        return np.flatnonzero((self.step >= first) & (self.step <= last))


def steps_of(facts: Facts) -> Ids:
    """Return the step at which each fact begins, or ends where its start is not known."""
    return facts.known_ends()[0]


def graph_at(graph: Graph, first: int, last: int) -> Graph:
    """Return the graph with what began before a step as train, and what began from there to another step as test."""
    facts = graph.facts()
    steps = steps_of(facts)
    asked = facts.take((steps >= first) & (steps <= last))
    return _split(graph, facts.take(steps < first), empty_facts(), asked)


def graph_before(graph: Graph, first: int, border: int) -> Graph:
    """Return the graph of what began before a step, that from a border on as valid, and without test."""
    facts = graph.facts()
    steps = steps_of(facts)
    valid = facts.take((steps >= border) & (steps < first))
    return _split(graph, facts.take(steps < min(border, first)), valid, empty_facts())


def _split(graph: Graph, train: Facts, valid: Facts, test: Facts) -> Graph:
    """Return other facts under the names and the timeline of a graph."""
    made = (graph.name, graph.entities, graph.predicates, graph.timeline, train, valid, test)
    return Graph(*made, background=graph.background, attributes=graph.attributes)


def ask_past(
    scorer: Scorer, graph: Graph, first: int, last: int, filter_name: FilterName, calibrations: Calibrations
) -> AskedPast:
    """Return how a scorer answers the facts from one step to another; `graph` has all facts."""
    asked, every = graph_at(graph, first, last), graph.facts()
    own = replace(scorer_on(scorer, asked, every), graph=asked)
    history, index = pair_history(own.model, asked), AnswerIndex.of(asked, filter_name)
    questions = questions_of(asked.test, len(graph.predicates), filter_name)
    half = len(questions) // 2  # the inverse ones, which ask for subjects, come last
    found = [
        rank_entities(own, questions.take(rows), index, calibrations[slot], history)
        for slot, rows in (("object", slice(half)), ("subject", slice(half, None)))
    ]
    return AskedPast(
        steps_of(asked.test)[facts_of_questions(asked.test, filter_name)],
        join_ranks([ranks for ranks, _ in found]).realistic,
        join([one for _, one in found]),
        # of an interval, the start: its end would have seen that
        history.kinds_by_distance(replace(questions, start=steps_of(questions), end=steps_of(questions))) != NEVER,
        _first_steps(every, len(graph.entities))[questions.object] < steps_of(questions),
    )


def _first_steps(facts: Facts, entities: int) -> Ids:
    """Return the step of the first fact of each entity, (entities,)."""
    first = np.full(entities, np.iinfo(np.int64).max)
    for ends in (facts.subject, facts.object):
        np.minimum.at(first, ends, steps_of(facts))
    return first
