"""Which reasons a score belongs to: what each feature adds is handed down to the rules and statements behind it.

The score of a run without a re-ranker is a sum of terms, and a term of evidence is a sum over rules: nothing has to be
split. With a re-ranker, the contribution of each feature (TreeSHAP) belongs to the reason that the feature is about;
those of the base score are split by `splitting.split`: over the terms by how far each is from that of the other
candidates, and within the evidence of a family over its rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from foretime.inference.explanation.splitting import split
from foretime.reranker.features.words import BELOW, FAMILY_TOPICS, TERM_TOPICS, TOTAL, group_of, in_words
from foretime.reranker.slots.words import BEHIND as BEHIND_BEST

Key = tuple[str | int, ...]
"""What a reason is of: a family and the body of its rule, or the name of a statement."""
Amounts = dict[Key, list[float]]
"""What reasons add to the score, in summands."""
USUAL: Key = ("usual",)
PLACE: Key = ("place",)
BEHIND: Key = ("behind",)
_STATEMENT_TOPICS = {
    "met": "between",
    "same": "between",
    "inverse": "between",
    "does": "others",
    "subject_active": "activity",
    "common": "neighbours",
    "names": "names",
    "shared": "neighbours",
    "known_between": "background",
    "known_around": "background",
    "habit": "general",
    "usual": "general",
    "place": "general",
    "behind": "general",
}
_TERMS = ("evidence_", "term_", "habit")
"""How the groups of the terms of a base score begin."""
_SMALLEST = 1e-12
"""What is left over by rounding alone is no reason."""


class FeatureScore(NamedTuple):
    """A score by trees, taken apart: what each feature adds, and the expected value; together they are the score.

    `typical` are the values of the features for the other candidates, on average. `group_of` gives the topic of a
    feature and the group that it makes one sentence with, `words_of` what it says in the full table.
    """

    names: list[str]
    values: list[float]
    contributions: list[float]
    expected: float
    typical: list[float] | None = None
    group_of: Callable[[str], tuple[str, str]] = group_of
    words_of: Callable[[str], str] = in_words


def topic_of_key(key: Key) -> str:
    """Return the topic of a reason."""
    kind, *rest = (str(part) for part in key)
    if kind == "term":
        return TERM_TOPICS.get(rest[0], "timely")
    return FAMILY_TOPICS.get(rest[0] if kind == "compared" else kind) or _STATEMENT_TOPICS[kind]


def attribute_terms(terms: Mapping[str, float], rules: Mapping[Key, float], evidence: str) -> Amounts:
    """Return what each reason adds to a base score: each rule its own weight, each other term itself."""
    of_terms: Amounts = {("term", name): [value] for name, value in terms.items() if name != evidence}
    return of_terms | {key: [size] for key, size in rules.items()}


def homes_of(predicate: int, mirror: int) -> dict[str, tuple[Key, ...]]:
    """Return the reasons of the evidence that each group of features may be about, the first that is there counting."""
    return {
        "same": (("pair", predicate), ("recurrence", predicate)),
        "inverse": (("pair", mirror),),
        "met": (("contact",),),
        "object": (("object",), ("popularity",)),
        "active": (("active",),),
        "affinity": (("affinity",),),
        "common": (("affinity",),),
        "known_between": (("background", predicate), ("background", mirror)),
        "known_around": (("background",),),
    }


def attribute_features(scored: FeatureScore, rules: Mapping[Key, float], homes: Mapping[str, Sequence[Key]]) -> Amounts:
    """Return what each reason adds to a score by trees.

    `rules` are the reasons of the evidence with their base contributions; `homes` says which of them a group of
    features is about, if one is there.
    """
    amounts: Amounts = {USUAL: [scored.expected]}
    groups: dict[str, list[float]] = {}
    for name, contribution in zip(scored.names, scored.contributions, strict=True):
        groups.setdefault(scored.group_of(name)[1], []).append(contribution)
    total, deviations = math.fsum(groups.pop(TOTAL, [])), _deviations(scored)
    shares, rest = split(total, list(deviations.values()))
    for group, share in zip(deviations, shares, strict=True):
        groups.setdefault(group, []).append(share)
    _add(amounts, PLACE, rest)
    for group, found in groups.items():
        amount = math.fsum(found)
        if group.startswith("evidence_"):
            _hand_down(amounts, group.removeprefix("evidence_"), amount, rules)
        elif group.startswith("term_"):
            _add(amounts, ("term", group.removeprefix("term_")), amount)
        else:
            home = next((key for key in homes.get(group, ()) if key in rules), (group,))
            _add(amounts, home, amount)
    return amounts


def _deviations(scored: FeatureScore) -> dict[str, float]:
    """Return how far each term of the base score is from that of the other candidates, by its group."""
    if scored.typical is None:
        return {}
    rows = zip(scored.names, scored.values, scored.typical, strict=True)
    return {
        group: value - typical
        for name, value, typical in rows
        for group in (scored.group_of(name)[1],)
        if (group.startswith(("evidence_", "term_")) or name == "general_score")
        and not name.endswith((BELOW, BEHIND_BEST))
    }


def _hand_down(amounts: Amounts, family: str, amount: float, rules: Mapping[Key, float]) -> None:
    """Split what the evidence of a family adds over its rules; what is left is the comparison with other answers."""
    own = {key: size for key, size in rules.items() if key[0] == family}
    shares, rest = split(amount, list(own.values()))
    for key, share in zip(own, shares, strict=True):
        _add(amounts, key, share)
    _add(amounts, ("compared", family), rest)


def _add(amounts: Amounts, key: Key, amount: float) -> None:
    if abs(amount) > _SMALLEST:
        amounts.setdefault(key, []).append(amount)
