"""How likely each candidate for the first of two open slots is: by counts that fade, and by what was learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foretime.config import EvidenceConfig
from foretime.data.facts import Facts
from foretime.evidence.index import build_index
from foretime.inference.answers import Question
from foretime.reranker.slots.first import Chances, FirstCounts, predicate_counts, subject_counts

if TYPE_CHECKING:
    from foretime.inference.predictor import Predictor


@dataclass(frozen=True)
class FirstSlot:
    """What the candidates for the first slot are judged by."""

    counts: FirstCounts
    learned: Chances | None
    """The probability of each by the softmax; None where there is none, and counts are all."""
    time: int
    past_only: bool

    @property
    def chances(self) -> Chances:
        """The probability of each candidate, (candidates,)."""
        counted = self.counts.chances
        # the softmax knows what goes with what, the counts how much of it lately: their mean is better than either
        return counted if self.learned is None else (counted + self.learned) / 2


def first_slot(predictor: Predictor, question: Question, asked: Facts) -> FirstSlot:
    """Return what the first slot of a question is answered by; `asked` is the question as ids."""
    index = predictor.scorer.index or build_index(predictor.graph, EvidenceConfig())
    events, past_only = index.events, index.reach.past_only
    time = int(index.as_of(asked.known_ends()[0])[0])
    if question.targets[0] == "subject":
        return FirstSlot(subject_counts(events, int(asked.predicate[0]), time, past_only), None, time, past_only)
    as_subject = question.subject is not None
    entity = int(asked.subject[0] if as_subject else asked.object[0])
    counts, slots = predicate_counts(events, entity, time, as_subject, past_only), predictor.scorer.slots
    learned = None if slots is None else slots.predicate_chances(asked, as_subject)[0]
    return FirstSlot(counts, learned, time, past_only)
