"""The probability of a candidate for the first of two open slots, taken apart: the reasons add up to it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from foretime.evidence.reasons import EVENTS_KEPT, Event
from foretime.inference.explanation.events import DatedEvent
from foretime.inference.explanation.phrases import times_words
from foretime.inference.explanation.reasons import ShownReason
from foretime.inference.explanation.vocabulary import GraphWords
from foretime.inference.first_slot import FirstSlot
from foretime.tables import plural

COUNTS, LEARNED = "counts", "learned"
"""The two ways in which a first slot is judged."""
LATELY = 30
"""Within how many steps of the time asked about an event is counted as a late one in the sentence."""
_ANYONE = "anyone"


class HalfFact(NamedTuple):
    """A fact as ids with the first slot filled in; the end that is still open is None."""

    predicate: int
    subject: int | None = None
    object: int | None = None


class FirstReasons:
    """Puts the probability of a candidate for the first slot, which `fact` has, into the words of a graph."""

    def __init__(self, words: GraphWords, slot: FirstSlot, fact: HalfFact) -> None:
        self._words, self._slot, self._fact = words, slot, fact
        ends = (_ANYONE if end is None else words.name(end) for end in (fact.subject, fact.object))
        self._what = words.happened(fact.predicate, *ends)

    def find(self, candidate: int) -> list[ShownReason]:
        """Return the reasons; their contributions add up to the probability of the candidate."""
        slot, counts = self._slot, self._slot.counts
        share = 1.0 if slot.learned is None else 0.5
        found = [self._counted(candidate, share / counts.whole)]
        if slot.learned is not None:
            found.append(self._learned(candidate, float(slot.learned[candidate]), share))
        said = "what is usual in general, whatever happened lately"
        general = float(counts.usual[candidate]) * share / counts.whole
        return [*found, ShownReason("usual", "general", said, said, said, rest=general, key=("usual",))]

    def terms(self, candidate: int) -> dict[str, float]:
        """Return how much of the probability each way of judging gives."""
        counted, learned = float(self._slot.counts.chances[candidate]), self._slot.learned
        if learned is None:
            return {COUNTS: counted}
        return {COUNTS: counted / 2, LEARNED: float(learned[candidate]) / 2}

    def _counted(self, candidate: int, share: float) -> ShownReason:
        """Return the reason of the events that count for a candidate, each by how near in time it is."""
        counts, time = self._slot.counts, self._slot.time
        rows = np.flatnonzero(counts.candidate == candidate)
        rows = rows[np.argsort(np.abs(counts.time[rows] - time), kind="stable")]
        events = tuple(self._dated(int(row), share) for row in rows[:EVENTS_KEPT])
        amount = math.fsum((counts.weight[rows] * share).tolist())
        late = int((np.abs(counts.time[rows] - time) <= LATELY).sum())
        sentence, clause = self._said(rows.tolist(), late)
        return ShownReason(
            COUNTS,
            "others",
            "how often and how lately it happened, whoever the other was",
            sentence,
            clause,
            events=events,
            rest=amount - math.fsum(event.contribution for event in events),
            groundings=len(rows),
            key=(COUNTS,),
        )

    def _said(self, rows: list[int], late: int) -> tuple[str, str]:
        """Return the sentence and the clause of events, the nearest first."""
        so_far = "so far" if self._slot.past_only else "in all"
        if not rows:
            none = f"there is no known {self._what}{' so far' if self._slot.past_only else ''}"
            return none, none
        words, time = self._words, int(self._slot.counts.time[rows[0]])
        other = words.name(int(self._slot.counts.other[rows[0]]))
        often = f"{times_words(late) if late else 'never'} within {plural(LATELY, words.unit)}"
        total = f"{times_words(len(rows))} {so_far}"
        sentence = f"{self._what}: {often}, {total} ({'nearest ' if rows[1:] else ''}{other}, {words.label(time)})"
        return sentence, f"there was {self._what} {words.when(time - self._slot.time)} ({other}), {often}"

    def _dated(self, row: int, share: float) -> DatedEvent:
        """Return the event of a row with its share of the probability."""
        counts, fact, other = self._slot.counts, self._fact, int(self._slot.counts.other[row])
        subject, object_ = (other if end is None else end for end in (fact.subject, fact.object))
        event = Event(subject, fact.predicate, object_, int(counts.time[row]))
        return self._words.dated(event, self._slot.time, contribution=float(counts.weight[row]) * share)

    def _learned(self, candidate: int, chance: float, share: float) -> ShownReason:
        usual, fact = self._slot.counts.usual, self._fact
        fits = "fits" if chance >= usual[candidate] / usual.sum() else "hardly fits"
        who = next(self._words.name(end) for end in (fact.subject, fact.object) if end is not None)
        what = self._words.quoted(fact.predicate)
        said = f"what the model has learned of {who} and of its other events around then {fits} {what}"
        title = "what usually goes with the other events around then"
        return ShownReason(LEARNED, "others", title, said, said, rest=chance * share, key=(LEARNED,))
