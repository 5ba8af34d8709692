"""The features that the graph gives a candidate, in order, and every feature of the re-ranker in words.

`profile` and `intervals` fill them in.
"""

from __future__ import annotations

from typing import Final

from foretime.evidence.families import BACKGROUND_FAMILY, FADING, FAMILIES
from foretime.reranker.quantising import SHARED_NEIGHBOURS, SMALLEST_SHARE, is_count, is_share

AT_THE_END: Final = " at the end"
BELOW: Final = " below the best"
FAR: Final = 10_000.0
"""The distance of an event that does not exist."""
OF_BASE_MODEL: Final = ("log_probability", "score", "position", "evidence_")
"""Prefixes of the features that the base model gives."""
BASE_MODEL: Final = "base_model"
"""Stands for all features of the base model together."""
_SPANS: Final = {
    "gap_before": "steps since the candidate's last {fact} ended",
    "gap_after": "steps until the candidate's next {fact} begins",
    "overlapping": "{facts}, overlapping by more than a step",
    "covering": "{facts}, covering the whole interval",
    "within": "{facts}, begun and ended within the interval",
    "same_span": "{facts}, with the same start and end",
    "same_start": "{facts}, with the same start",
    "same_end": "{facts}, with the same end",
    "following": "{facts}, starting where this one ends",
    "preceding": "{facts}, ending where this one starts",
    "likeness": "share of time in common with the candidate's most similar {fact}",
    "born_after": "steps from the start to the candidate's first {fact} (below 0: before it)",
    "gone_before": "steps from the candidate's last {fact} to the end (below 0: after it)",
}
_PROFILE: Final = {
    "pair_before": "steps since the last event between the two",
    "pair_after": "steps to the next event between the two",
    "pair_nearest": "steps to the nearest event between the two",
    "pair_now": "events between the two at the same step",
    "pair_week": "events between the two within 7 steps",
    "pair_month": "events between the two within 30 steps",
    "pair_events": "events between the two in all",
    "pair_predicates": "predicates between the two",
    "pair_recent": "events between the two, decaying over 10 steps",
    "pair_lasting": "events between the two, decaying over 60 steps",
    "pair_share": "share of the subject's events that are with the candidate",
    "same_before": "steps since the last event of this predicate between the two",
    "same_after": "steps to the next event of this predicate between the two",
    "same_events": "events of this predicate between the two in all",
    "same_lasting": "events of this predicate between the two, decaying over 60 steps",
    "same_share": "share of the subject's events of this predicate that are with the candidate",
    "inverse_before": "steps since the last event of the inverse predicate between the two",
    "inverse_after": "steps to the next event of the inverse predicate between the two",
    "inverse_now": "events of the inverse predicate between the two at the same step",
    "object_before": "steps since the candidate's last event of this predicate with others",
    "object_after": "steps to the candidate's next event of this predicate with others",
    "object_now": "events of this predicate with others at the same step",
    "object_month": "events of this predicate with others within 30 steps",
    "object_events": "events of this predicate with others in all",
    "object_share": "share of the predicate's events that are the candidate's",
    "object_habit": "share of the candidate's events that have the predicate",
    "active_before": "steps since the candidate's last event with others",
    "active_after": "steps to the candidate's next event with others",
    "active_now": "the candidate's events with others at the same step",
    "active_week": "the candidate's events with others within 7 steps",
    "active_month": "the candidate's events with others within 30 steps",
    "events": "the candidate's events with others in all",
    "partners": "the candidate's neighbours",
    "affinity": "affinity of the two by common neighbours",
    "common_partners": "common neighbours",
    "path_now": "paths via a shared neighbour at the same step",
    "path_week": "paths via a shared neighbour within 7 steps",
    "name_overlap": "words that both names share, by rarity",
    "name_count": "how often the predicate has the rarest word of the name",
    "name_share": "how often the predicate has the words of the name, by logarithm",
    "subject_events": "the subject's events in all",
    "subject_partners": "the subject's neighbours",
    "subject_now": "the subject's events at the same step",
    "subject_same_events": "the subject's events of this predicate in all",
    "predicate_events": "the predicate's events in all",
    "predicate": "id of the predicate",
}
_INTERVALS: Final = {
    **{
        f"{scope}_{name}": words.format(fact=f"fact {kind}", facts=f"the candidate's facts {kind}")
        for scope, kind in (("object", "of this predicate with others"), ("active", "with others"))
        for name, words in _SPANS.items()
    },
    SHARED_NEIGHBOURS: "facts of co-neighbours with the candidate, weighted",
    f"{SHARED_NEIGHBOURS}_now": "facts of co-neighbours with the candidate at that time, weighted",
    f"{SHARED_NEIGHBOURS}_same": "facts with the candidate of co-neighbours by this predicate, weighted",
    f"{SHARED_NEIGHBOURS}_same_now": "facts at that time of co-neighbours by this predicate, weighted",
    f"{SHARED_NEIGHBOURS}_same_together": "facts at that time of co-neighbours present together, weighted",
    f"{SHARED_NEIGHBOURS}_same_near": "facts around that time of co-neighbours present around then, weighted",
    "span_length": "length in steps, -1 if an end is not known",
}
_FADING: Final = tuple(f"{tau:g}" for tau in FADING)
_OVER: Final = {tau: f", fading over {tau} steps" for tau in _FADING}
_RATES: Final = {
    **{f"same_rate_{tau}": f"events of this predicate between the two{over}" for tau, over in _OVER.items()},
    **{f"inverse_rate_{tau}": f"events of the inverse predicate between the two{over}" for tau, over in _OVER.items()},
    **{f"pair_rate_{tau}": f"events between the two{over}" for tau, over in _OVER.items()},
    **{f"object_rate_{tau}": f"events of this predicate with others{over}" for tau, over in _OVER.items()},
    **{f"active_rate_{tau}": f"the candidate's events with others{over}" for tau, over in _OVER.items()},
    **{f"subject_same_rate_{tau}": f"the subject's events of this predicate{over}" for tau, over in _OVER.items()},
    **{f"subject_rate_{tau}": f"the subject's events{over}" for tau, over in _OVER.items()},
    **{f"predicate_rate_{tau}": f"the predicate's events{over}" for tau, over in _OVER.items()},
    **{f"same_part_{tau}": f"part of the subject's events of this predicate{over}" for tau, over in _OVER.items()},
    **{
        f"pair_part_{tau}": f"part of the subject's events that are with the candidate{over}"
        for tau, over in _OVER.items()
    },
    **{
        f"object_part_{tau}": f"part of the predicate's events that are the candidate's{over}"
        for tau, over in _OVER.items()
    },
    "same_pause": "steps between the last two events of this predicate between the two",
    "same_newer": "objects that the subject has had under this predicate since",
    "same_oftener": "objects that the subject has had under this predicate more often of late",
    "pair_newer": "neighbours that the subject has met since it met the candidate",
    "pair_since": "steps since the two first met",
    "pair_rules": "events between the two that this predicate usually follows, fading over 30 steps",
    "same_weekly": "events of this predicate between the two a whole number of weeks ago, fading over 60 steps",
    **{
        f"neighbour_rate_{tau}": f"events of this predicate by the subject's neighbours with the candidate{_OVER[tau]}"
        for tau in ("30", "120")
    },
    "path_rate": "events of the candidate with the subject's neighbours, fading over 10 steps",
    "object_subjects": "others that have had the candidate under this predicate",
    "name_shared": "words that the two names share, by rarity",
    "name_rate": "how often this predicate lately had words of the candidate's name",
    "name_alike_rate": "the same, among subjects whose names share a word with the subject's",
}
_BACKGROUND: Final = {
    "background_same": "facts without a time of this predicate between the two",
    "background_inverse": "facts without a time of the inverse predicate between the two",
    "background_facts": "facts without a time between the two",
    "background_object_facts": "others that have the candidate under this predicate without a time",
    "background_partners": "the candidate's partners in facts without a time",
    "background_common": "common neighbours by way of facts without a time",
    "background_affinity": "affinity of the two by way of facts without a time",
    "background_paths": "paths of rules with a fact without a time",
    "background_shared": "facts of co-neighbours with the candidate by way of facts without a time, weighted",
    "background_shared_same": "the same, of co-neighbours by this predicate",
    "background_subject_facts": "the subject's facts of this predicate without a time",
}
PROFILE_FEATURES: Final = tuple(_PROFILE)
BACKGROUND_FEATURES: Final = tuple(_BACKGROUND)
RATE_FEATURES: Final = tuple(_RATES)
INTERVAL_FEATURES: Final = tuple(_INTERVALS)
WORDS: Final = {
    "log_probability": "log-probability by the base model",
    "score": "base score",
    "position": "place on the shortlist, from 0",
    **{f"evidence_{family.name}": f"evidence of {family.words}" for family in (*FAMILIES, BACKGROUND_FAMILY)},
    **_PROFILE,
    **_RATES,
    **_INTERVALS,
    **_BACKGROUND,
}
"""What each feature says. Co-neighbours of the subject have the same relation to a shared neighbour as it has."""


