"""The features of models for an open predicate or an open time, by what they make one sentence with."""

from __future__ import annotations

from foretime.reranker.features.words import TOTAL
from foretime.reranker.slots.words import in_words, topic_of

_EVERY = {
    "between_score": "evidence_pair",
    "others_score": "evidence_object",
    "general_score": "habit",
    "total_score": TOTAL,
    "log_probability": TOTAL,
    "same_": "same",
    "inverse_": "inverse",
    "pair_": "met",
    "other_": "met",
    "predicate_": "habit",
    "shared_": "common",
}
_BY_SLOT = {
    "predicate": {"subject_": "does", "object_": "object"},
    "time": {
        "subject_same_alike_": "names",
        "object_same_alike_": "names",
        "alike_": "names",
        "subject_close_": "common",
        "object_close_": "common",
        "subject_same_": "does",
        "object_same_": "object",
        "subject_alike_": "names",
        "object_alike_": "names",
        "subject_common_": "common",
        "object_common_": "common",
        "subject_": "subject_active",
        "object_": "active",
    },
}
"""The group of features by the beginning of their names; the first that fits counts."""


class SlotGroups:
    """The topic and the group of each feature of one slot, and its words."""

    def __init__(self, slot: str) -> None:
        self._slot = slot
        self._starts = _EVERY | _BY_SLOT[slot]

    def group_of(self, feature: str) -> tuple[str, str]:
        """Return the topic of a feature, and the group whose features make one sentence together."""
        group = next((group for start, group in self._starts.items() if feature.startswith(start)), "habit")
        return topic_of(self._slot, feature), group

    def words_of(self, feature: str) -> str:
        """Return what a feature says."""
        return in_words(self._slot, feature)
