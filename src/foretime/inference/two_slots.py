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
from foretime.inference.answers import AlreadyKnown, Answer, Answers, Question
from foretime.inference.first_slot import first_slot
from foretime.inference.restricting import restricted, restricted_chances
from foretime.inference.understanding import ENTITIES
from foretime.reranker.slots.first import Chances

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
    chances, within = first_chances(predictor, question, asked)
    order = np.argsort(-chances, kind="stable")
    left = 1.0 - np.cumsum(chances[order])
    best: list[_Pair] = []
    for begin in range(0, len(order), AT_ONCE):
        if begin and (left[begin - 1] < LEFT_OUT or _is_beyond(best, top, float(chances[order[begin]]))):
            break
        chosen = order[begin : begin + AT_ONCE]
        first = _First(chosen, chances[chosen])
        scored = _score(predictor, question, asked, first, already_known == "hide")
        values, places = scored.scores.reshape(-1).topk(min(top, scored.scores.numel()))
        best += [_pair(scored, first, place) for place in places[values > -torch.inf].tolist()]
        best = sorted(best, key=lambda pair: (-pair.score, pair.first, pair.second))[:top]
    answers = tuple(_answer(predictor, question, rank, pair) for rank, pair in enumerate(best, start=1))
    others = max(0.0, 1.0 - math.fsum(pair.probability or 0.0 for pair in best))
    return Answers(question, answers, others, allowed_probability=within)


def first_chances(predictor: Predictor, question: Question, asked: Facts) -> tuple[Chances, float | None]:
    """Return how likely each candidate for the first slot is, (candidates,), and a pair that the question allows.

    Where it restricts its answers, the first is given that both are allowed.
    """
    chances = first_slot(predictor, question, asked).chances
    allowed = predictor.understanding.allowed(question)
    if allowed is None:
        return chances, None
    first, second = question.targets

    def given_first(ids: Ids) -> Tensor:
        facts = replace(asked.take(np.zeros(len(ids), dtype=np.int64)), **{first: ids.astype(np.int64)})
        inside = predictor._score(second, facts).probability.nan_to_num(0.0)
        return inside.masked_fill(~allowed, 0.0).sum(1)

    return restricted_chances(chances, allowed if first in ENTITIES else None, given_first, AT_ONCE, LEFT_OUT)


def place_two(predictor: Predictor, question: Question, names: Sequence[str]) -> Answer:
    """Return the answer of two names, wherever it stands among all pairs."""
    finders = map(predictor.understanding.finder, question.targets)
    first_id, second_id = (finder.id(name) for finder, name in zip(finders, names, strict=True))
    asked = predictor.facts_of([question], question.targets)
    chances, _ = first_chances(predictor, question, asked)
    order = np.argsort(-chances, kind="stable")
    own = int(np.flatnonzero(order == first_id)[0])
    parts = [order[begin : begin + AT_ONCE] for begin in range(0, len(order), AT_ONCE)]

    def score(ids: Ids) -> tuple[_First, _PairScores]:
        first = _First(ids, chances[ids])
        return first, _score(predictor, question, asked, first, hide=False)

    first, scored = score(parts[own // AT_ONCE])  # among the same others as in the list, so that no digit differs
    pair = _pair(scored, first, own % AT_ONCE * scored.scores.shape[1] + second_id)
    if pair.score == -math.inf:
        raise QuestionError(f"{', '.join(names)!r} is not among the answers{predictor._why_not(question)}")
    better = 0
    for ids in parts:
        if _log(chances[ids[:1]])[0] < pair.score:
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
    return len(best) >= top and best[-1].score > _log(np.array([chance]))[0]


def _log(chances: Chances) -> Chances:
    """Return the logarithm, −∞ for what is not possible."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances))


def _score(predictor: Predictor, question: Question, asked: Facts, first: _First, hide: bool) -> _PairScores:
    """Return the scores of all pairs of some candidates for the first slot; −∞ for known ones that are to be hidden."""
    slots = question.targets
    facts = replace(asked.take(np.zeros(len(first.ids), dtype=np.int64)), **{slots[0]: first.ids.astype(np.int64)})
    allowed = predictor.understanding.allowed(question)
    rows = None if allowed is None else allowed.expand(len(first.ids), -1)
    found = restricted(predictor._score(slots[1], facts), rows)
    given_first = torch.log(found.probability.nan_to_num(0.0))  # −∞ for what is known already
    if not hide:
        given_first = torch.where(found.known, torch.log_softmax(found.scores, 1), given_first)
    scores = torch.from_numpy(_log(first.chances))[:, None] + given_first.double()  # (chosen, entities)
    return _PairScores(scores, given_first, found)


def _pair(scored: _PairScores, first: _First, place: int) -> _Pair:
    """Return one pair by its place among all pairs of some candidates for the first slot."""
    row, column = divmod(place, scored.scores.shape[1])
    score = float(scored.scores[row, column])
    split = next((name for name, mask in scored.found.splits.items() if bool(mask[row, column])), None)
    probability = None if bool(scored.found.known[row, column]) else float(np.exp(score))
    terms = (float(_log(first.chances[row : row + 1])[0]), float(scored.given_first[row, column]))
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