TOPICS: Final = {
    "between": "the events between the two",
    "others": "the same with others",
    "activity": "what the candidate does at the time",
    "neighbours": "shared neighbours and paths",
    "background": "facts without a time",
    "names": "names and types",
    "timely": "what the embedding says of this time",
    "lasting": "what the embedding says regardless of time",
    "general": "what is usual for such questions",
}
"""What a score is about, with the title that readers see."""
FAMILY_TOPICS: Final = {
    "pair": "between", "object": "others", "active": "activity", "affinity": "neighbours", "path": "neighbours",
    "recurrence": "between", "contact": "between", "popularity": "others", "background": "background",
}  # fmt: skip
TERM_TOPICS: Final = {"event": "timely", "commonsense": "lasting", "static": "lasting"}
TOTAL: Final = "total"
"""The group of the features of the whole base score, which is about everything that the base score is about."""
_GROUPS: Final = {
    "pair_": ("between", "met"),
    "same_": ("between", "same"),
    "inverse_": ("between", "inverse"),
    "object_": ("others", "object"),
    "active_": ("activity", "active"),
    "events": ("activity", "active"),
    "partners": ("activity", "active"),
    "affinity": ("neighbours", "affinity"),
    "common_partners": ("neighbours", "affinity"),
    "path_": ("neighbours", "affinity"),
    "neighbour_": ("neighbours", "affinity"),
    SHARED_NEIGHBOURS: ("neighbours", "shared"),
    "background_same": ("background", "known_between"),
    "background_inverse": ("background", "known_between"),
    "background_facts": ("background", "known_between"),
    "background_": ("background", "known_around"),
    "name_": ("names", "names"),
    "subject_": ("general", "usual"),
    "predicate": ("general", "usual"),
    "span_length": ("general", "usual"),
    "log_probability": ("general", TOTAL),
    "score": ("general", TOTAL),
    "position": ("general", TOTAL),
}
"""The topic of features by the beginning of their names, and the group of those that one sentence is made of."""


