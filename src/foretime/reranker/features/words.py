"""The columns of the second stage in words, for explanations."""

from __future__ import annotations

from typing import Final

from foretime.evidence.families import FAMILIES
from foretime.reranker.quantising import SMALLEST_SHARE, is_count, is_share

AT_THE_END: Final = " at the end"
BELOW: Final = " below the best"
NONE: Final = 10_000.0
"""The distance of an event that does not exist, as `evidence.profile` has it."""
FIRST_STAGE: Final = ("log_probability", "score", "position", "evidence_")
"""How the columns begin that the first stage fills."""
FIRST_STAGE_SAYS: Final = "first_stage"
"""Stands for all columns together that the first stage fills."""
WORDS: Final = {
    "log_probability": "the first stage's log-probability",
    "score": "the first stage's score",
    "position": "place on the shortlist, from 0",
    **{f"evidence_{family.name}": f"evidence of {family.words}" for family in FAMILIES},
    "pair_before": "steps since the last event between the two",
    "pair_after": "steps to the next event between the two",
    "pair_nearest": "steps to the nearest event between the two",
    "pair_now": "events between the two at the same step",
    "pair_week": "events between the two within 7 steps",
    "pair_month": "events between the two within 30 steps",
    "pair_events": "events between the two in all",
    "pair_predicates": "predicates between the two",
    "pair_recent": "events between the two, fading over 10 steps",
    "pair_lasting": "events between the two, fading over 60 steps",
    "pair_share": "share of the subject's events that are with the candidate",
    "same_before": "steps since the same between the two",
    "same_after": "steps to the next same between the two",
    "same_events": "the same between the two in all",
    "same_lasting": "the same between the two, fading over 60 steps",
    "same_share": "share of the subject's same events that are with the candidate",
    "inverse_before": "steps since the same, turned round",
    "inverse_after": "steps to the next same, turned round",
    "inverse_now": "the same, turned round, at the same step",
    "object_before": "steps since the candidate had the same with others",
    "object_after": "steps until the candidate has the same with others",
    "object_now": "the same with others at the same step",
    "object_month": "the same with others within 30 steps",
    "object_events": "the same with others in all",
    "object_share": "share of the predicate's events that are the candidate's",
    "object_habit": "share of the candidate's events that have the predicate",
    "active_before": "steps since the candidate did anything with others",
    "active_after": "steps until the candidate does anything with others",
    "active_now": "the candidate's events with others at the same step",
    "active_week": "the candidate's events with others within 7 steps",
    "active_month": "the candidate's events with others within 30 steps",
    "events": "the candidate's events with others in all",
    "partners": "the candidate's partners",
    "affinity": "affinity of the two by common partners",
    "common_partners": "common partners",
    "path_now": "paths over a third at the same step",
    "path_week": "paths over a third within 7 steps",
    "name_overlap": "words that both names have, by rarity",
    "name_count": "how often the predicate has the rarest word of the name",
    "name_share": "how often the predicate has the words of the name, by logarithm",
    "subject_events": "the subject's events in all",
    "subject_partners": "the subject's partners",
    "subject_now": "the subject's events at the same step",
    "subject_same_events": "the subject's same events in all",
    "predicate_events": "the predicate's events in all",
    "predicate": "number of the predicate",
    "object_gap_before": "steps since the candidate's last same fact with others ended",
    "object_gap_after": "steps until the candidate's next same fact with others begins",
    "object_overlapping": "the same with others, overlapping by more than a step",
    "object_covering": "the same with others, all the while",
    "object_within": "the same with others, begun and ended meanwhile",
    "object_same_span": "the same with others, from the same start to the same end",
    "object_same_start": "the same with others, from the same start",
    "object_same_end": "the same with others, to the same end",
    "object_following": "the same with others, from where this ends",
    "object_preceding": "the same with others, up to where this starts",
    "object_likeness": "share of time in common with the candidate's most alike same fact with others",
    "object_born_after": "steps from the start to the candidate's first same fact with others (below 0: before it)",
    "object_gone_before": "steps from the candidate's last same fact with others to the end (below 0: after it)",
    "active_gap_before": "steps since the candidate's last fact with others ended",
    "active_gap_after": "steps until the candidate's next fact with others begins",
    "active_overlapping": "the candidate's facts with others, overlapping by more than a step",
    "active_covering": "the candidate's facts with others, all the while",
    "active_within": "the candidate's facts with others, begun and ended meanwhile",
    "active_same_span": "the candidate's facts with others, from the same start to the same end",
    "active_same_start": "the candidate's facts with others, from the same start",
    "active_same_end": "the candidate's facts with others, to the same end",
    "active_following": "the candidate's facts with others, from where this ends",
    "active_preceding": "the candidate's facts with others, up to where this starts",
    "active_likeness": "share of time in common with the candidate's most alike fact with others",
    "active_born_after": "steps from the start to the candidate's first fact with others (below 0: before it)",
    "active_gone_before": "steps from the candidate's last fact with others to the end (below 0: after it)",
    "shared_neighbours": "what the subject's company has with the candidate, weighed",
    "shared_neighbours_now": "what the subject's company has with the candidate at the time, weighed",
    "shared_neighbours_same": "what company by the same predicate has with the candidate, weighed",
    "shared_neighbours_same_now": "what company by the same predicate has with the candidate at the time, weighed",
    "shared_neighbours_same_together": "what company met there has with the candidate at the time, weighed",
    "shared_neighbours_same_near": "what company from about then has with the candidate about then, weighed",
    "span_length": "length in steps, -1 if an end is not known",
}
"""What each column says; «the same» is the predicate asked about, company is who is to a third what the subject is."""


def said_by_first_stage(column: str) -> bool:
    """Return whether the first stage fills a column: its score, the terms of it, and where they put the candidate."""
    plain = column.removesuffix(BELOW)
    return plain.startswith(FIRST_STAGE) or plain.removesuffix(AT_THE_END) not in WORDS


def in_words(column: str) -> str:
    """Return what a column says; one that has the name of a term of a model is that term."""
    if column == FIRST_STAGE_SAYS:
        return "what the first stage says"
    for mark, words in ((AT_THE_END, ", at the end"), (BELOW, ", below the best")):
        if column.endswith(mark):
            return in_words(column.removesuffix(mark)) + words
    return WORDS.get(column, f"the term {column}")


def value_in_words(column: str, value: float) -> str:
    """Return the value of a column; `none` for the distance of an event that does not exist, and for a share of 0."""
    if column == FIRST_STAGE_SAYS:
        return f"place {value + 1:.0f}"
    if value == NONE and in_words(column).startswith("steps "):
        return "none"
    plain = column.removesuffix(AT_THE_END)
    if is_share(plain) and value <= SMALLEST_SHARE:
        return "none"
    counted = plain in WORDS and not plain.startswith(FIRST_STAGE)
    rough = counted and ((is_count(plain) and value > 1) or is_share(plain))
    if not rough:
        return f"{value:.4g}"
    return f"about {float(f'{value:.2g}'):,.0f}" if value > 1 else f"about {value:.2g}"
