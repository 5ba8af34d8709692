"""The features of candidates for an open predicate, an open time, or the first of two open slots, in words.

Each has a topic: what it is about in an explanation.
"""

from __future__ import annotations

from typing import Final, NamedTuple

TRACE_TOPICS: Final = ("between", "others", "general")
"""What each group of rows of the softmax is about."""
BEHIND: Final = "_behind"
"""How the distance of a score from the best of its question is called."""


class SlotFeature(NamedTuple):
    """A feature: what it is about, and what it says."""

    topic: str
    words: str


def _of(topic: str, **words: str) -> dict[str, SlotFeature]:
    return {name: SlotFeature(topic, text) for name, text in words.items()}


PREDICATE: Final = {
    **_of(
        "between",
        between_score="what usually goes with the events between the two, as a score",
        between_score_behind="the same, behind the best predicate",
        same_before="steps since the two last had this predicate",
        same_after="steps until the two next have this predicate",
        same_events="events of this predicate between the two",
        same_recent="events of this predicate between the two, decaying over 10 steps",
        same_lasting="events of this predicate between the two, decaying over 60 steps",
        same_share="share of the events between the two that have this predicate",
        inverse_before="steps since the two last had this predicate the other way round",
        inverse_after="steps until the two next have this predicate the other way round",
        inverse_now="events of this predicate the other way round at the same step",
        inverse_events="events of this predicate the other way round between the two",
        inverse_lasting="events of this predicate the other way round, decaying over 60 steps",
        pair_nearest="steps to the nearest event between the two",
        pair_now="events between the two at the same step",
        pair_events="events between the two",
        pair_predicates="predicates between the two",
    ),
    **_of(
        "others",
        others_score="what usually goes with what both do with others near that time, as a score",
        others_score_behind="the same, behind the best predicate",
        subject_before="steps since the subject last did this to others",
        subject_after="steps until the subject next does this to others",
        subject_now="times that the subject does this to others at the same step",
        subject_month="times that the subject does this to others within 30 steps",
        subject_events="times that the subject does this to others",
        subject_habit="share of what the subject does to others that has this predicate",
        object_before="steps since others last did this to the object",
        object_after="steps until others next do this to the object",
        object_now="times that others do this to the object at the same step",
        object_month="times that others do this to the object within 30 steps",
        object_events="times that others do this to the object",
        object_habit="share of what others do to the object that has this predicate",
    ),
    **_of(
        "general",
        general_score="what the two usually do, by who they are, as a score",
        general_score_behind="the same, behind the best predicate",
        total_score="the three scores together",
        total_score_behind="the same, behind the best predicate",
        log_probability="log-probability of the predicate by the three scores",
        predicate_events="events of this predicate",
        predicate_now="events of this predicate between others at the same step",
        predicate_month="events of this predicate between others within 30 steps",
    ),
}

SERIES: Final = {
    "other": SlotFeature("between", "events between the two under other predicates"),
    "same": SlotFeature("between", "events of this predicate between the two"),
    "inverse": SlotFeature("between", "events of this predicate the other way round"),
    "subject_same": SlotFeature("others", "times that the subject does this to others"),
    "object_same": SlotFeature("others", "times that others do this to the object"),
    "subject": SlotFeature("activity", "events of the subject with others"),
    "object": SlotFeature("activity", "events of the object with others"),
    "shared": SlotFeature("neighbours", "events of the object with a neighbour of the subject at the same step"),
    "predicate": SlotFeature("general", "events of this predicate between others"),
    "subject_alike": SlotFeature("names", "events of the subject with others whose names are like the object's"),
    "object_alike": SlotFeature("names", "events of the object with others whose names are like the subject's"),
    "subject_common": SlotFeature("neighbours", "events of the subject with others that the object has met"),
    "object_common": SlotFeature("neighbours", "events of the object with others that the subject has met"),
    "subject_same_alike": SlotFeature("names", "times that the subject does this to others named like the object"),
    "object_same_alike": SlotFeature("names", "times that others named like the subject do this to the object"),
    "subject_close": SlotFeature("neighbours", "events of the subject with those who mostly meet the object"),
    "object_close": SlotFeature("neighbours", "events of the object with those who mostly meet the subject"),
    "alike": SlotFeature("names", "events of this predicate between others named like the two"),
}
"""The kinds of events that are counted around each step."""
MEASURES: Final = {
    "now": "{} at this step",
    "near": "{} within 2 steps",
    "week": "{} within 7 steps",
    "month": "{} within 30 steps",
    "before": "steps since the last of the {}",
    "after": "steps until the next of the {}",
    "share": "share of the {} that are at this step",
}
_COUNTED_STEPS: Final = {
    f"{series}_{measure}": SlotFeature(topic, template.format(words))
    for series, (topic, words) in SERIES.items()
    for measure, template in MEASURES.items()
}
SCORES_OF_STEPS: Final = ("between_score", "others_score", "log_probability")
TIME: Final = {
    **_COUNTED_STEPS,
    **{name: PREDICATE[name] for name in SCORES_OF_STEPS},
    "log_probability": SlotFeature("general", "log-probability of this predicate at that step"),
    **{
        f"{name}{BEHIND}": SlotFeature(PREDICATE[name].topic, "the same, behind the best step")
        for name in SCORES_OF_STEPS
    },
}
COUNTED_OF_PREDICATES: Final = tuple(
    name for name in PREDICATE if not name.endswith(("_score", BEHIND)) and name != "log_probability"
)
COUNTED_OF_STEPS: Final = tuple(_COUNTED_STEPS)
"""Features that are counted in the events; the others are scores of the softmax."""


def topic_of(slot: str, feature: str) -> str:
    """Return what a feature of a slot is about."""
    return {"predicate": PREDICATE, "time": TIME}[slot][feature].topic


def in_words(slot: str, feature: str) -> str:
    """Return what a feature of a slot says."""
    return {"predicate": PREDICATE, "time": TIME}[slot][feature].words