def group_of(feature: str) -> tuple[str, str]:
    """Return the topic of a feature, and the group whose features make one sentence together."""
    plain = feature.removesuffix(BELOW).removesuffix(AT_THE_END)
    if plain.startswith("evidence_"):
        family = plain.removeprefix("evidence_")
        return FAMILY_TOPICS[family], f"evidence_{family}"
    found = next((group for start, group in _GROUPS.items() if plain.startswith(start)), None)
    return found if found is not None and plain in WORDS else (TERM_TOPICS.get(plain, "timely"), f"term_{plain}")


def topic_of(feature: str) -> str:
    """Return what a feature is about, a key of `TOPICS`."""
    return group_of(feature)[0]


def is_of_base_model(feature: str) -> bool:
    """Return whether the base model gives a feature: its score, the terms of it, and where they put the candidate."""
    plain = feature.removesuffix(BELOW)
    return plain.startswith(OF_BASE_MODEL) or plain.removesuffix(AT_THE_END) not in WORDS


def in_words(feature: str) -> str:
    """Return what a feature says; one that has the name of a term of a model is that term."""
    if feature == BASE_MODEL:
        return "all features of the base model"
    for mark, words in ((AT_THE_END, ", at the end"), (BELOW, ", below the best")):
        if feature.endswith(mark):
            return in_words(feature.removesuffix(mark)) + words
    return WORDS.get(feature, f"the term {feature}")


def value_in_words(feature: str, value: float) -> str:
    """Return the value of a feature; `none` for the distance of an event that does not exist, and for a share of 0."""
    if feature == BASE_MODEL:
        return f"place {value + 1:.0f}"
    if value == FAR and in_words(feature).startswith("steps "):
        return "none"
    plain = feature.removesuffix(AT_THE_END)
    if is_share(plain) and value <= SMALLEST_SHARE:
        return "none"
    counted = plain in WORDS and not plain.startswith(OF_BASE_MODEL)
    quantised = counted and ((is_count(plain) and value > 1) or is_share(plain))
    if not quantised:
        return f"{value:.4g}"
    return f"about {float(f'{value:.2g}'):,.0f}" if value > 1 else f"about {value:.2g}"
