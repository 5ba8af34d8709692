"""The names of a graph as they stand in sentences: entities, predicates in quotation marks, events, times."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from foretime.data.graph import Graph
from foretime.evidence.reasons import Event
from foretime.inference.explanation.events import DatedEvent, Mark
from foretime.inference.explanation.phrases import isolated, when_words

_WORD = re.compile(r"\w+")


class FactIds(NamedTuple):
    """The candidate that reasons are of, as ids: as the object of a question, whose predicate may be an inverse.

    `times` is the step asked about, or those of the ends `start` and `end`.
    """

    subject: int
    predicate: int
    object: int
    times: dict[str, int]
    past_only: bool = False

    @property
    def first(self) -> int:
        """The step asked about, or the first of both."""
        return next(iter(self.times.values()))


class GraphWords:
    """Puts ids into the words of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.predicates, self.label = graph.predicates, graph.timeline.label
        self._entity = graph.entities.name
        # where steps are left out or of several lengths, a step is not a day
        self.unit = graph.timeline.unit if graph.timeline.regular else "step"
        self._roles = ("from", "to") if graph.has_intervals else ("by", "towards")
        self._background = graph.background

    def name(self, entity: int) -> str:
        """Return the name of an entity for a sentence."""
        return isolated(self._entity(entity))

    def is_inverse(self, predicate: int) -> bool:
        """Return whether a predicate is an inverse."""
        return predicate >= len(self.predicates)

    def predicate(self, predicate: int) -> str:
        """Return the bare name of a predicate, that of an inverse too."""
        return self.predicates.name(predicate % len(self.predicates))

    def quoted(self, predicate: int) -> str:
        """Return the name of a predicate in quotation marks, for a sentence."""
        return f'"{isolated(self.predicate(predicate))}"'

    def happened(self, predicate: int, who: str, whom: str) -> str:
        """Return an event in words, from the names of its two: `"Make a visit" by Iran towards Iraq`."""
        by, towards = self._roles
        return f"{self.quoted(predicate)} {by} {who} {towards} {whom}"

    def in_slot(self, slot: str, name: str) -> str:
        """Return the name in a slot as a part of a sentence: `by Iran`, `"Make a visit"`, `to Iraq`."""
        shown = isolated(name)
        return {"subject": f"{self._roles[0]} {shown}", "predicate": f'"{shown}"', "object": f"to {shown}"}[slot]

    def directed(self, predicate: int, first: str, second: str) -> str:
        """Return the same for a predicate that may be an inverse: then the second acts on the first."""
        return self.happened(predicate, *((second, first) if self.is_inverse(predicate) else (first, second)))

    def event(self, event: Event) -> str:
        """Return an event in words, without its time."""
        return self.happened(event.predicate, self.name(event.subject), self.name(event.object))

    def fact(self, subject: int, predicate: int, object_: int) -> str:
        """Return a fact without a time in words: `"capital of" from Berlin to Germany`."""
        return f"{self.quoted(predicate)} from {self.name(subject)} to {self.name(object_)}"

    def known_between(self, asked: FactIds) -> list[str]:
        """Return the facts without a time between the two in words."""
        known, both = self._background, (asked.subject, asked.object)
        rows = np.flatnonzero(np.isin(known.subject, both) & np.isin(known.object, both))
        columns = (column[rows].tolist() for column in known.columns()[:3])
        found = [fact for fact in zip(*columns, strict=True) if {fact[0], fact[2]} == set(both)]
        return list(dict.fromkeys(self.fact(*fact) for fact in found))

    def shared_words(self, asked: FactIds) -> list[str]:
        """Return the words that the names of the two have in common."""
        own, other = (_WORD.findall(self._entity(one)) for one in (asked.subject, asked.object))
        there = {word.casefold() for word in other}
        return list(dict.fromkeys(word for word in own if word.casefold() in there))

    def when(self, distance: int) -> str:
        """Return where an event lies from the time asked about."""
        return when_words(distance, self.unit)

    def dated(self, event: Event, asked: int, end: str = "", contribution: float = 0.0) -> DatedEvent:
        """Return an event with its time and its mark, under bare names."""
        who, whom = self._entity(event.subject), self._entity(event.object)
        what, mark = self.predicate(event.predicate), mark_of((event.time,), (asked,))
        return DatedEvent(mark, who, what, whom, self.label(event.time), end, contribution)


def mark_of(times: tuple[int, ...], asked: tuple[int, ...]) -> Mark:
    """Return where the times of a fact lie from those asked about."""
    return "before" if max(times) < min(asked) else "after" if min(times) > max(asked) else "same time"
