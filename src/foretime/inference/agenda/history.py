"""What the past says of an event that may come: rates of it and of its slots, recency, and the day of the week."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.evidence.families import FADING
from foretime.inference.agenda.counts import Counted, FadingCounts, Floats

DAYS, WEEK, MONTH, SEASON = range(len(FADING))
RATES = {
    "spo": (DAYS, WEEK, MONTH, SEASON),
    "ops": (MONTH,),
    "sp": (WEEK, SEASON),
    "so": (WEEK, SEASON),
    "po": (MONTH,),
    "s": (WEEK, SEASON),
    "p": (WEEK, SEASON),
    "o": (WEEK, SEASON),
}
"""What is counted, and how fast it fades. The letters are the slots that are the same; `ops` has both ends swapped."""
OFTEN = ("spo", "sp", "so")
"""What is counted on a second scale, ln(1 + rate), which tells the frequent from the very frequent."""
RATE_NAMES = ("days", "week", "month", "season")
COLUMNS = (
    "constant",
    *(f"{key} {RATE_NAMES[rate]}" for key, rates in RATES.items() for rate in rates),
    *(f"{key} {RATE_NAMES[rate]}, often" for key in OFTEN for rate in RATES[key]),
    "spo count",
    "spo recency",
)
"""What is known of an event as of the start."""
STEP_COLUMNS = ("horizon", "spo cycle", "cycle")
"""What is known of an event at one step of the window."""
CYCLES = {"hour": 24, "day": 7, "month": 12}
"""Steps after which the calendar repeats, by the unit of the timeline."""
LEAST_RATE, LEAST_CYCLE = 0.02, 0.05
"""Added to rates before their logarithm is taken."""


class Triples(NamedTuple):
    """Events that may come, without a time: (events,) each."""

    subject: Ids
    predicate: Ids
    object: Ids

    def take(self, rows: NDArray[Any]) -> Triples:
        """Return the chosen events."""
        return Triples(*(column[rows] for column in self))


class EventHistory:
    """The events of a graph, counted by slots, as they stand before any step."""

    def __init__(self, graph: Graph, facts: Facts) -> None:
        self._entities, self._predicates = len(graph.entities), len(graph.predicates)
        timeline = graph.timeline
        self._period = CYCLES.get(timeline.unit, 1) if timeline.regular else 1
        self._first_tick = int(timeline.starts[0])
        rows = np.stack([facts.subject, facts.predicate, facts.object, facts.known_ends()[0]])
        *slots, self.time = np.unique(rows, axis=1)
        self.events = Triples(*slots)
        self._counts = {key: FadingCounts(self.key(key, self.events), self.time) for key in RATES if key != "ops"}
        phase = self._phase(self.time)
        self._cycles = FadingCounts(self.key("spo", self.events) * self._period + phase, self.time)
        self._graph_cycles = FadingCounts(phase, self.time)

    def key(self, slots: str, triples: Triples) -> Ids:
        """Return one number for the named slots of each event."""
        sizes = {"s": self._entities, "p": self._predicates, "o": self._entities}
        columns = dict(zip("spo", triples, strict=True))
        found = np.zeros(len(triples.subject), dtype=np.int64)
        for slot in slots:
            found = found * sizes[slot] + columns[slot]
        return found

    def _counted(self, slots: str, triples: Triples, start: int) -> Counted:
        if slots == "ops":
            swapped = Triples(triples.object, triples.predicate, triples.subject)
            return self._counts["spo"].at(self.key("spo", swapped), start)
        return self._counts[slots].at(self.key(slots, triples), start)

    def happened(self, start: int) -> Triples:
        """Return what has happened at least once before a step, without its times."""
        keys = self._counts["spo"].before(start)
        pair, object_ = np.divmod(keys, self._entities)
        subject, predicate = np.divmod(pair, self._predicates)
        return Triples(subject, predicate, object_)

    def seen_entities(self, start: int) -> NDArray[np.bool_]:
        """Return which entities have had an event before a step, (entities,)."""
        seen = np.zeros(self._entities, dtype=bool)
        for slot in "so":
            seen[self._counts[slot].before(start)] = True
        return seen

    def between(self, start: int, end: int) -> Ids:
        """Return the keys of the events from one step to before another, each once."""
        rows = (self.time >= start) & (self.time < end)
        return np.unique(self.key("spo", self.events.take(rows)))

    def rate(self, triples: Triples, start: int, rate: int = SEASON, key: str = "spo") -> Floats:
        """Return the fading count of each event before a step."""
        return np.asarray(self._counted(key, triples, start).rates[rate])

    def recency(self, triples: Triples, start: int) -> Ids:
        """Return the step at which each event happened last before a step; −1 if never."""
        return self._counted("spo", triples, start).last

    def frequency(self, triples: Triples, start: int) -> Ids:
        """Return how often each event happened before a step."""
        return self._counted("spo", triples, start).events

    def features(self, triples: Triples, start: int) -> Floats:
        """Return `COLUMNS` of each event as of a step, (events, columns)."""
        counted = {key: self._counted(key, triples, start) for key in RATES}
        own = counted["spo"]
        rates = [np.log(counted[key].rates[rate] + LEAST_RATE) for key in RATES for rate in RATES[key]]
        often = [np.log1p(counted[key].rates[rate]) for key in OFTEN for rate in RATES[key]]
        columns = [np.ones(len(own.events)), *rates, *often, np.log1p(own.events), np.log(start - own.last)]
        return np.stack(columns, axis=1)

    def step_features(self, triples: Triples, start: int, step: int) -> Floats:
        """Return `STEP_COLUMNS` of each event at a step, as of the start, (events, columns)."""
        phase = self._phase(np.array([step]))
        own = self._cycles.at(self.key("spo", triples) * self._period + phase, start).rates[SEASON]
        usual = self.rate(triples, start) / self._period
        every = self._graph_cycles.at(np.arange(self._period), start).rates[SEASON]
        whole = np.log((every[phase[0]] + 1) / (every.mean() + 1))
        cycle = np.log((own + LEAST_CYCLE) / (usual + LEAST_CYCLE))
        return np.stack([np.full(len(own), np.log1p(step - start)), cycle, np.full(len(own), whole)], axis=1)

    def _phase(self, steps: Ids) -> Ids:
        return np.asarray((self._first_tick + steps) % self._period)
