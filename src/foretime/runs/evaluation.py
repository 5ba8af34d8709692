"""A run's scorer evaluated: ranks and reliability of a split, and the calibration of its probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from torch import Tensor

from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation import AnswerIndex, Evaluation, FilterName, evaluate, model_scorer, questions_of, rank
from foretime.evaluation.calibration import Calibration, fit_calibration
from foretime.evaluation.counting import counting_scores
from foretime.evaluation.groups import PairHistory
from foretime.evaluation.interval_overlap import IntervalOverlap, overlap
from foretime.evaluation.ranks import Ranks, join_ranks
from foretime.evaluation.reliability import Believed, believed, join
from foretime.evaluation.slot_questions import OpenCandidates, SlotScorer, candidates, kinds_asked, kinds_for
from foretime.evaluation.slot_reports import (
    SlotEvaluation,
    SlotRanks,
    counted_times,
    evaluate_slot,
    likely_intervals,
    rank_slot,
)
from foretime.evaluation.slots import SLOTS, Slot, inverted, score_slots
from foretime.evidence.module import evidence_of
from foretime.reranker.scorer import Scorer

SCORES_AT_MOST = 30_000_000
"""Scores that are kept at once to fit a calibration."""
FITTED_AT_MOST = 4_000
"""Facts that a calibration is fitted on: more would hardly move it."""
RANKED_AT_MOST = 2_000
"""Facts whose predicate and time are ranked: each candidate is a question of its own to a model of objects."""
LOOKED_UP_AT_MOST = 1_000_000
"""Scores that are looked up one by one for them."""
Calibrations = Mapping[str, Calibration]
"""The calibration of each slot."""
_NOBODY = np.empty(0, dtype=np.int64)


def slot_scorer(scorer: Scorer, graph: Graph) -> SlotScorer:
    """Return what scores every candidate for an open slot."""
    return lambda slot, facts: score_slots(scorer.model, graph, slot, facts, scorer.score)


def pair_history(scorer: Scorer, graph: Graph) -> PairHistory:
    """Return the history that tells the kinds of questions: only what is past, if the run looks at nothing else."""
    evidence = evidence_of(scorer.model)
    return PairHistory(graph, evidence is not None and evidence.past_only)


def softmax_at(slot: Slot, temperature: float = 1.0) -> Calibration:
    """Return the calibration of a slot that is nothing but a temperature."""
    return Calibration.of_temperature(temperature, len(kinds_for(slot)))


def calibrate(scorer: Scorer, graph: Graph) -> dict[str, Calibration]:
    """Return the calibration of each slot that may be asked for, fitted on valid."""
    history, score = pair_history(scorer, graph), slot_scorer(scorer, graph)
    found = {}
    for slot in SLOTS:
        asked = candidates(score, graph, slot, sample(graph, slot, graph.valid), history)
        found[slot] = fit_calibration(list(asked), len(kinds_for(slot)))
    return found


def evaluate_split(
    scorer: Scorer, graph: Graph, split: str, filter_name: FilterName, calibrations: Calibrations
) -> Evaluation:
    """Return the evaluation of a split, of every slot, and that of the base model under a re-ranker."""
    history, facts = pair_history(scorer, graph), graph.facts(split)
    questions = questions_of(facts, len(graph.predicates), filter_name)
    index = AnswerIndex.of(graph, filter_name)
    ranked = {
        slot: _rank_entities(scorer, graph, slot, own, index, calibrations[slot], history)
        for slot, own in zip(("object", "subject"), _halves(questions), strict=True)
    }
    ranks = join_ranks([one.ranks for one in ranked.values()])
    slots = {slot: evaluate_slot(slot, one) for slot, one in ranked.items()}
    for slot in ("predicate", "time"):
        slots[slot] = _evaluate_other(scorer, graph, slot, sample(graph, slot, facts), calibrations[slot], history)
    base = evaluate(model_scorer(scorer.model), graph, split, filter_name) if scorer.reranked is not None else None
    return replace(
        Evaluation.of(ranks, questions, graph, split, filter_name),
        calibration_error={slot: one.reliability.ece for slot, one in slots.items() if one.reliability},
        slots={slot: slots[slot] for slot in SLOTS},
        base_model=base,
    )


def rank_other(
    scorer: Scorer, graph: Graph, slot: Slot, facts: Facts, calibrations: Calibrations
) -> SlotRanks:
    """Return the ranks of the predicates or of the times of some facts."""
    history = pair_history(scorer, graph)
    return rank_slot(slot_scorer(scorer, graph), graph, slot, facts, calibrations[slot], history)


def sample(graph: Graph, slot: Slot, facts: Facts) -> Facts:
    """Return facts drawn at random, as many as their candidates may be scored in a short time and kept at once."""
    width = {"predicate": len(graph.predicates), "time": len(graph.timeline)}.get(slot)
    if width is None:
        limit = min(FITTED_AT_MOST, max(1, SCORES_AT_MOST // len(graph.entities)))
    else:
        limit = min(RANKED_AT_MOST, max(1, LOOKED_UP_AT_MOST // width))
    if len(facts) <= limit:
        return facts
    return facts.take(np.random.default_rng(0).choice(len(facts), limit, replace=False))


def _halves(questions: Facts) -> tuple[Facts, Facts]:
    """Return the questions for objects and those for subjects, which are the inverse ones."""
    half = len(questions) // 2
    return questions.take(slice(half)), questions.take(slice(half, None))


def _rank_entities(
    scorer: Scorer, graph: Graph, slot: Slot, questions: Facts, index: AnswerIndex, calibration: Calibration,
    history: PairHistory,
) -> SlotRanks:  # fmt: skip
    """Return the ranks of objects, which those of subjects are in inverse questions, and how far to believe them."""
    still_open = OpenCandidates(graph, "object", history)
    found: list[Believed] = []

    def hear(batch: Facts, scores: Tensor) -> None:
        left = still_open.of(batch, scores)
        found.append(believed(calibration.probabilities(left.scores, left.kind), left.answer, left.kind))

    def count(batch: Facts) -> Tensor:
        return counting_scores(graph, slot, batch if slot == "object" else inverted(batch, graph))

    ranks = rank(scorer.score, questions, index, hear=hear)
    return SlotRanks(ranks, rank(count, questions, index), np.arange(len(questions)), join(found), (_NOBODY, _NOBODY))


def _evaluate_other(
    scorer: Scorer, graph: Graph, slot: Slot, facts: Facts, calibration: Calibration, history: PairHistory
) -> SlotEvaluation:
    """Return the evaluation of predicates or times."""
    score = slot_scorer(scorer, graph)
    ranked = rank_slot(score, graph, slot, facts, calibration, history)
    overlaps: list[IntervalOverlap | None] = [None, None]
    if slot == "time" and graph.has_intervals:

        def probabilities(batch: Facts) -> Tensor:
            scores = score(slot, batch)
            return calibration.probabilities(scores, kinds_asked(history, slot, batch, scores))

        spans = [likely_intervals(one, facts) for one in (probabilities, partial(counted_times, graph))]
        overlaps = [overlap(facts, *span) for span in spans]
    return evaluate_slot(slot, ranked, overlaps)
