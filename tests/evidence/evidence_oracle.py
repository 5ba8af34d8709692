"""Grounded features by plain loops over a list of events: slow, short, and written from the definitions alone.

What a question may not see is taken away before anything is looked at, so here nothing can be its own evidence.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from foretime.data.facts import UNKNOWN, inverse
from foretime.evidence.families import FEATURES, GROUPS, RULED, FeatureGroup, Reach

Fact = tuple[int, int, int, int, int]
"""Subject, predicate, object, start, end."""
PairRule = tuple[int, int]
"""Head and body."""
PathRule = tuple[int, int, int]
"""Head, first and second body predicate."""
OFFSET_EDGES = (1, 2, 4, 7, 14, 30, 90)
COUNT_EDGES = (1, 2, 4, 8, 16, 32, 64)
AFFINITY_EDGES = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32)
RATE_EDGES = tuple(2.0**power for power in range(-7, 8))
DAYS, WEEK, MONTH, SEASON = 2, 8, 30, 120
LONG = 5
"""After how many times the steps of a rate events are no longer added up one by one."""
SOON, DOUBT = 20, 20
"""Within how many steps a head follows its body, and how many bodies without a head a confidence begins with."""


class Event(NamedTuple):
    """One end of a fact, read in one direction; `twin` is the other end, or the same one if there is none."""

    subject: int
    predicate: int
    object: int
    time: int
    twin: int


class Question(NamedTuple):
    """(subject, predicate, ?, time)."""

    subject: int
    predicate: int
    time: int


class Feature(NamedTuple):
    """A feature of a group: its value, the body of its rule if it is of one, and every grounding.

    A grounding is one event, two events of a path, or the events by which subject and candidate know a partner.
    """

    group: FeatureGroup
    value: float
    groundings: list[tuple[Event, ...]]
    body: tuple[int, ...] = ()

    @property
    def place(self) -> int:
        """The bucket of the value."""
        return PLACES[self.group.kind](self.value)


class Rules(NamedTuple):
    """The rules with weights of their own, each with its place in the order of heads and bodies."""

    pairs: dict[PairRule, int]
    paths: dict[PathRule, int]
    confidence: dict[PairRule, float]


Found = dict[int, list[Feature]]
"""The features of each candidate."""


def ends_of(start: int, end: int) -> list[tuple[int, int]]:
    """Return each known end once, with the other one beside it."""
    if UNKNOWN in (start, end):
        known = max(start, end)
        return [(known, known)]
    return [(start, end)] if start == end else [(start, end), (end, start)]


def events_of(facts: Iterable[Fact], predicates: int) -> list[Event]:
    events = []
    for s, p, o, start, end in facts:
        for time, twin in ends_of(start, end):
            events += [Event(s, p, o, time, twin), Event(o, inverse(p, predicates), s, time, twin)]
    return events


def is_own(event: Event, question: Question, predicates: int) -> bool:
    """Whether an event is of a fact that answers the question, whoever the answer is."""
    x, p, t = question
    asked = (event.subject, event.predicate) == (x, p)
    asked_backwards = (event.object, event.predicate) == (x, inverse(p, predicates))
    return (asked or asked_backwards) and t in (event.time, event.twin)


def seen_by(question: Question, events: list[Event], predicates: int, past_only: bool) -> list[Event]:
    """Return the events that may be evidence for the question."""
    return [e for e in events if not is_own(e, question, predicates) and (not past_only or e.time < question.time)]


def partners_in(events: list[Event]) -> dict[int, set[int]]:
    """Return whom each entity has an event with, itself where it has one with itself."""
    partners: dict[int, set[int]] = defaultdict(set)
    for e in events:
        partners[e.subject].add(e.object)
    return partners


def offset_place(distance: float) -> int:
    if distance == 0:
        return 0
    bucket = 1 + sum(abs(distance) > edge for edge in OFFSET_EDGES)
    return bucket if distance < 0 else bucket + len(OFFSET_EDGES) + 1


def count_place(count: float) -> int:
    return sum(count > edge for edge in COUNT_EDGES)


def affinity_place(affinity: float) -> int:
    return sum(affinity >= edge for edge in AFFINITY_EDGES)


def rate_place(rate: float) -> int:
    """Return the bucket of a sum; what is one rounding below an edge is in the bucket above it."""
    return sum(rate >= edge / 1.0001 for edge in RATE_EDGES)


PLACES: dict[str, Callable[[float], int]] = {
    "offset": offset_place, "farther": offset_place, "total": count_place, "now": count_place,
    "affinity": affinity_place, "rate": rate_place,
}  # fmt: skip


def nearest_features(
    name: str, events: list[Event], t: int, window: float, body: tuple[int, ...] = ()
) -> list[Feature]:
    """Return a feature of the nearest events before, one of those now, and one of the nearest after, as they exist."""
    near = {e.time - t for e in events if abs(e.time - t) <= window}
    before, now, after = {d for d in near if d < 0}, near & {0}, {d for d in near if d > 0}
    chosen = [*([max(before)] if before else []), *now, *([min(after)] if after else [])]
    return [Feature(GROUPS[name], d, [(e,) for e in events if e.time - t == d], body) for d in chosen]


def count_feature(name: str, events: list[Event], body: tuple[int, ...] = ()) -> list[Feature]:
    return [Feature(GROUPS[name], len(events), [(e,) for e in events], body)] if events else []


def pair_features(question: Question, seen: list[Event]) -> Found:
    """Events between the subject and the candidate, predicate by predicate."""
    x, _, t = question
    between: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for e in seen:
        if e.subject == x:
            between[e.object, e.predicate].append(e)
    found: Found = defaultdict(list)
    for (y, q), events in between.items():
        found[y] += nearest_features("pair_offset", events, t, math.inf, (q,)) + count_feature(
            "pair_count", events, (q,)
        )
    return found


def with_others(question: Question, seen: list[Event]) -> dict[int, list[Event]]:
    """Return the events of each candidate with others than the subject."""
    found: dict[int, list[Event]] = defaultdict(list)
    for e in seen:
        if question.subject not in (e.subject, e.object):
            found[e.object].append(e)
    return found


def object_features(question: Question, seen: list[Event], window: int) -> Found:
    """Events of the same predicate that others than the subject have with the candidate."""
    p, found = question.predicate, {}
    for y, events in with_others(question, [e for e in seen if e.predicate == p]).items():
        near = nearest_features("object_offset", events, question.time, window, (p,))
        found[y] = near + count_feature("object_count", events, (p,))
    return found


def active_features(question: Question, seen: list[Event], window: int) -> Found:
    """Anything that the candidate does with others than the subject, that step and near it."""
    t, found = question.time, {}
    for y, events in with_others(question, seen).items():
        near = nearest_features("active_offset", events, t, window)
        found[y] = [f for f in near if f.value] + count_feature("active_count", [e for e in events if e.time == t])
    return found


def affinity_features(question: Question, seen: list[Event]) -> Found:
    """Partners that the candidate shares with the subject, rarer ones weighing more (Adamic–Adar)."""
    x, partners = question.subject, partners_in(seen)
    shared: dict[int, list[int]] = defaultdict(list)
    for z in partners[x] - {x}:
        for y in partners[z] - {x, z}:
            shared[y].append(z)
    between = defaultdict(list)
    for e in seen:
        between[e.subject, e.object].append(e)
    return {
        y: [
            Feature(
                GROUPS["affinity"],
                sum(1 / math.log(1 + len(partners[z])) for z in there),
                [(*between[x, z], *between[z, y]) for z in there],
            )
        ]
        for y, there in shared.items()
    }


def nearest_events(events: list[Event], t: int, window: int, enough: int) -> list[Event]:
    """Return the events of an entity, distance by distance, until they are enough or the window ends."""
    taken: list[Event] = []
    for distance in range(window + 1):
        if len(taken) < enough:
            taken += [e for e in events if abs(e.time - t) == distance]
    return taken


def path_features(question: Question, seen: list[Event], rules: Rules, reach: Reach) -> Found:
    """Paths of two events that a rule knows, each (candidate, rule) by its nearest grounding.

    A grounding is as far as the farther of its events, and of two that are as near, the one before counts.
    """
    x, p, t = question
    paths: dict[tuple[int, int, int], list[tuple[int, tuple[Event, Event]]]] = defaultdict(list)
    firsts = [e for e in seen if e.subject == x and e.object != x]
    for first in nearest_events(firsts, t, reach.path_window, reach.path_events):
        z = first.object
        seconds = [e for e in seen if e.subject == z and e.object not in (x, z)]
        for second in nearest_events(seconds, t, reach.path_window, reach.path_events):
            if (p, first.predicate, second.predicate) in rules.paths:
                farther = max(first.time - t, second.time - t, key=lambda d: (abs(d), -d))
                paths[second.object, first.predicate, second.predicate].append((farther, (first, second)))
    found: Found = defaultdict(list)
    for (y, *body), there in paths.items():
        nearest = min((farther for farther, _ in there), key=lambda d: (abs(d), d))
        found[y].append(Feature(GROUPS["path"], nearest, [events for _, events in there], tuple(body)))
    return found


def faded(events: Iterable[Event], t: int, scale: float) -> float:
    """Add events up, the one of the step before as 1 and older ones as less."""
    return sum(math.exp((e.time + 1 - t) / scale) for e in events)


def past_by_object(question: Question, seen: list[Event]) -> dict[int, list[Event]]:
    """Return the events before the time asked about by their object."""
    found: dict[int, list[Event]] = defaultdict(list)
    for e in seen:
        if e.time < question.time:
            found[e.object].append(e)
    return found


def rate_feature(name: str, value: float, events: list[Event], body: tuple[int, ...] = ()) -> Feature:
    return Feature(GROUPS[name], value, [(e,) for e in events], body)


def recurrence_features(question: Question, seen: list[Event]) -> Found:
    """The same event so far: its rates, the last time and how often."""
    x, p, t = question
    found: Found = {}
    for y, events in past_by_object(question, [e for e in seen if (e.subject, e.predicate) == (x, p)]).items():
        last = max(e.time for e in events)
        found[y] = [
            Feature(GROUPS["same_last"], last - t, [(e,) for e in events if e.time == last], (p,)),
            *count_feature("same_total", events, (p,)),
            rate_feature("same_week", faded(events, t, WEEK), events, (p,)),
            rate_feature("same_season", faded(events, t, SEASON), events, (p,)),
        ]
    return found


def followed(events: list[Event], p: int, t: int, rules: Rules) -> float:
    """Return the rate of events, each weighed by how often p follows its predicate, of those that are not too old."""
    lately = [e for e in events if t - 1 - e.time <= LONG * MONTH]
    return sum(rules.confidence.get((p, e.predicate), 0.0) * faded([e], t, MONTH) for e in lately)


def contact_features(question: Question, seen: list[Event], rules: Rules) -> Found:
    """Any events between the two so far; by the rules, each weighs by how often the predicate soon follows it."""
    x, p, t = question
    found: Found = {}
    for y, events in past_by_object(question, [e for e in seen if e.subject == x]).items():
        ruled = followed(events, p, t, rules)
        found[y] = [
            *count_feature("contact_total", events),
            rate_feature("contact_days", faded(events, t, DAYS), events),
            rate_feature("contact_month", faded(events, t, MONTH), events),
            rate_feature("contact_rules", ruled, events),
        ]
    return found


def popularity_features(question: Question, seen: list[Event]) -> Found:
    """Events of the same predicate that others than the subject have had with the candidate so far."""
    x, p, t = question
    return {
        y: [
            rate_feature("popularity_week", faded(events, t, WEEK), events, (p,)),
            rate_feature("popularity_season", faded(events, t, SEASON), events, (p,)),
        ]
        for y, events in past_by_object(question, [e for e in seen if e.predicate == p and e.subject != x]).items()
        if y != x
    }


def features_of(question: Question, seen: list[Event], rules: Rules, reach: Reach) -> dict[str, Found]:
    """Return the features of every candidate by family."""
    return {
        "pair": pair_features(question, seen),
        "object": object_features(question, seen, reach.object_window),
        "active": active_features(question, seen, reach.active_window),
        "affinity": affinity_features(question, seen),
        "path": path_features(question, seen, rules, reach),
        "recurrence": recurrence_features(question, seen),
        "contact": contact_features(question, seen, rules),
        "popularity": popularity_features(question, seen),
    }


def weights_of(feature: Feature, predicate: int, rules: Rules, predicates: int) -> list[int]:
    """Return which weights a feature adds: that of all predicates, that of its predicate, that of its rule.

    First stand the features, then the features of each predicate, inverses too, then of each pair rule, and last one
    weight for each path rule.
    """
    number = feature.group.first + feature.place
    places = [number, FEATURES * (1 + predicate) + number]
    pair_rules = FEATURES * (1 + 2 * predicates)
    if feature.group.name.startswith("pair_") and (predicate, *feature.body) in rules.pairs:
        places.append(pair_rules + RULED * rules.pairs[predicate, feature.body[0]] + number)
    if feature.group.name == "path":
        first, second = feature.body
        places.append(pair_rules + RULED * len(rules.pairs) + rules.paths[predicate, first, second])
    return places


def pair_rules_of(facts: Iterable[Fact], predicates: int, support: int) -> list[PairRule]:
    """Return (p, q) wherever enough pairs, in the order (subject, object), have both; q may be p."""
    between: dict[tuple[int, int], set[int]] = defaultdict(set)
    for e in events_of(facts, predicates):
        between[e.subject, e.object].add(e.predicate)
    every = range(2 * predicates)
    return [(p, q) for p in every for q in every if sum({p, q} <= there for there in between.values()) >= support]


def confidences_of(facts: Iterable[Fact], pairs: Iterable[PairRule], predicates: int) -> dict[PairRule, float]:
    """Return for each rule how many heads came soon after its bodies, between the same two, for each body."""
    events = events_of(facts, predicates)
    found = {}
    for head, body in pairs:
        bodies = [e for e in events if e.predicate == body]
        soon = sum(
            e.predicate == head and (e.subject, e.object) == (b.subject, b.object) and 0 < e.time - b.time <= SOON
            for b in bodies
            for e in events
        )
        found[head, body] = soon / (len(bodies) + DOUBT)
    return found


def both_directions(paths: Iterable[PathRule], predicates: int) -> list[PathRule]:
    """Return path rules and their mirrors, each once: head(x, y) ⇐ q1(x, z) ∧ q2(z, y) read from y to x."""
    found = set()
    for head, first, second in paths:
        backwards = (inverse(head, predicates), inverse(second, predicates), inverse(first, predicates))
        found |= {(head, first, second), backwards}
    return sorted(found)


def rules_of(facts: Iterable[Fact], paths: list[PathRule], predicates: int, support: int) -> Rules:
    """Return the rules of some facts, with their places and confidences."""
    pairs = pair_rules_of(facts, predicates, support)
    return Rules(
        {rule: place for place, rule in enumerate(pairs)},
        {rule: place for place, rule in enumerate(both_directions(paths, predicates))},
        confidences_of(facts, pairs, predicates),
    )
