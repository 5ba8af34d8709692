"""What a user takes away from the evidence or adds to it, as text or as values: events, rules and predicates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph
from foretime.errors import DataError, QuestionError, suggestion
from foretime.evaluation.slots import SLOTS
from foretime.files import parse_json
from foretime.inference.answers import Time, fact_text
from foretime.inference.explanation.events import DatedEvent
from foretime.rules.parsing import parse_line, resolve
from foretime.rules.rule import Rule, RuleIds

EventFields = Sequence[Time] | Mapping[str, Time] | DatedEvent
"""An event in names: subject, predicate, object, and a time or two ends; or by the names of its slots."""
Removal = str | Rule | EventFields
"""An event, a rule or a predicate; as text an event is `subject | predicate | object | time`, or JSON."""
Addition = str | EventFields
BETWEEN_ENDS = " – "
NEAR = 3
"""How many events are offered in place of one that is not there."""
_ARROW = re.compile(r"<=|<-|⇐|←")
_FORM = 'an event is "subject | predicate | object | time"'


class EventIds(NamedTuple):
    """An event as ids. With `whole` it is the fact with these ends, otherwise any fact with an end at `start`."""

    subject: int
    predicate: int
    object: int
    start: int
    end: int
    whole: bool

    def matches(self, facts: Facts) -> NDArray[np.bool_]:
        """Return which facts are this event, (facts,)."""
        same = (facts.subject == self.subject) & (facts.predicate == self.predicate) & (facts.object == self.object)
        first, last = facts.start == self.start, facts.end == self.end
        return np.asarray(same & (first & last if self.whole else first | last))

    def fact(self) -> Facts:
        """Return the event as a fact."""
        return Facts(*(np.array([value], dtype=np.int64) for value in self[:5]))


def read_removal(given: Removal, graph: Graph) -> EventIds | RuleIds | int:
    """Return the event, the rule or the predicate that is meant; raise `QuestionError` if it is none of them."""
    if isinstance(given, Rule):
        given = given.statement
    if not isinstance(given, str):
        return read_event(given, graph)
    if given.strip() in graph.predicates:
        return graph.predicates.id(given.strip())
    if _ARROW.search(given):
        return _read_rule(given, graph)
    if given.lstrip().startswith("{") or any(sign in given for sign in "\t|") or given.count(",") >= len(SLOTS) - 1:
        return read_event(given, graph)
    near = suggestion(given, graph.predicates.names)
    raise QuestionError(f"{given!r} is no predicate{near or f'; {_FORM}, a rule is written as rules show prints it'}")


def read_event(given: Addition, graph: Graph) -> EventIds:
    """Return an event whose names and times the graph has; raise `QuestionError` otherwise."""
    subject, predicate, object_, *times = _fields(given, graph)
    times = [part for time in times for part in time.split(BETWEEN_ENDS)]
    if not 1 <= len(times) <= 2 or all(_is_open(time) for time in times):
        raise QuestionError(f"{given!r} has {len(times)} times; {_FORM}, with start and end in a graph of intervals")
    steps = [UNKNOWN if _is_open(time) else graph.timeline.step(time) for time in times]
    ids = graph.entity_finder.id(subject), graph.predicate_finder.id(predicate), graph.entity_finder.id(object_)
    return EventIds(*ids, steps[0], steps[-1], whole=len(steps) == 2)


def _is_open(time: str) -> bool:
    return time in ("", "?", "None")


def _fields(given: Addition, graph: Graph) -> list[str]:
    """Return the names and the times of an event."""
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = parse_json(given)
        except ValueError as error:
            raise QuestionError(f"{given!r} is not valid JSON: {error}; {_FORM}") from None
    if isinstance(given, DatedEvent):
        given = given[1:5]
    if isinstance(given, Mapping):
        times = ("time",) if given.get("time") is not None else ("start", "end")
        if missing := [slot for slot in SLOTS[:3] if given.get(slot) is None]:
            raise QuestionError(f"the event {dict(given)!r} has no {missing[0]}; give subject, predicate and object")
        given = [given[slot] for slot in SLOTS[:3]] + [str(given.get(name)) for name in times]
    if isinstance(given, str):
        given = _split(given, graph)
    fields = [str(field).strip() for field in given]
    if not 4 <= len(fields) <= 5:
        raise QuestionError(f"{given!r} has {len(fields)} fields; {_FORM}")
    return fields


def _split(text: str, graph: Graph) -> Sequence[str]:
    """Return the fields of an event: between tabs or bars, or between commas where the names leave no doubt."""
    for sign in "\t|":
        if sign in text:
            return text.split(sign)
    inner = text.strip()
    if inner.startswith("(") and inner.endswith(")"):
        inner = inner[1:-1]
    parts = inner.split(",")
    found = [fields for fields in _divisions(parts, graph.has_intervals) if _names_fit(fields, graph)]
    if len(found) == 1:
        return found[0]
    if not found and len(parts) == len(SLOTS):
        return parts  # the names are wrong, and the next look at them says which
    why = "can be read in several ways" if found else "has no names of the graph"
    raise QuestionError(f"{text!r} {why} between its commas; {_FORM}")


def _divisions(parts: list[str], intervals: bool) -> Iterator[list[str]]:
    """Yield every way to make three names of the parts that stand before one time, or before two ends."""
    for times in (1, 2) if intervals else (1,):
        names = parts[:-times]
        for one, other in combinations(range(1, len(names)), 2):
            joined = (",".join(names[a:b]).strip() for a, b in ((0, one), (one, other), (other, len(names))))
            yield [*joined, *parts[-times:]]


def _names_fit(fields: list[str], graph: Graph) -> bool:
    return fields[0] in graph.entities and fields[1] in graph.predicates and fields[2] in graph.entities


def _read_rule(text: str, graph: Graph) -> RuleIds:
    """Return a rule without its times: the evidence has a weight for each distance, and all of them are meant."""
    try:
        rule = parse_line(text)
        times = ("t+t1", "t") if len(rule.body) == 1 else ("", "", "")  # an event may support its own predicate
        head, *body = (atom._replace(time=time) for atom, time in zip((rule.head, *rule.body), times, strict=False))
        return resolve(Rule(head, tuple(body), rule.measures), graph.predicates)
    except DataError as error:
        raise QuestionError(f"{text!r} is no rule: {error}") from None


def event_text(facts: Facts, row: int, graph: Graph) -> str:
    """Return a fact in names."""
    subject, predicate, object_, *ends = (int(column[row]) for column in facts.columns())
    times = dict.fromkeys("?" if step == UNKNOWN else graph.timeline.label(step) for step in ends)
    names = graph.entities.name(subject), graph.predicates.name(predicate), graph.entities.name(object_)
    return fact_text(dict(zip(SLOTS, (*names, BETWEEN_ENDS.join(times)), strict=True)))


def nearest_facts(event: EventIds, facts: Facts) -> Ids:
    """Return the facts that are most like an event: those that share most of its slots, the nearest in time first."""
    names = ((facts.subject, event.subject), (facts.predicate, event.predicate), (facts.object, event.object))
    shared = sum((column == value).astype(np.int64) for column, value in names)
    start, end = facts.known_ends()
    far = np.minimum(np.abs(start - event.start), np.abs(end - event.start))
    order: Ids = np.lexsort([far, -(shared + (far == 0))])[:NEAR]
    return np.asarray(order[shared[order] >= 2])
