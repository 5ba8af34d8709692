"""The evaluation of one slot: metrics beside those of counting, near misses in time, and the reliability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph
from foretime.devices import fetch, send
from foretime.evaluation.calibration import Calibration
from foretime.evaluation.counting import Counting
from foretime.evaluation.filters import AnswerPairs
from foretime.evaluation.groups import PairHistory
from foretime.evaluation.interval_overlap import IntervalOverlap, best_intervals
from foretime.evaluation.metrics import Metrics
from foretime.evaluation.ranks import Ranks, batches, join_ranks, rank_scores
from foretime.evaluation.reliability import Believed, Reliability, believed, join
from foretime.evaluation.slot_questions import OpenCandidates, kinds_for
from foretime.evaluation.slots import Slot, SlotIndex, SlotScore, at_single_times

WITHIN = (1, 7, 30)
"""Steps that the best time may be off by."""
Intervals = Callable[[Facts], tuple[Ids, Ids]]
"""Predicts the start and the end of each fact: (facts,) each."""


@dataclass(frozen=True)
class SlotFigures:
    """How well a scorer answers the questions for a slot."""

    metrics: Metrics
    within: Mapping[int, float] = field(default_factory=dict)
    """Of times: the share of questions whose best answer is off by so many steps at the most."""
    overlap: IntervalOverlap | None = None
    """Of times in a graph of intervals."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SlotFigures:
        """Return the figures in plain values."""
        within = {int(steps): share for steps, share in values.get("within", {}).items()}
        found = values.get("overlap")
        return cls(Metrics.from_dict(values), within, IntervalOverlap(**found) if found else None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        within = {"within": {str(steps): share for steps, share in self.within.items()}} if self.within else {}
        return self.metrics.to_dict() | within | ({"overlap": self.overlap.to_dict()} if self.overlap else {})

    def row(self) -> dict[str, Any]:
        """Return the figures as a row of a table."""
        shown = {f"within_{steps}": self.within.get(steps) for steps in WITHIN}
        spans = {name: getattr(self.overlap, name, None) for name in ("giou", "aeiou")}
        return self.metrics.to_dict() | shown | spans


@dataclass(frozen=True)
class SlotEvaluation:
    """How well a slot is answered by a run and by counting, and how far its probabilities can be believed."""

    model: SlotFigures
    counting: SlotFigures | None = None
    reliability: Reliability | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SlotEvaluation:
        """Return the evaluation of a slot in `report.json`."""
        counting, found = values.get("counting"), values.get("reliability")
        return cls(
            SlotFigures.from_dict(values),
            SlotFigures.from_dict(counting) if counting else None,
            Reliability.from_dict(found) if found else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        others = {"counting": self.counting, "reliability": self.reliability}
        return self.model.to_dict() | {name: one.to_dict() for name, one in others.items() if one}


@dataclass(frozen=True)
class SlotRanks:
    """The ranks that questions for a slot get by a run and by counting, the fact of each, and the best times."""

    ranks: Ranks
    counting: Ranks
    fact: Ids
    """The row of the fact that asks the question, (questions,)."""
    believed: Believed
    off: tuple[Ids, Ids]
    """By how many steps the best time is off, by the run and by counting; nothing where no time is asked for."""


@torch.inference_mode()
def rank_slot(
    score: SlotScore, graph: Graph, slot: Slot, facts: Facts, calibration: Calibration, history: PairHistory
) -> SlotRanks:
    """Return the ranks of predicates or times; other answers in any split are filtered out."""
    asked = at_single_times(facts) if slot == "time" else facts
    index, still_open = SlotIndex(graph, slot, graph.facts()), OpenCandidates(graph, slot, history)
    counting = Counting(graph)
    ranks: tuple[list[Ranks], list[Ranks]] = ([], [])
    off: tuple[list[Ids], list[Ids]] = ([], [])
    found: list[Believed] = []
    for _, batch in batches(asked, 256):
        answer = batch.start if slot == "time" else batch.predicate
        row, column = index.find(batch)
        others = AnswerPairs(row[column != answer[row]], column[column != answer[row]])
        by_run = score(slot, batch)
        for place, scores in enumerate((by_run, counting.score_slot(slot, batch))):
            ranks[place].append(rank_scores(scores, answer, others))
            off[place].append(_steps_off(scores, answer, others) if slot == "time" else np.empty(0, dtype=np.int64))
        left = still_open.of(batch, by_run)
        found.append(believed(calibration.probabilities(left.scores, left.kind), left.answer, left.kind))
    by_both = [join_ranks([Ranks(np.empty(0), np.empty(0)), *some]) for some in ranks]
    numbered = replace(facts, subject=np.arange(len(facts)))
    fact = (at_single_times(numbered) if slot == "time" else numbered).subject
    first, second = (np.concatenate([np.empty(0, dtype=np.int64), *some]) for some in off)
    return SlotRanks(by_both[0], by_both[1], fact, join(found), (first, second))


def evaluate_slot(
    slot: Slot, ranked: SlotRanks, overlaps: Sequence[IntervalOverlap | None] = (None, None)
) -> SlotEvaluation:
    """Return the evaluation of a slot whose questions are ranked; `overlaps` are those of the run and of counting."""
    figures = [
        SlotFigures(
            Metrics.of(ranks.realistic),
            {steps: float((off <= steps).mean()) for steps in WITHIN} if len(off) else {},
            spans,
        )
        for ranks, off, spans in zip((ranked.ranks, ranked.counting), ranked.off, overlaps, strict=True)
    ]
    return SlotEvaluation(figures[0], figures[1], Reliability.of(ranked.believed, kinds_for(slot)))


def likely_intervals(probabilities: Callable[[Facts], Tensor], facts: Facts) -> tuple[Ids, Ids]:
    """Return for each fact the interval that is expected to overlap most, by the probabilities of single steps."""
    found = [best_intervals(fetch(probabilities(batch)).double().numpy()) for _, batch in batches(facts, 256)]
    return tuple(np.concatenate([np.empty(0, dtype=np.int64), *ends]) for ends in zip(*found, strict=True))  # type: ignore[return-value]


def counted_intervals(graph: Graph, facts: Facts) -> tuple[Ids, Ids]:
    """Return for each fact the best step by counting, and an interval as long as is usual for its predicate."""
    counting, train = Counting(graph), graph.train
    lengths = np.where((train.start == UNKNOWN) | (train.end == UNKNOWN), -1, np.abs(train.end - train.start))
    usual = np.zeros(len(graph.predicates), dtype=np.int64)
    for predicate in np.unique(train.predicate[lengths >= 0]):
        usual[predicate] = np.median(lengths[(train.predicate == predicate) & (lengths >= 0)])
    best = [counting.score_slot("time", batch).argmax(dim=1).numpy() for _, batch in batches(facts, 256)]
    start = np.concatenate([np.empty(0, dtype=np.int64), *best])
    return start, np.minimum(start + usual[facts.predicate], len(graph.timeline) - 1)


def _steps_off(scores: Tensor, answer: Ids, others: AnswerPairs) -> Ids:
    """Return how many steps the best time is from the true one."""
    left = scores.clone()
    left[send(others.question, left.device), send(others.answer, left.device)] = -torch.inf
    return np.abs(fetch(left.argmax(dim=1)).numpy() - answer)
