"""The columns of a candidate by plain loops over what the question may see, each from its name and its definition."""

import math
import re
from collections.abc import Sequence
from functools import cache

from evidence_oracle import Event, Question, partners_in

from foretime.data.facts import inverse

FAR = 10_000.0
WEEK, MONTH = 7, 30


def before(distances: list[int]) -> float:
    return min((-d for d in distances if d < 0), default=FAR)


def after(distances: list[int]) -> float:
    return min((d for d in distances if d > 0), default=FAR)


def within(distances: list[int], reach: int) -> int:
    return sum(abs(d) <= reach for d in distances)


def faded(distances: list[int], scale: float) -> float:
    """Events that weigh less the farther they are."""
    return sum(math.exp(-abs(d) / scale) for d in distances)


@cache
def words_of(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", name.casefold()))


def shared_columns(question: Question, seen: list[Event]) -> dict[str, float]:
    """What all candidates of a question have in common."""
    x, p, t = question
    mine = [e for e in seen if e.subject == x]
    return {
        "subject_events": len(mine),
        "subject_partners": len(partners_in(seen)[x] - {x}),
        "subject_now": sum(e.time == t and e.object != x for e in mine),
        "subject_same_events": sum(e.predicate == p for e in mine),
        "predicate_events": sum(e.predicate == p for e in seen),
        "predicate": p,
    }


def pair_columns(question: Question, y: int, seen: list[Event], predicates: int) -> dict[str, float]:
    """What there is between the subject and the candidate."""
    x, p, t = question
    shared = shared_columns(question, seen)
    between = [e for e in seen if (e.subject, e.object) == (x, y)]
    every = [e.time - t for e in between]
    same = [e.time - t for e in between if e.predicate == p]
    turned = [e.time - t for e in between if e.predicate == inverse(p, predicates)]
    return {
        "pair_before": before(every),
        "pair_after": after(every),
        "pair_nearest": min((abs(d) for d in every), default=FAR),
        "pair_now": every.count(0),
        "pair_week": within(every, WEEK),
        "pair_month": within(every, MONTH),
        "pair_events": len(every),
        "pair_predicates": len({e.predicate for e in between}),
        "pair_recent": faded(every, 10.0),
        "pair_lasting": faded(every, 60.0),
        "pair_share": len(every) / max(shared["subject_events"], 1),
        "same_before": before(same),
        "same_after": after(same),
        "same_events": len(same),
        "same_lasting": faded(same, 60.0),
        "same_share": len(same) / max(shared["subject_same_events"], 1),
        "inverse_before": before(turned),
        "inverse_after": after(turned),
        "inverse_now": float(0 in turned),
    }


def other_columns(question: Question, y: int, seen: list[Event]) -> dict[str, float]:
    """What the candidate does with others than the subject: nothing is said of the subject itself."""
    x, p, t = question
    others = [e for e in seen if e.object == y != x and e.subject != x]
    every = [e.time - t for e in others]
    same = [e.time - t for e in others if e.predicate == p]
    return {
        "object_before": before(same),
        "object_after": after(same),
        "object_now": same.count(0),
        "object_month": within(same, MONTH),
        "object_events": len(same),
        "object_share": len(same) / max(shared_columns(question, seen)["predicate_events"], 1),
        "object_habit": len(same) / max(len(every), 1),
        "active_before": before(every),
        "active_after": after(every),
        "active_now": every.count(0),
        "active_week": within(every, WEEK),
        "active_month": within(every, MONTH),
        "events": len(every),
        "partners": len({e.subject for e in others} - {y}),
    }


def common_columns(question: Question, y: int, seen: list[Event]) -> dict[str, float]:
    """Partners that subject and candidate share; paths are events of the candidate with one that is near both."""
    x, t, partners = question.subject, question.time, partners_in(seen)
    common = partners[x] & partners[y] - {x, y} if y != x else set()
    near = {z: min(abs(e.time - t) for e in seen if (e.subject, e.object) == (x, z)) for z in common}
    second = [(e.time - t, near[e.subject]) for e in seen if e.object == y and e.subject in common]
    return {
        "affinity": sum(1 / math.log(1 + len(partners[z])) for z in common),
        "common_partners": len(common),
        "path_now": sum(distance == 0 == first for distance, first in second),
        "path_week": sum(abs(distance) <= WEEK and first <= WEEK for distance, first in second),
    }


def name_columns(question: Question, y: int, seen: list[Event], names: Sequence[str]) -> dict[str, float]:
    """Words that the names of subject and candidate share, and words of what others have under the predicate."""
    x, p, _ = question
    words = [words_of(name) for name in names]
    said = [words[e.object] for e in seen if e.predicate == p and e.subject != x]
    counts = [sum(word in there for there in said) for word in words[y]]
    rarity = {word: math.log(len(names) / sum(word in own for own in words)) for word in words[x] & words[y]}
    return {
        "name_overlap": sum(rarity.values()),
        "name_count": min(counts, default=0),
        "name_share": sum(math.log1p(count) for count in counts) / max(len(counts), 1),
    }


def columns_of(
    question: Question, y: int, seen: list[Event], names: Sequence[str], past_only: bool, predicates: int
) -> dict[str, float]:
    """Return all columns of a candidate; where only the past counts, those of the name are 0."""
    called = name_columns(question, y, seen, names)
    return {
        **pair_columns(question, y, seen, predicates),
        **other_columns(question, y, seen),
        **common_columns(question, y, seen),
        **(dict.fromkeys(called, 0.0) if past_only else called),
        **shared_columns(question, seen),
    }
