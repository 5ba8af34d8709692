"""A run's scorer evaluated: ranks and reliability of a split, and the calibration of its probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation import AnswerIndex, Evaluation, FilterName, evaluate, model_scorer, questions_of, rank
from foretime.evaluation.calibration import Calibration, fit_calibration
from foretime.evaluation.counting import Counting
from foretime.evaluation.filters import facts_of_questions
from foretime.evaluation.groups import PairHistory
from foretime.evaluation.interval_overlap import IntervalOverlap, overlap
from foretime.evaluation.ranks import Ranks, join_ranks, questions_at_once
from foretime.evaluation.reliability import Believed, believed, join
from foretime.evaluation.slot_questions import OpenCandidates, candidates, kinds_asked, kinds_for
from foretime.evaluation.slot_reports import (
    SlotEvaluation,
    SlotRanks,
    counted_intervals,
    evaluate_slot,
    likely_intervals,
    rank_slot,
)
from foretime.evaluation.slots import SLOTS, Slot
from foretime.reranker.scorer import Scorer
from foretime.runs.protocols import AskedScorer, pair_history

SCORES_AT_MOST = 70_000_000
"""Scores that are kept at once to fit a calibration: 280 megabytes."""
FITTED_AT_MOST = 10_000
"""Facts that a calibration is fitted on: each kind of question should have some hundreds."""
RANKED_AT_MOST = 10_000
"""Facts whose predicate and time are ranked by models of these slots."""
ASKED_AT_MOST = 2_000
"""The same without such models: each candidate is then a question of its own to a model of objects."""
LOOKED_UP_AT_MOST = 1_000_000
"""Scores that are looked up one by one for them."""
Calibrations = Mapping[str, Calibration]
"""The calibration of each slot."""
NO_OVERLAPS: Sequence[IntervalOverlap | None] = (None, None)
_NO_STEPS = np.empty(0, dtype=np.int64)


def softmax_at(slot: Slot, temperature: float = 1.0) -> Calibration:
    """Return the calibration of a slot that is nothing but a temperature."""
    return Calibration.of_temperature(temperature, len(kinds_for(slot)))


def calibrate(asked_scorer: AskedScorer, graph: Graph, facts: Facts) -> dict[str, Calibration]:
    """Return the calibration of each slot that may be asked for, fitted on facts of valid."""
    found: dict[str, Calibration] = {}
    # files are often sorted, and a part of the fit looks at the first questions only
    facts = facts.take(np.random.default_rng(0).permutation(len(facts)))
    for slot in SLOTS:
        scorer = asked_scorer.for_times if slot == "time" else asked_scorer.scorer
        history = pair_history(scorer.model, graph)
        asked = candidates(scorer.score_slot, graph, slot, sample(scorer, slot, facts, FITTED_AT_MOST), history)
        found[slot] = fit_calibration(list(asked), len(kinds_for(slot)))
    return found


def evaluate_split(
    asked: AskedScorer, graph: Graph, split: str, filter_name: FilterName, calibrations: Calibrations
) -> Evaluation:
    """Return the evaluation of a split, of every slot, and that of the base model under a re-ranker."""
    facts, scorer, protocol = graph.facts(split), asked.scorer, asked.protocol
    ranked = rank_slots(asked, graph, facts, filter_name, calibrations)
    ranks = join_ranks([ranked[slot].ranks for slot in ("object", "subject")])
    overlaps = _overlaps(asked.for_times, graph, sample(scorer, "time", facts, RANKED_AT_MOST), calibrations["time"])
    slots: dict[str, SlotEvaluation] = {
        slot: evaluate_slot(slot, ranked[slot], overlaps if slot == "time" else NO_OVERLAPS) for slot in SLOTS
    }
    base = None
    if scorer.reranked is not None:
        base = evaluate(model_scorer(scorer.model), graph, split, filter_name, protocol=protocol)
    questions = questions_of(facts, len(graph.predicates), filter_name)
    return replace(
        Evaluation.of(ranks, questions, graph, split, filter_name, protocol),
        calibration_error={slot: one.reliability.ece for slot, one in slots.items() if one.reliability},
        slots=slots,
        base_model=base,
    )


def rank_slots(
    asked: AskedScorer, graph: Graph, facts: Facts, filter_name: FilterName, calibrations: Calibrations
) -> dict[str, SlotRanks]:
    """Return the ranks of every slot of the facts; predicates and times of a sample of them."""
    scorer, history, index = asked.scorer, asked.protocol.history, AnswerIndex.of(graph, filter_name)
    questions = questions_of(facts, len(graph.predicates), filter_name)
    fact = facts_of_questions(facts, filter_name)
    half = len(questions) // 2  # the inverse ones, which ask for subjects, come last
    ranked: dict[str, SlotRanks] = {}
    for name, rows in (("object", slice(half)), ("subject", slice(half, None))):
        found = _rank_entities(scorer, questions.take(rows), index, calibrations[name], history)
        ranked[name] = replace(found, fact=fact[rows])
    others: tuple[Slot, ...] = ("predicate", "time")
    for slot in others:
        own = asked.for_times if slot == "time" else scorer
        some = sample(own, slot, facts, RANKED_AT_MOST)
        ranked[slot] = rank_slot(own.score_slot, graph, slot, some, calibrations[slot], pair_history(own.model, graph))
    return ranked


def sample(scorer: Scorer, slot: Slot, facts: Facts, most: int) -> Facts:
    """Return at most so many facts, drawn at random, and no more than can be scored in a short time and kept."""
    graph = scorer.graph
    width = {"predicate": len(graph.predicates), "time": len(graph.timeline)}.get(slot, len(graph.entities))
    if slot in ("subject", "object") or scorer.is_reranked(slot):
        return drawn(facts, min(most, max(1, SCORES_AT_MOST // width)))
    return drawn(facts, min(most, ASKED_AT_MOST, max(1, LOOKED_UP_AT_MOST // width)))


def drawn(facts: Facts, count: int) -> Facts:
    """Return so many facts, drawn at random by a fixed seed; all of them if there are no more."""
    if len(facts) <= count:
        return facts
    return facts.take(np.random.default_rng(0).choice(len(facts), count, replace=False))


def rank_entities(
    scorer: Scorer, questions: Facts, index: AnswerIndex, calibration: Calibration, history: PairHistory
) -> tuple[Ranks, Believed]:
    """Return the ranks of objects, which subjects are in inverse questions, and how far they can be believed."""
    still_open = OpenCandidates(scorer.graph, "object", history)
    found: list[Believed] = []

    def hear(batch: Facts, scores: Tensor) -> None:
        left = still_open.of(batch, scores)
        found.append(believed(calibration.probabilities(left.scores, left.kind), left.answer, left.kind))

    size = questions_at_once(len(scorer.graph.entities))
    return rank(scorer.score, questions, index, size, hear), join(found)


def _rank_entities(
    scorer: Scorer, questions: Facts, index: AnswerIndex, calibration: Calibration, history: PairHistory
) -> SlotRanks:
    """Return the ranks of objects or subjects; by counting, those of a sample."""
    graph, (ranks, found) = scorer.graph, rank_entities(scorer, questions, index, calibration, history)
    size = questions_at_once(len(graph.entities))
    counted = rank(partial(Counting(graph).score_slot, "object"), drawn(questions, ASKED_AT_MOST), index, size)
    return SlotRanks(ranks, counted, np.arange(len(questions)), found, (_NO_STEPS, _NO_STEPS))


def _overlaps(scorer: Scorer, graph: Graph, facts: Facts, calibration: Calibration) -> Sequence[IntervalOverlap | None]:
    """Return how well the likeliest intervals cover the true ones, by the run and by counting."""
    if not graph.has_intervals:
        return NO_OVERLAPS
    history = pair_history(scorer.model, graph)

    def probabilities(batch: Facts) -> Tensor:
        scores = scorer.score_slot("time", batch)
        return calibration.probabilities(scores, kinds_asked(history, "time", batch, scores))

    with torch.inference_mode():
        by_run = scorer.predict_intervals(facts) or likely_intervals(probabilities, facts)
        return [overlap(facts, *span) for span in (by_run, counted_intervals(graph, facts))]
