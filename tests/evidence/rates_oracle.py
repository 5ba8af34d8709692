"""The rates of a candidate by plain loops over what the question may see, each from its name and its definition."""

import math
from collections.abc import Sequence

from evidence_oracle import LONG, Event, Question, Rules, faded, followed
from profile_oracle import FAR, words_of

from foretime.data.facts import inverse

FADING = (2, 8, 30, 120)
MONTH, SEASON = 30, 120


def rates(name: str, events: list[Event], t: int) -> dict[str, float]:
    return {f"{name}_{tau}": faded(events, t, tau) for tau in FADING}


def by_whom(events: list[Event]) -> dict[int, list[Event]]:
    """Return the events of the subject by their objects."""
    return {y: [e for e in events if e.object == y] for y in {e.object for e in events}}


def counted(question: Question, y: int, seen: list[Event], predicates: int) -> dict[str, float]:
    """How many events there are between the two, with others, of the subject and of the predicate."""
    x, p, t = question
    between = [e for e in seen if (e.subject, e.object) == (x, y)]
    of_predicate = [e for e in seen if e.predicate == p]
    with_others = [e for e in seen if e.object == y and e.subject != x]
    found = {
        **rates("same_rate", [e for e in between if e.predicate == p], t),
        **rates("inverse_rate", [e for e in between if e.predicate == inverse(p, predicates)], t),
        **rates("pair_rate", between, t),
        **rates("object_rate", [e for e in with_others if e.predicate == p], t),
        **rates("active_rate", with_others, t),
        **rates("subject_same_rate", [e for e in of_predicate if e.subject == x], t),
        **rates("subject_rate", [e for e in seen if e.subject == x], t),
        **rates("predicate_rate", of_predicate, t),
    }
    for part, (one, whole) in {
        "same": ("same", "subject_same"), "pair": ("pair", "subject"), "object": ("object", "predicate"),
    }.items():  # fmt: skip
        for tau in FADING:
            found[f"{part}_part_{tau}"] = found[f"{one}_rate_{tau}"] / (found[f"{whole}_rate_{tau}"] + 0.01)
    return found


def ordered(question: Question, y: int, seen: list[Event], rules: Rules) -> dict[str, float]:
    """How the events between the two follow each other, and whom the subject has met since."""
    x, p, t = question
    met = by_whom([e for e in seen if e.subject == x])
    had = by_whom([e for e in seen if (e.subject, e.predicate) == (x, p)])
    same, between = had.get(y, []), met.get(y, [])
    last_met = {z: max(e.time for e in events) for z, events in met.items()}
    last_had = {z: max(e.time for e in events) for z, events in had.items()}
    often = {z: faded(sorted(events, key=lambda e: e.time), t, SEASON) for z, events in had.items()}
    steps = sorted({e.time for e in same})
    return {
        "same_pause": steps[-1] - steps[-2] if len(steps) > 1 else FAR,
        "same_newer": sum(last > last_had.get(y, -1) for last in last_had.values()),
        "same_oftener": sum(rate > often.get(y, 0.0) for rate in often.values()),
        "pair_newer": sum(last > last_met.get(y, -1) for last in last_met.values()),
        "pair_since": t - min(e.time for e in between) if between else FAR,
        "pair_rules": followed(between, p, t, rules),
        "same_weekly": sum(math.exp((e.time - t) / 60) for e in same if (t - e.time) % 7 == 0),
    }


def around(question: Question, y: int, seen: list[Event]) -> dict[str, float]:
    """What the candidate has with the neighbours of the subject, and with how many others."""
    x, p, t = question
    met = by_whom([e for e in seen if e.subject == x])

    def near(z: int, tau: int) -> float:
        rate = faded(met.get(z, []), t, tau)
        return rate / (1 + rate)

    others = [e for e in seen if e.object == y and e.subject not in (x, y)]
    had = {e.subject for e in seen if e.predicate == p and e.object == y and e.subject != x}
    lately = [e for e in others if e.predicate == p and t - 1 - e.time <= LONG * SEASON]
    path = [e for e in others if e.time >= t - 30 and y != x]
    return {
        **{
            f"neighbour_rate_{tau}": sum(faded([e], t, tau) * near(e.subject, tau) for e in lately)
            for tau in (MONTH, SEASON)
        },
        "path_rate": sum(faded([e], t, 10) * near(e.subject, MONTH) for e in path),
        "object_subjects": len(had),
    }


def named(question: Question, y: int, seen: list[Event], names: Sequence[str]) -> dict[str, float]:
    """What the words of names say."""
    x, p, t = question
    words = [words_of(name) for name in names]
    rarity = {w: math.log(len(names) / sum(w in own for own in words)) for own in words for w in own}

    def shared(one: int, other: int) -> float:
        return sum(rarity[word] for word in words[one] & words[other])

    lately = [e for e in seen if e.predicate == p and e.subject != x]
    alike = [e for e in lately if shared(x, e.subject) > 0]
    rate, alike_rate = (
        sum(math.log1p(faded([e for e in events if word in words[e.object]], t, SEASON)) for word in words[y])
        for events in (lately, alike)
    )
    return {"name_shared": shared(x, y), "name_rate": rate, "name_alike_rate": alike_rate}


def rates_of(
    question: Question, y: int, seen: list[Event], rules: Rules, names: Sequence[str], predicates: int
) -> dict[str, float]:
    """Return all rates of a candidate; `seen` are events of the past, sorted by time."""
    return {
        **counted(question, y, seen, predicates),
        **ordered(question, y, seen, rules),
        **around(question, y, seen),
        **named(question, y, seen, names),
    }
