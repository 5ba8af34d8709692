"""The largest gap to the last event that a question is looked at with: chosen on valid, asked from the end of train.

Where nothing is known of the last weeks, some things have ended and others go on untold. Which of both a graph is full
of, valid says: offices that are told of every year look ended after two years without a word, and must be looked at as
of the first; of single events it is better to know that they are old.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from foretime.config import EvidenceConfig
from foretime.data.graph import Graph
from foretime.evaluation import AnswerIndex, questions_of, rank
from foretime.evaluation.protocols import in_order
from foretime.evaluation.ranks import questions_at_once
from foretime.evidence.gap import largest_gap
from foretime.reranker.scorer import Scorer
from foretime.runs.evaluation import drawn
from foretime.runs.protocols import ask

TRIED = (1, 3, 7)
"""What is tried beside the own time of a question, in units of the largest gap that training is used to."""
ASKED_AT_MOST = 500
"""Facts of valid that are asked about, in both directions."""
FEWEST = 100
"""Fewer facts decide nothing."""
BY_CHANCE = 2.0
"""Standard errors by which another time must be better than the own one."""


class ChosenGap(NamedTuple):
    """The largest gap, None where questions are looked at from their own time, and the MRR of each that was tried."""

    max_gap: int | None
    questions: int = 0
    mrr: Mapping[str, float] = MappingProxyType({})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"max_gap": self.max_gap, "questions": self.questions, "mrr": dict(self.mrr)}


def choose_gap(scorer: Scorer, graph: Graph, evidence: EvidenceConfig) -> ChosenGap:
    """Return the largest gap by which valid is ranked best, multi-step; None for a run that does not forecast.

    The scorer must not have learned from valid. What is not better beyond chance is not chosen.
    """
    if not evidence.past_only or scorer.index is None or len(graph.valid) < FEWEST or not in_order(graph):
        return ChosenGap(None)
    asked = ask(scorer, graph, evidence, "valid", "multi-step").scorer
    questions, answers = questions_of(drawn(graph.valid, ASKED_AT_MOST), len(graph.predicates)), AnswerIndex.of(graph)
    usual, size = largest_gap(graph.train), questions_at_once(len(graph.entities))
    tried: list[int | None] = [None, *(usual * times for times in TRIED)]
    ranks = np.array([1 / rank(asked.within(one).score, questions, answers, size).realistic for one in tried])
    better = ranks - ranks[0]  # (tried, questions)
    best = int(better.mean(1).argmax())
    error = better[best].std() / len(questions) ** 0.5
    mrr = {name_of(one): round(float(own), 4) for one, own in zip(tried, ranks.mean(1), strict=True)}
    chosen = tried[best] if better[best].mean() > BY_CHANCE * error else None
    return ChosenGap(chosen, len(questions), mrr)


def name_of(max_gap: int | None) -> str:
    """Return what was tried in words."""
    return "own time" if max_gap is None else f"{max_gap} step{'s' * (max_gap > 1)} after the last event"
