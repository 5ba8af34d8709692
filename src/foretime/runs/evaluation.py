"""A run's scorer evaluated: ranks and calibration of a split, and the temperatures of its confidences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation import Evaluation, FilterName, evaluate, model_scorer
from foretime.evaluation.calibration import expected_calibration_error, fit_temperature, top_confidences
from foretime.evaluation.slots import SLOTS, Slot, candidates
from foretime.evidence.module import WithEvidence
from foretime.reranker.scorer import Scorer

SCORES_AT_MOST = 20_000_000
"""Scores that are kept at once to fit a temperature: more questions would not move it."""
FACTS_AT_MOST = 2_000
LOOKED_UP_AT_MOST = 400_000
"""Scores that are looked up in the evidence one by one to fit a temperature."""


def evaluate_split(
    scorer: Scorer, graph: Graph, split: str, filter_name: FilterName, temperatures: dict[str, float]
) -> Evaluation:
    """Return the evaluation of a split with its calibration errors, and that of the base model under a re-ranker."""
    errors: dict[str, float] = {
        slot: calibration_error(scorer, graph, slot, graph.facts(split), temperatures[slot]) for slot in SLOTS
    }
    base = evaluate(model_scorer(scorer.model), graph, split, filter_name) if scorer.reranked is not None else None
    return replace(evaluate(scorer.score, graph, split, filter_name), calibration_error=errors, base_model=base)


def calibrate(scorer: Scorer, graph: Graph) -> dict[str, float]:
    """Return the temperature of each slot that may be asked for, fitted on valid."""
    return {
        slot: fit_temperature(candidates(scorer.score_slot, graph, slot, _sample(scorer, graph, slot, graph.valid)))
        for slot in SLOTS
    }


def calibration_error(scorer: Scorer, graph: Graph, slot: Slot, facts: Facts, temperature: float) -> float:
    """Return the expected calibration error of the best answers for a slot of (a sample of) the facts."""
    asked = candidates(scorer.score_slot, graph, slot, _sample(scorer, graph, slot, facts))
    return expected_calibration_error(*top_confidences(asked, temperature))


def _sample(scorer: Scorer, graph: Graph, slot: Slot, facts: Facts) -> Facts:
    """Return facts drawn at random, as many as their candidates' scores may be kept at once.

    Evidence is looked up again for each predicate and each time, so there are fewer of those.
    """
    width = {"predicate": len(graph.predicates), "time": 10 * len(graph.timeline)}.get(slot, len(graph.entities))
    looked_up = isinstance(scorer.model, WithEvidence) and slot in ("predicate", "time") and scorer.slots is None
    limit = max(1, min(FACTS_AT_MOST, (LOOKED_UP_AT_MOST if looked_up else SCORES_AT_MOST) // width))
    if len(facts) <= limit:
        return facts
    return facts.take(np.random.default_rng(0).choice(len(facts), limit, replace=False))
