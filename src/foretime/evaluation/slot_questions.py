"""Questions for one slot as they are asked: what is already known of them, and of which kind they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from foretime.data.facts import Facts, Ids, concatenate
from foretime.data.graph import Graph
from foretime.devices import fetch, send
from foretime.evaluation.calibration import ScoredCandidates
from foretime.evaluation.groups import COUNT_KINDS, KINDS, PairHistory
from foretime.evaluation.ranks import batches, questions_at_once
from foretime.evaluation.slots import Slot, SlotIndex, SlotScore, at_single_times


def kinds_for(slot: Slot) -> tuple[str, ...]:
    """Return the kinds of questions for a slot."""
    return COUNT_KINDS if slot == "time" else KINDS


def kinds_asked(history: PairHistory, slot: Slot, facts: Facts, scores: Tensor) -> Ids:
    """Return the kind of each question as its place in `kinds_for`, (facts,).

    It is known when the question is asked: where an entity is asked for, it is that of the best candidate, not that of
    the true answer. To group by the true answer would be to select on the outcome.
    """
    if slot == "time":
        return history.kinds_by_count(facts)
    if slot == "predicate":
        return history.kinds_by_distance(facts)
    return history.kinds_by_distance(replace(facts, **{slot: fetch(scores.argmax(dim=1)).numpy()}))


class OpenCandidates:
    """The candidates for a slot that train, valid and updates do not have: what probabilities are shared out among.

    These are the answers that are not filtered out for a user.
    """

    def __init__(self, graph: Graph, slot: Slot, history: PairHistory) -> None:
        # an interval of valid must not give away one of its ends when the other is asked for
        own_ends = slot == "time" and graph.has_intervals
        known = graph.seen if own_ends else concatenate([graph.seen, graph.valid])
        if slot == "object":  # an inverse question may be asked for it too
            known = known.with_inverses(len(graph.predicates))
        self.slot, self._history, self._index = slot, history, SlotIndex(graph, slot, known)

    def of(self, facts: Facts, scores: Tensor) -> ScoredCandidates:
        """Return the candidates of facts whose answers are known; every other known one scores −∞."""
        answer = facts.start if self.slot == "time" else getattr(facts, self.slot)
        row, column = self._index.find(facts)
        other = column != answer[row]
        left = scores.clone()
        left[send(row[other], left.device), send(column[other], left.device)] = -torch.inf
        return ScoredCandidates(left, send(answer, left.device), kinds_asked(self._history, self.slot, facts, left))


@torch.inference_mode()
def candidates(
    score: SlotScore, graph: Graph, slot: Slot, facts: Facts, history: PairHistory
) -> Iterator[ScoredCandidates]:
    """Yield the open candidates of the facts; a fact with two ends asks for both of its times."""
    still_open = OpenCandidates(graph, slot, history)
    size = questions_at_once(len(graph.entities))
    for _, batch in batches(at_single_times(facts) if slot == "time" else facts, size):
        yield still_open.of(batch, score(slot, batch))
