"""Answers to questions with two open slots, by the chain rule: P(first, second) = P(first) · P(second | first)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids
from foretime.evaluation.slots import Slot
from foretime.evidence.index import build_index
from foretime.evidence.module import evidence_of
from foretime.inference.answers import AlreadyKnown, Answer, Answers, Question

if TYPE_CHECKING:
    from foretime.evidence.events import EventLists
    from foretime.inference.predictor import Predictor

AT_ONCE = 16
"""Candidates for the first slot whose second slots are scored at once."""
LEFT_OUT = 1e-4
"""Candidates for the first slot that have less than this together are not looked at."""


class _First(NamedTuple):
    """Some candidates for the first slot, and their probabilities."""

    ids: Ids
    chances: NDArray[np.float64]


class _Pair(NamedTuple):
    score: float
    probability: float | None
    first: int
    second: int
    terms: tuple[float, float]
    known: str | None


def answer_two(predictor: Predictor, question: Question, top: int, already_known: AlreadyKnown) -> Answers:
    """Return the best pairs for two open slots, best first."""
    asked = predictor.facts_of([question], question.targets)
    chances = _first_chances(predictor, question, asked)
    order = np.argsort(-chances, kind="stable")
    left = 1.0 - np.cumsum(chances[order])
    best: list[_Pair] = []
    for begin in range(0, len(order), AT_ONCE):
        if begin and (left[begin - 1] < LEFT_OUT or _is_beyond(best, top, float(chances[order[begin]]))):
            break
        chosen = order[begin : begin + AT_ONCE]
        first = _First(chosen, chances[chosen])
        best += _pairs(predictor, question.targets, asked, first, top, already_known == "hide")
        best = sorted(best, key=lambda pair: (-pair.score, pair.first, pair.second))[:top]
    answers = tuple(_answer(predictor, question, rank, pair) for rank, pair in enumerate(best, start=1))
    return Answers(question, answers, max(0.0, 1.0 - math.fsum(pair.probability or 0.0 for pair in best)))


def _is_beyond(best: list[_Pair], top: int, chance: float) -> bool:
    """Return whether no pair with such a chance of its first slot can be among the best."""
    return len(best) >= top and best[-1].score > np.log(chance)


def _events(predictor: Predictor) -> tuple[EventLists, bool]:
    """Return the events that the run reads, and whether it reads only those of the past."""
    evidence, reranked = evidence_of(predictor.model), predictor.scorer.reranked
    if evidence is not None or reranked is not None:
        index = evidence.index if evidence is not None else reranked.extractor.index  # type: ignore[union-attr]
        return index.events, index.reach.past_only
    from foretime.config import EvidenceConfig

    return build_index(predictor.graph, EvidenceConfig()).events, False


def _first_chances(predictor: Predictor, question: Question, asked: Facts) -> NDArray[np.float64]:
    from foretime.reranker.slots.first import predicate_chances, subject_chances

    events, past_only = _events(predictor)
    time = int(asked.known_ends()[0][0])
    if question.targets[0] == "subject":
        return subject_chances(events, int(asked.predicate[0]), time, past_only)
    as_subject = question.subject is not None
    entity = int(asked.subject[0] if as_subject else asked.object[0])
    counted = predicate_chances(events, entity, time, as_subject, past_only)
    slots = predictor.scorer.slots
    # the softmax knows what goes with what, the counts how much of it lately: their mean is better than either
    return counted if slots is None else (counted + slots.predicate_chances(asked, as_subject)[0]) / 2


def _pairs(
    predictor: Predictor, slots: Sequence[Slot], asked: Facts, first: _First, top: int, hide: bool
) -> list[_Pair]:
    """Return the best pairs of some candidates for the first slot, without known ones if those are to be hidden."""
    facts = replace(asked.take(np.zeros(len(first.ids), dtype=np.int64)), **{slots[0]: first.ids.astype(np.int64)})
    found = predictor._score(slots[1], facts)
    given_first = torch.log(found.probability.nan_to_num(0.0))  # −∞ for what is known already
    if not hide:
        given_first = torch.where(found.known, torch.log_softmax(found.scores, 1), given_first)
    scores = torch.from_numpy(np.log(first.chances))[:, None] + given_first.double()  # (chosen, entities)
    values, places = scores.reshape(-1).topk(min(top, scores.numel()))
    pairs = []
    possible = values > -torch.inf
    for score, place in zip(values[possible].tolist(), places[possible].tolist(), strict=True):
        row, column = divmod(place, scores.shape[1])
        split = next((name for name, mask in found.splits.items() if bool(mask[row, column])), None)
        probability = None if bool(found.known[row, column]) else float(np.exp(score))
        terms = (float(np.log(first.chances[row])), float(given_first[row, column]))
        pairs.append(_Pair(score, probability, int(first.ids[row]), column, terms, split))
    return pairs


def _answer(predictor: Predictor, question: Question, rank: int, pair: _Pair) -> Answer:
    slots = question.targets
    names = {
        slot: predictor._names(slot).name(place) for slot, place in zip(slots, (pair.first, pair.second), strict=True)
    }
    return Answer(
        rank=rank,
        name=", ".join(names.values()),
        score=pair.score,
        probability=pair.probability,
        already_known=pair.known,
        terms=dict(zip(slots, pair.terms, strict=True)),
        names=names,
        source=(predictor, question),
    )
