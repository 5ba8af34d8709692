"""The evidence index of a graph: everything that the evidence of its questions is read from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretime.config import EvidenceConfig
from foretime.data.facts import UNKNOWN, Facts, concatenate
from foretime.data.graph import Graph
from foretime.evidence.background import Background, background_of
from foretime.evidence.events import EventLists, event_lists
from foretime.evidence.families import BACKGROUND_FAMILY, FAMILY_NAMES, FEATURES, RATED, RULED, Reach
from foretime.evidence.gap import looked_at_from
from foretime.evidence.vocabulary import RuleVocabulary, rule_vocabulary
from foretime.rules.table import Rules

SCATTER = 2_654_435_761
"""An odd number: its multiples put subjects in an order that has nothing to do with their own numbers."""
ROWS = 4096
"""Room for what is recorded of a candidate at first; more is made where it is not enough."""
Ids = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class EvidenceIndex:
    """Sorted events, the rules with weights of their own, how far to look, and the facts without a time, if any.

    Where only the past is looked at, no question is looked at from farther behind the last event than `max_gap`, if
    there is one: a run chooses it when it has been trained.
    """

    entities: int
    events: EventLists
    rules: RuleVocabulary
    reach: Reach
    background: Background | None = None
    max_gap: int | None = None

    @property
    def event_weights(self) -> int:
        """How many weights the evidence of events has: of features, of (predicate, feature) pairs, of rules."""
        rules = RULED * len(self.rules.pair_body) + len(self.rules.path_body)
        return FEATURES * (1 + 2 * self.events.predicates) + rules

    @property
    def weights(self) -> int:
        """How many weights the evidence has: those of events, and behind them those of facts without a time."""
        return self.event_weights + (0 if self.background is None else self.background.weights)

    def as_of(self, time: Ids) -> Ids:
        """Return the step as of which questions at steps are looked at: their own, unless that is far from all events.

        Whoever reads events for a question, or how old they are, asks here first.
        """
        if self.max_gap is None or not self.reach.past_only:
            return time
        return looked_at_from(time, np.flatnonzero(np.diff(self.events.step)), self.max_gap)

    def facts_as_of(self, facts: Facts) -> Facts:
        """Return facts at the times as of which they are looked at, each end by itself."""
        start, end = (np.where(step == UNKNOWN, UNKNOWN, self.as_of(step)) for step in (facts.start, facts.end))
        return replace(facts, start=start, end=end)

    def score(self, weights: Floats, subject: Ids, predicate: Ids, time: Ids) -> Floats:
        """Return the evidence of every entity as the object of each question, (questions, entities)."""
        scores = np.zeros((len(subject), self.entities), dtype=np.float32)
        self._walk(weights[None], scores, False, subject, predicate, time)
        return scores

    def score_one(self, weights: Floats, subject: Ids, predicate: Ids, objects: Ids, time: Ids) -> Floats:
        """Return the evidence of one entity as the object of each question, (questions,): as `score` has it."""
        from foretime.evidence.walk import RUNS, score_each

        time = self.as_of(time)
        out = np.empty(len(subject), dtype=np.float32)
        score_each(
            self.events, self.rules, self.reach, weights, subject, predicate, objects, time, out, min(RUNS, len(out))
        )
        if self.background is not None:
            from foretime.evidence.background_walk import score_background

            given, first = self._of_background(self.background), self.event_weights
            score_background(*given, weights, first, subject, predicate, objects, time, out, min(RUNS, len(out)))
        return out

    def gradient(self, scores: Floats, subject: Ids, predicate: Ids, time: Ids) -> Floats:
        """Return the gradient of the weights, given that of the scores, (questions, entities)."""
        from foretime.evidence.walk import RUNS

        tables = np.zeros((RUNS, self.weights), dtype=np.float32)
        self._walk(tables, scores, True, subject, predicate, time)
        return np.asarray(tables.sum(0))

    def softmax(
        self, weights: Floats, subject: Ids, predicate: Ids, time: Ids, row: Ids, answers: Ids
    ) -> tuple[float, Floats]:
        """Return the mean cross entropy of answers to questions among all entities, and the gradient of the weights.

        `row` says which question each of the `answers` is to, in ascending order.
        """
        from foretime.evidence.softmax_walk import softmax_all
        from foretime.evidence.walk import RUNS

        losses, tables = np.zeros(RUNS), np.zeros((RUNS, self.weights), dtype=np.float32)
        of_background = None if self.background is None else (*self.background, self.event_weights)
        begin = np.searchsorted(row, np.arange(len(subject) + 1))
        columns, (order, cuts) = (subject, predicate, self.as_of(time), answers, begin), self._order(subject, RUNS)
        asked = map(np.ascontiguousarray, columns)
        softmax_all(
            self.events, self.rules, self.reach, of_background, weights, tables, losses, *asked, order, cuts, RUNS
        )
        return float(losses.sum()), np.asarray(tables.sum(0))

    def record(self, subject: int, predicate: int, object_: int, time: int) -> NDArray[np.float64]:
        """Return every feature of one candidate, and where the events lie that ground it: the rows of `Sink`.

        The time is that of `as_of`, because the events that are found are counted from there.
        """
        from foretime.evidence.walk import record_one

        room = ROWS
        while True:
            rows = np.zeros((1 + room, 5))
            record_one(self.events, self.rules, self.reach, subject, predicate, time, object_, rows)
            size = int(rows[0, 0])
            if size <= room:
                return rows[1 : 1 + size]
            room = size

    def record_background(self, subject: int, predicate: int, object_: int, time: int) -> NDArray[np.float64]:
        """Return every feature of one candidate by facts without a time: (features, 3), feature, rule and value."""
        if self.background is None:
            return np.empty((0, 3))
        from foretime.evidence.background_walk import record_background

        lists, rules = self.background
        found = record_background(lists, rules, self.events, self.rules, self.reach, subject, predicate, time, object_)
        return np.asarray(found)

    def by_family(self) -> dict[str, EvidenceIndex]:
        """Return the index of each family in use on its own."""
        found = {
            name: replace(
                self,
                reach=self.reach._replace(**{other: other == name for other in FAMILY_NAMES}),
                background=None,
            )
            for name in FAMILY_NAMES
            if getattr(self.reach, name)
        }
        if self.background is None:
            return found
        no_events = self.reach._replace(**dict.fromkeys(FAMILY_NAMES, False))
        return {**found, BACKGROUND_FAMILY.name: replace(self, reach=no_events)}

    def _of_background(self, background: Background) -> tuple[Any, ...]:
        """Return what the walk through the facts without a time is given."""
        return background.lists, background.rules, self.events, self.rules, self.reach

    def _walk(self, tables: Floats, scores: Floats, learn: bool, subject: Ids, predicate: Ids, time: Ids) -> None:
        from foretime.evidence.walk import RUNS, walk_all  # numba is slow to load, and not every command walks

        time = self.as_of(time)
        runs = RUNS if learn else min(RUNS, len(subject))
        columns = (subject, predicate, time, *self._order(subject, runs))
        asked = map(np.ascontiguousarray, columns)  # a kernel is compiled anew for each layout
        given = tuple(asked)
        walk_all(self.events, self.rules, self.reach, tables, scores, learn, *given, runs)
        if self.background is not None:
            from foretime.evidence.background_walk import walk_background

            own = self._of_background(self.background)
            walk_background(*own, tables, self.event_weights, scores, learn, *given, runs)

    def _order(self, subject: Ids, runs: int) -> tuple[Ids, Ids]:
        """Return the questions subject by subject, and where to cut them into runs that cost about the same.

        A subject with many partners costs more.
        """
        order = np.argsort(subject * SCATTER % (1 << 31), kind="stable")
        if runs <= 1:
            return order, np.array([0, len(order)])
        subject = subject[order]
        pair, node = self.events.pair, self.events.node
        partners = pair[node[subject + 1]] - pair[node[subject]]
        cost = np.append(0, np.cumsum(partners + max(1.0, partners.mean() if len(partners) else 0.0)))
        return order, np.searchsorted(cost, np.linspace(0, cost[-1], runs + 1))


def build_index(graph: Graph, config: EvidenceConfig, rules: Rules | None = None) -> EvidenceIndex:
    """Return the evidence index of a graph; `rules` are mined ones, of which the paths are used.

    The events are those of the configured splits, and the rules that have a weight are those of train.
    """
    sizes = (len(graph.entities), len(graph.predicates), len(graph.timeline))
    facts, fading = concatenate([graph.facts(split) for split in config.splits]), bool({*config.families} & {*RATED})
    events = event_lists(facts, *sizes, fading)
    # which rules have a weight must not depend on facts that are asked about
    learned = events if config.splits == ["train"] else event_lists(graph.train, *sizes)
    vocabulary = rule_vocabulary(
        learned, config.pair_support, rules if "path" in config.families else None, config.path_rules
    )
    settings = {
        name: name in config.families if name in FAMILY_NAMES else getattr(config, name) for name in Reach._fields
    }
    background = background_of(graph.background, learned, config.pair_support) if config.background else None
    return EvidenceIndex(len(graph.entities), events, vocabulary, Reach(**settings), background)
