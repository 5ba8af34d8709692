"""Answers to questions with two open slots, by the chain rule: P(first, second) = P(first) · P(second | first).

`chain` says which slot is the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts, Ids
from foretime.errors import QuestionError
from foretime.inference.answers import AlreadyKnown, Answer, Answers, Question
from foretime.inference.chain import AT_ONCE, LEFT_OUT, Chain, allowed_rows, chain_of, facts_with
from foretime.inference.restricting import restricted
from foretime.inference.understanding import ENTITIES
from foretime.reranker.slots.first import Chances

if TYPE_CHECKING:
    from foretime.inference.predictor import Predictor, Scored


class _PairScores(NamedTuple):
    """All pairs of some candidates for the first slot, (chosen, candidates for the second) each."""

    scores: Tensor
    """log P(first) + log P(second | first)."""
    of_first: Tensor
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
    chain = chain_of(predictor, question, asked)
    order = np.argsort(-chain.with_known, kind="stable")
    left = 1.0 - np.cumsum(chain.chances[order])
    best: list[_Pair] = []
    for begin in range(0, len(order), AT_ONCE):
        if begin and (left[begin - 1] < LEFT_OUT or _is_beyond(best, top, float(chain.with_known[order[begin]]))):
            break
        ids = order[begin : begin + AT_ONCE]
        scored = _score(predictor, question, asked, chain, ids, already_known == "hide")
        values, places = scored.scores.reshape(-1).topk(min(top, scored.scores.numel()))
        best += [_pair(scored, ids, place) for place in places[values > -torch.inf].tolist()]
        best = sorted(best, key=lambda pair: (-pair.score, pair.first, pair.second))[:top]
    answers = tuple(_answer(predictor, question, chain, rank, pair) for rank, pair in enumerate(best, start=1))
    others = max(0.0, 1.0 - math.fsum(pair.probability or 0.0 for pair in best))
    return Answers(question, answers, others, allowed_probability=chain.within)


def place_two(predictor: Predictor, question: Question, names: Sequence[str]) -> Answer:
    """Return the answer of two names, wherever it stands among all pairs."""
    asked = predictor.facts_of([question], question.targets)
    chain = chain_of(predictor, question, asked)
    named = dict(zip(question.targets, names, strict=True))
    first_id, second_id = (predictor.understanding.finder(slot).id(named[slot]) for slot in chain.slots)
    order = np.argsort(-chain.with_known, kind="stable")
    own = int(np.flatnonzero(order == first_id)[0])
    parts = [order[begin : begin + AT_ONCE] for begin in range(0, len(order), AT_ONCE)]

    def score(ids: Ids) -> _PairScores:
        return _score(predictor, question, asked, chain, ids, hide=False)

    ids = parts[own // AT_ONCE]  # among the same others as in the list, so that no digit differs
    scored = score(ids)
    pair = _pair(scored, ids, own % AT_ONCE * scored.scores.shape[1] + second_id)
    if pair.score == -math.inf:
        raise QuestionError(f"{', '.join(names)!r} is not among the answers{predictor._why_not(question)}")
    better = 0
    for ids in parts:
        if _log(chain.with_known[ids[:1]])[0] < pair.score:
            break
        better += _count_before(score(ids).scores, ids, pair)
    return _answer(predictor, question, chain, 1 + better, pair)


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


def _score(predictor: Predictor, question: Question, asked: Facts, chain: Chain, ids: Ids, hide: bool) -> _PairScores:
    """Return the scores of all pairs of some candidates for the first slot; −∞ for known ones that are to be hidden."""
    first, second = chain.slots
    found = predictor._score(second, facts_with(asked, first, ids))
    if second in ENTITIES:
        found = restricted(found, allowed_rows(predictor, question, ids))
    given_first = torch.log(found.probability.nan_to_num(0.0)).double()  # −∞ for what is known already
    of_first = torch.from_numpy(_log(chain.chances[ids]))[:, None].expand_as(given_first)
    if not hide:
        given_first = torch.where(found.known, torch.log_softmax(found.scores, 1).double(), given_first)
        of_first = torch.where(found.known, torch.from_numpy(_log(chain.with_known[ids]))[:, None], of_first)
    return _PairScores(of_first + given_first, of_first, given_first, found)


def _pair(scored: _PairScores, ids: Ids, place: int) -> _Pair:
    """Return one pair by its place among all pairs of some candidates for the first slot."""
    row, column = divmod(place, scored.scores.shape[1])
    score = float(scored.scores[row, column])
    split = next((name for name, mask in scored.found.splits.items() if bool(mask[row, column])), None)
    probability = None if bool(scored.found.known[row, column]) else float(np.exp(score))
    terms = (float(scored.of_first[row, column]), float(scored.given_first[row, column]))
    return _Pair(score, probability, int(ids[row]), column, terms, split)


def _answer(predictor: Predictor, question: Question, chain: Chain, rank: int, pair: _Pair) -> Answer:
    found = dict(zip(chain.slots, (pair.first, pair.second), strict=True))
    names = {slot: predictor._names(slot).name(found[slot]) for slot in question.targets}
    return Answer(
        rank=rank,
        name=", ".join(names.values()),
        score=pair.score,
        probability=pair.probability,
        already_known=pair.known,
        terms=dict(zip(chain.slots, pair.terms, strict=True)),
        names=names,
        source=(predictor, question),
    )
