"""The probability of an entity that stands first in a chain, taken apart by the predicates that may be meant."""

from __future__ import annotations

import math

import torch

from foretime.inference.answers import Question
from foretime.inference.chain import Chain
from foretime.inference.explanation.phrases import isolated
from foretime.inference.explanation.reasons import ShownReason
from foretime.inference.explanation.vocabulary import GraphWords

NAMED = 10
"""Predicates that have a reason of their own; the others share one."""


class EntityReasons:
    """Puts the probability of a candidate for the first slot of a chain into the words of a graph."""

    def __init__(self, words: GraphWords, question: Question, chain: Chain) -> None:
        if chain.predicates is None or chain.shares is None:
            raise ValueError("the chain sums over no predicates")
        self._words, self._predicates, self._shares = words, chain.predicates, chain.shares
        ends = (question.subject, question.object)
        self._who, self._whom = ("anyone" if end is None else isolated(end) for end in ends)

    def likeliest(self, candidate: int) -> int:
        """Return the predicate that adds most to the probability of a candidate."""
        return int(self._predicates[int(self._shares[:, candidate].argmax())])

    def find(self, candidate: int) -> list[ShownReason]:
        """Return the reasons; their contributions add up to the probability of the candidate."""
        own = self._shares[:, candidate]
        order = torch.argsort(own, descending=True, stable=True).tolist()
        found = [self._of(place, candidate) for place in order[:NAMED]]
        left = math.fsum(float(own[place]) for place in order[NAMED:])
        said = "all other predicates together"
        return [*found, ShownReason("predicates", "general", said, said, said, rest=left, key=("predicates",))]

    def _of(self, place: int, candidate: int) -> ShownReason:
        words, share = self._words, float(self._shares[place, candidate])
        predicate, chance = int(self._predicates[place]), float(self._shares[place].sum())
        then = share / chance if chance > 0 else 0.0
        what, name = words.happened(predicate, self._who, self._whom), words.name(candidate)
        said = f"{what} is {chance:.0%} likely, and {name} is then the other one with {then:.0%}"
        title = f"if it is {words.quoted(predicate)}"
        return ShownReason("predicate", "others", title, said, said, rest=share, key=("predicate", predicate))
