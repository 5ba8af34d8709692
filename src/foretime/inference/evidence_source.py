"""Where a run looks its evidence up, and the same run over other facts or without some rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts, concatenate, inverse
from foretime.data.graph import Graph
from foretime.errors import QuestionError
from foretime.evidence.families import FEATURES, RULED
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import evidence_of
from foretime.inference.changes import EventIds, event_text, nearest_facts
from foretime.inference.predictor import Predictor
from foretime.reranker.other_evidence import EvidenceFilter, Mask, looks_up_events
from foretime.rules.rule import RuleIds

NO_EVENTS = "this run looks up no events, so none can be left out or added; train with --evidence or with a preset"


class EvidenceSource:
    """The facts that a run looks its evidence up in, sorted when they are first changed."""

    def __init__(self, predictor: Predictor, splits: Sequence[str], sorted_: EvidenceFilter | None = None) -> None:
        if not looks_up_events(predictor.scorer):
            raise QuestionError(NO_EVENTS)
        self.predictor, self.splits = predictor, splits
        self.facts = concatenate([predictor.graph.facts(split) for split in splits])
        self._filter = sorted_

    @property
    def filter(self) -> EvidenceFilter:
        """The facts sorted for the scorer of the run."""
        if self._filter is None:
            self._filter = self._sorted(self.predictor.graph, own=True)
        return self._filter

    def rows_of(self, meant: EventIds | RuleIds | int) -> Mask:
        """Return which facts an event or a predicate has, none for a rule; an event that is not there is an error."""
        if isinstance(meant, RuleIds):
            return np.zeros(len(self.facts), dtype=bool)
        if isinstance(meant, int):
            return np.asarray(self.facts.predicate == meant)
        found, graph = meant.matches(self.facts), self.predictor.graph
        if not found.any():
            near = " or ".join(event_text(self.facts, row, graph) for row in nearest_facts(meant, self.facts).tolist())
            wanted, where = event_text(meant.fact(), 0, graph), " and ".join(self.splits)
            raise QuestionError(f"no event {wanted} in {where}; {f'did you mean {near}?' if near else 'see its names'}")
        return found

    def changed(self, kept: Mask, added: Facts, past_only: bool | None, weights: Tensor | None) -> Predictor:
        """Return the predictor whose evidence has only the facts that are `kept`, and those that are `added`."""
        graph, at = self.predictor.graph, 0
        splits: dict[str, Any] = {}
        for split in self.splits:
            own = graph.facts(split)
            splits[split] = own.take(kept[at : at + len(own)])
            at += len(own)
        if len(added):
            first = "train" if "train" in self.splits else self.splits[0]
            changed = replace(graph, **{**splits, first: concatenate([splits[first], added])})
            scorer = self._sorted(changed).scorer(None, past_only, weights)
        else:
            changed = replace(graph, **splits)
            scorer = self.filter.scorer(None if kept.all() else kept, past_only, weights)
        return self.predictor.on(scorer, changed)

    def _sorted(self, graph: Graph, own: bool = False) -> EvidenceFilter:
        parts = [graph.facts(split) for split in self.splits]
        before = self.splits.index("train") if "train" in self.splits else None
        train_at = None if before is None else sum(map(len, parts[:before]))
        return EvidenceFilter(self.predictor.scorer, graph, concatenate(parts), train_at, own)


def without_rules(predictor: Predictor, rules: Sequence[RuleIds]) -> Tensor | None:
    """Return the weights of the evidence with those of some rules at 0."""
    if not rules:
        return None
    evidence = evidence_of(predictor.model)
    if evidence is None:
        raise QuestionError("this run has no evidence, so it has learned no weights of rules")
    weights = evidence.weights.detach().clone()
    for rule in rules:
        places = rule_weights(evidence.index, rule)
        if not places:
            name = ", ".join(predictor.graph.predicates.names[q % evidence.index.events.predicates] for q in rule.body)
            raise QuestionError(
                f"the evidence of this run has no weights for this rule from {name}: it weighs single events between "
                "the two, and mined paths of two; foretime explain prints the rules of an answer"
            )
        weights[torch.tensor(places)] = 0.0
    return weights


def rule_weights(index: EvidenceIndex, rule: RuleIds) -> list[int]:
    """Return where the weights of a rule lie, in both directions: none if the evidence does not have it."""
    predicates, vocabulary = index.events.predicates, index.rules
    every = 2 * predicates
    mirror = tuple(inverse(q, predicates) for q in reversed(rule.body))
    found: list[int] = []
    for head, body in ((rule.head, rule.body), (inverse(rule.head, predicates), mirror)):
        pair = len(body) == 1
        first, key = (vocabulary.pair, body[0]) if pair else (vocabulary.path, body[0] * every + body[-1])
        bodies = vocabulary.pair_body if pair else vocabulary.path_body
        if len(body) == 2 and rule.shape == "pair":
            continue
        for place in np.flatnonzero(bodies[first[head] : first[head + 1]] == key) + first[head]:
            base, size = FEATURES * (1 + every), RULED if pair else 1
            begin = base + (0 if pair else RULED * len(vocabulary.pair_body)) + size * int(place)
            found += range(begin, begin + size)
    return found
