"""Answers to questions with two open slots, by the chain rule: P(first, second) = P(first) · P(second | first)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.errors import QuestionError
from foretime.evaluation.slots import Slot
from foretime.inference.answers import AlreadyKnown, Answer, Answers, Question
from foretime.inference.first_slot import first_slot

if TYPE_CHECKING:
    from foretime.inference.predictor import Predictor, Scored

AT_ONCE = 16
"""Candidates for the first slot whose second slots are scored at once."""
LEFT_OUT = 1e-4
"""Candidates for the first slot that have less than this together are not looked at."""


class _First(NamedTuple):
    """Some candidates for the first slot, and their probabilities."""

    ids: Ids
    chances: NDArray[np.float64]


class _PairScores(NamedTuple):
    """All pairs of some candidates for the first slot, (chosen, entities) each."""

    scores: Tensor
    """log P(first) + log P(second | first)."""
    given_first: Tensor
    found: Scored


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
    chances = first_slot(predictor, question, asked).chances
    order = np.argsort(-chances, kind="stable")
    left = 1.0 - np.cumsum(chances[order])
    best: list[_Pair] = []
    for begin in range(0, len(order), AT_ONCE):
        if begin and (left[begin - 1] < LEFT_OUT or _is_beyond(best, top, float(chances[order[begin]]))):
            break
        chosen = order[begin : begin + AT_ONCE]
        first = _First(chosen, chances[chosen])
        scored = _score(predictor, question.targets, asked, first, already_known == "hide")
        values, places = scored.scores.reshape(-1).topk(min(top, scored.scores.numel()))
        best += [_pair(scored, first, place) for place in places[values > -torch.inf].tolist()]
        best = sorted(best, key=lambda pair: (-pair.score, pair.first, pair.second))[:top]
    answers = tuple(_answer(predictor, question, rank, pair) for rank, pair in enumerate(best, start=1))
    return Answers(question, answers, max(0.0, 1.0 - math.fsum(pair.probability or 0.0 for pair in best)))


def place_two(predictor: Predictor, question: Question, names: Sequence[str]) -> Answer:
    """Return the answer of two names, wherever it stands among all pairs."""
    first_id, second_id = (predictor._names(slot).id(name) for slot, name in zip(question.targets, names, strict=True))
    asked = predictor.facts_of([question], question.targets)
    chances = first_slot(predictor, question, asked).chances
    order = np.argsort(-chances, kind="stable")
    own = int(np.flatnonzero(order == first_id)[0])
    parts = [order[begin : begin + AT_ONCE] for begin in range(0, len(order), AT_ONCE)]

    def score(ids: Ids) -> tuple[_First, _PairScores]:
        first = _First(ids, chances[ids])
        return first, _score(predictor, question.targets, asked, first, hide=False)

    first, scored = score(parts[own // AT_ONCE])  # among the same others as in the list, so that no digit differs
    pair = _pair(scored, first, own % AT_ONCE * scored.scores.shape[1] + second_id)
    if pair.score == -math.inf:
        raise QuestionError(f"{', '.join(names)!r} is not among the answers")
    better = 0
    for ids in parts:
        if np.log(chances[ids[0]]) < pair.score:
            break
        better += _count_before(score(ids)[1].scores, ids, pair)
    return _answer(predictor, question, 1 + better, pair)


def _count_before(scores: Tensor, ids: Ids, pair: _Pair) -> int:
    """Return how many pairs stand before one; ties stand in the order of ids."""
    first, second = torch.from_numpy(ids)[:, None], torch.arange(scores.shape[1])
    sooner = (first < pair.first) | ((first == pair.first) & (second < pair.second))
    return int(((scores > pair.score) | ((scores == pair.score) & sooner)).sum())


def _is_beyond(best: list[_Pair], top: int, chance: float) -> bool:
    """Return whether no pair with such a chance of its first slot can be among the best."""
    return len(best) >= top and best[-1].score > np.log(chance)


def _score(predictor: Predictor, slots: Sequence[Slot], asked: Facts, first: _First, hide: bool) -> _PairScores:
    """Return the scores of all pairs of some candidates for the first slot; −∞ for known ones that are to be hidden."""
    facts = replace(asked.take(np.zeros(len(first.ids), dtype=np.int64)), **{slots[0]: first.ids.astype(np.int64)})
    found = predictor._score(slots[1], facts)
    given_first = torch.log(found.probability.nan_to_num(0.0))  # −∞ for what is known already
    if not hide:
        given_first = torch.where(found.known, torch.log_softmax(found.scores, 1), given_first)
    scores = torch.from_numpy(np.log(first.chances))[:, None] + given_first.double()  # (chosen, entities)
    return _PairScores(scores, given_first, found)


def _pair(scored: _PairScores, first: _First, place: int) -> _Pair:
    """Return one pair by its place among all pairs of some candidates for the first slot."""
    row, column = divmod(place, scored.scores.shape[1])
    score = float(scored.scores[row, column])
    split = next((name for name, mask in scored.found.splits.items() if bool(mask[row, column])), None)
    probability = None if bool(scored.found.known[row, column]) else float(np.exp(score))
    terms = (float(np.log(first.chances[row])), float(scored.given_first[row, column]))
    return _Pair(score, probability, int(first.ids[row]), column, terms, split)


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
