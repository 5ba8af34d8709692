"""Reasons that are of no rule: what the graph says of the candidate as a sentence, and what the embedding says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from foretime.evidence.reasons import EVENTS_KEPT, Event
from foretime.inference.explanation.attribution import Key, topic_of_key
from foretime.inference.explanation.events import DatedEvent, SharedNeighbours
from foretime.inference.explanation.phrases import isolated, listed
from foretime.inference.explanation.reasons import ShownReason
from foretime.inference.explanation.vocabulary import FactIds, GraphWords
from foretime.reranker.features.words import AT_THE_END
from foretime.tables import plural

_COMPARED = {
    "pair": (
        "events between the two, compared",
        "have fewer or more distant events with {given}",
        "have more or nearer events with {given}",
    ),
    "object": (
        "the same with others, compared",
        "have {what} with others less often or farther away in time",
        "have {what} with others more often or nearer in time",
    ),
    "active": ("activity, compared", "are less active around then", "are more active around then"),
    "affinity": (
        "common neighbours, compared",
        "have fewer neighbours in common with {given}",
        "have more neighbours in common with {given}",
    ),
    "recurrence": (
        "the same event so far, compared",
        "have had {what} with {given} less often or longer ago",
        "have had {what} with {given} more often or more recently",
    ),
    "contact": (
        "events between the two, compared",
        "have had fewer or older events with {given}",
        "have had more or newer events with {given}",
    ),
    "popularity": (
        "the same with others so far, compared",
        "have had {what} with others less often or longer ago",
        "have had {what} with others more often or more recently",
    ),
    "background": (
        "facts without a time, compared",
        "have less in common with {given} by facts without a time",
        "have more in common with {given} by facts without a time",
    ),
    "path": ("paths, compared", "have fewer paths to {given}", "have more paths to {given}"),
}
"""The title, and what is said of other answers where no rule of this one accounts for what the evidence adds."""


class GraphFeature(NamedTuple):
    """A feature of a statement: its name, its value, and what it adds."""

    name: str
    value: float
    contribution: float


class _Statement(NamedTuple):
    title: str
    sentence: str
    clause: str
    events: Sequence[Event] = ()
    facts: Sequence[DatedEvent] = ()
    """Events that have their words already."""
    in_all: int = 0
    """How many events there are in all, where they are not all given."""


class _About(NamedTuple):
    """All that a statement may be made of."""

    asked: FactIds
    key: Key
    amount: float
    features: Sequence[GraphFeature]
    between: Sequence[Event]
    shared: SharedNeighbours | None

    def value(self, name: str) -> float:
        """Return the value of a feature, the larger of those at both ends."""
        names = (name, f"{name}{AT_THE_END}")
        return max((one.value for one in self.features if one.name in names), default=0.0)


class Statements:
    """Puts what is of no rule into the words of a graph."""

    def __init__(self, words: GraphWords) -> None:
        self._words = words

    def show(
        self,
        asked: FactIds,
        key: Key,
        amount: float,
        features: Sequence[GraphFeature] = (),
        between: Sequence[Event] = (),
        shared: SharedNeighbours | None = None,
    ) -> ShownReason:
        """Return the reason of a statement that adds an amount to the score.

        `features` are those it is made of, `between` all events between the two, and `shared` the co-neighbours.
        """
        kind = str(key[0])
        about = _About(asked, key, amount, features, between, shared)
        said: _Statement = getattr(self, f"_{kind}")(about)  # each kind has its own sentence
        return self._reason(about, kind, said)

    def _reason(self, about: _About, family: str, said: _Statement) -> ShownReason:
        events = self._dated(about, said.events) if said.events else _evenly(said.facts, about.amount)
        return ShownReason(
            family,
            topic_of_key(about.key),
            said.title,
            said.sentence,
            said.clause,
            events=events,
            rest=about.amount - math.fsum(event.contribution for event in events),
            groundings=said.in_all or len(said.events),
            key=about.key,
        )

    def _dated(self, about: _About, events: Sequence[Event]) -> tuple[DatedEvent, ...]:
        """Return the first events with their shares of the amount: the nearer in time, the more."""
        asked = about.asked
        near = [1 / (1 + abs(_distance(asked, event))) for event in events]
        whole, found = math.fsum(near), []
        for event, weight in list(zip(events, near, strict=True))[:EVENTS_KEPT]:
            end = min(asked.times, key=lambda end: abs(event.time - asked.times[end]))
            found.append(self._words.dated(event, asked.times[end], end, about.amount * (weight / whole)))
        return tuple(found)

    def _both(self, asked: FactIds) -> tuple[str, str]:
        return self._words.name(asked.subject), self._words.name(asked.object)

    def _met(self, about: _About) -> _Statement:
        asked, between = about.asked, about.between
        title, both = "how often and how lately the two met", listed(list(self._both(asked)))
        if not between:
            never = f"{both} have no known events with each other{' so far' if asked.past_only else ''}"
            return _Statement(title, never, never)
        words, nearest = self._words, between[0]
        what, when = words.event(nearest), words.when(_distance(asked, nearest))
        among = "" if len(between) == 1 else f", one of {len(between):,} events between the two"
        sentence = f"{what} {when} ({words.label(nearest.time)}){among or ', the only event between the two'}"
        # the number first: a reader would take the nearest one, named alone, for what decides
        many = f"there were {len(between):,} events between the two, the nearest {what} {when}"
        return _Statement(title, sentence, many if among else f"there was {what} {when}", between)

    def _same(self, about: _About) -> _Statement:
        asked = about.asked
        what = self._words.directed(asked.predicate, *self._both(asked))
        none = f"there is no other known {what}{' so far' if asked.past_only else ''}"
        return _Statement(f"{self._words.quoted(asked.predicate)} between the two", none, none)

    def _inverse(self, about: _About) -> _Statement:
        asked = about.asked
        what = self._words.directed(asked.predicate, *reversed(self._both(asked)))
        none = f"there is no known {what}"
        return _Statement(f"{self._words.quoted(asked.predicate)} between the two, the other way", none, none)

    def _object(self, about: _About) -> _Statement:
        asked = about.asked
        words = self._words
        what = words.directed(asked.predicate, "others", words.name(asked.object))
        inverse = words.is_inverse(asked.predicate)
        title = f"{words.quoted(asked.predicate)} {'with' if inverse else 'by'} others"
        if about.value("object_events") == about.value("object_same_month") == 0:
            return _Statement(title, f"there is no known {what}", f"there is no known {what}")
        said = f"{what} is known, but not near that {words.unit}"
        return _Statement(title, said, said)

    def _active(self, about: _About) -> _Statement:
        asked = about.asked
        name, unit = self._words.name(asked.object), self._words.unit
        if about.value("active_week") == about.value("object_week") == 0:
            said = f"{name} is not known to be active with others near that {unit}"
        else:
            said = f"{name} is active with others"
        return _Statement("active with others", said, said)

    def _affinity(self, about: _About) -> _Statement:
        asked = about.asked
        both = listed(list(self._both(asked)))
        count = "no" if about.value("common_partners") == 0 else "some"
        said = f"{both} have {count} neighbours in common"
        return _Statement("common neighbours", said, said)

    def _common(self, about: _About) -> _Statement:
        both = listed(list(self._both(about.asked)))
        met = any(one.value > 0 for one in about.features if one.name.endswith(("_now", "_week")))
        said = f"{both} {'dealt' if met else 'are not known to have dealt'} with common neighbours around then"
        return _Statement("common neighbours", said, said)

    def _does(self, about: _About) -> _Statement:
        what = self._words.directed(about.asked.predicate, self._words.name(about.asked.subject), "others")
        known = about.value("subject_events") or about.value("subject_same_month")
        said = f"{what} is known, too" if known else f"there is no known {what}"
        return _Statement(f"{self._words.quoted(about.asked.predicate)} by the subject with others", said, said)

    def _subject_active(self, about: _About) -> _Statement:
        name, known = self._words.name(about.asked.subject), about.value("subject_week")
        said = f"{name} is {'' if known else 'not known to be '}active with others near that {self._words.unit}"
        return _Statement("the subject active with others", said, said)

    def _habit(self, about: _About) -> _Statement:
        usual = "usual" if about.amount >= 0 else "unusual"
        both, what = listed(list(self._both(about.asked))), self._words.quoted(about.asked.predicate)
        said = f"{what} is {usual} for {both}, by who they are and how often it happens"
        return _Statement("how usual the predicate is", said, said)

    def _known_between(self, about: _About) -> _Statement:
        facts, both = self._words.known_between(about.asked), listed(list(self._both(about.asked)))
        said = f"background: {'; '.join(facts)}" if facts else f"{both} have no known facts without a time"
        return _Statement("facts without a time between the two", said, said)

    def _known_around(self, about: _About) -> _Statement:
        both = listed(list(self._both(about.asked)))
        shared = about.value("background_common") or about.value("background_shared")
        said = f"background: {both} have {'' if shared else 'no '}neighbours in common by facts without a time"
        return _Statement("facts without a time around the two", said, said)

    def _names(self, about: _About) -> _Statement:
        given, name = self._both(about.asked)
        none = GraphFeature("name_overlap", 0.0, 0.0)
        first = max(about.features, key=lambda one: abs(one.contribution), default=none)
        if first.name.startswith(("name_overlap", "name_shared")):
            words = " and ".join(f'"{isolated(word)}"' for word in self._words.shared_words(about.asked)[:2])
            said = f"the names of {given} and {name} {f'share {words}' if words else 'have no words in common'}"
        else:
            usual = "has been seen" if first.value > 0 else "has not been seen"
            said = f"{self._words.quoted(about.asked.predicate)} {usual} with other names like {name}"
        return _Statement("the names", said, said)

    def _term(self, about: _About) -> _Statement:
        lasting, both = topic_of_key(about.key) == "lasting", listed(list(self._both(about.asked)))
        when, fits = (
            " whatever the time" if lasting else " at this time",
            "fits" if about.amount >= 0 else "does not fit",
        )
        said = f"what the model has learned of {both}{when} {fits} {self._words.quoted(about.asked.predicate)}"
        title = "what the embedding says" + (" regardless of time" if lasting else " of this time")
        return _Statement(title, said, said)

    def _compared(self, about: _About) -> _Statement:
        title, less, more = _COMPARED[str(about.key[1])]
        given, what = self._words.name(about.asked.subject), self._words.quoted(about.asked.predicate)
        # what supports this answer is that others have less
        said = f"other answers {(less if about.amount >= 0 else more).format(given=given, what=what)}"
        return _Statement(title, said, said)

    def _usual(self, about: _About) -> _Statement:
        said = "what is usual for such questions, whatever the answer"
        return _Statement(said, said, said)

    def _place(self, about: _About) -> _Statement:
        said = f"all in all it stands {'above' if about.amount >= 0 else 'below'} the other answers"
        return _Statement("how it stands among the other answers", said, said)

    def _behind(self, about: _About) -> _Statement:
        said = "it is behind the answers that are compared closely"
        return _Statement("behind the answers that are compared closely", said, said)

    def _shared(self, about: _About) -> _Statement:
        shared, (given, name) = about.shared, self._both(about.asked)
        title = "others with the same neighbours"
        if shared is None or not shared.co_neighbours:
            none = f"no one who shares a neighbour with {given} is known with {name}"
            return _Statement(title, none, none)
        # who has the answer at the time asked about comes first, then the heaviest
        known = sorted(
            shared.co_neighbours, key=lambda one: one.events[2].mark != "same time" if one.events[2:] else True
        )
        first = known[0]
        clause = f"{isolated(first.name)}, who shares {isolated(first.via)} with {given}, is known with {name} too"
        left = len(shared.co_neighbours) - 1
        more = f", and so {'is' if left == 1 else 'are'} {plural(left, 'other')}" if left else ""
        facts = [event for one in known for event in one.events[:3]]
        return _Statement(title, clause + more, clause, facts=facts[:EVENTS_KEPT], in_all=len(facts))


def _distance(asked: FactIds, event: Event) -> int:
    return min((event.time - step for step in asked.times.values()), key=abs)


def _evenly(events: Sequence[DatedEvent], amount: float) -> tuple[DatedEvent, ...]:
    """Return events with equal shares of an amount."""
    return tuple(event._replace(contribution=amount / len(events)) for event in events)
