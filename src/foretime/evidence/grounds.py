"""The grounds of a data set: everything that the evidence of its questions is read from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from foretime.config import EvidenceConfig, FamilyName
from foretime.data.facts import concatenate
from foretime.data.graph import Graph
from foretime.evidence.families import FEATURES, RULED, Reach
from foretime.evidence.index import EvidenceIndex, evidence_index
from foretime.evidence.vocabulary import Vocabulary, rule_vocabulary
from foretime.rules.table import Rules

SCATTER = 2_654_435_761
"""An odd number: its multiples put subjects in an order that has nothing to do with their own numbers."""
FAMILY_NAMES: tuple[FamilyName, ...] = get_args(FamilyName)
Ids = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Grounds:
    """An index of events, the rules with weights of their own, and how far to look."""

    entities: int
    index: EvidenceIndex
    vocabulary: Vocabulary
    reach: Reach

    @property
    def weights(self) -> int:
        """How many weights the evidence has: of features, of (predicate, feature) pairs, of rules."""
        rules = RULED * len(self.vocabulary.pair_body) + len(self.vocabulary.path_body)
        return FEATURES * (1 + 2 * self.index.predicates) + rules

    def score(self, weights: Floats, subject: Ids, predicate: Ids, time: Ids) -> Floats:
        """Return the evidence of every entity as the object of each question, (questions, entities)."""
        scores = np.zeros((len(subject), self.entities), dtype=np.float32)
        self._walk(weights[None], scores, False, subject, predicate, time)
        return scores

    def score_one(self, weights: Floats, subject: Ids, predicate: Ids, objects: Ids, time: Ids) -> Floats:
        """Return the evidence of one entity as the object of each question, (questions,): as `score` has it."""
        from foretime.evidence.single import score_single

        out = np.empty(len(subject), dtype=np.float32)
        questions = (subject, predicate, objects, time)
        score_single(self.index, self.vocabulary, self.reach, weights, self.entities, *questions, out)
        return out

    def gradient(self, scores: Floats, subject: Ids, predicate: Ids, time: Ids) -> Floats:
        """Return the gradient of the weights, given that of the scores, (questions, entities)."""
        from foretime.evidence.kernels import RUNS

        tables = np.zeros((RUNS, self.weights), dtype=np.float32)
        self._walk(tables, scores, True, subject, predicate, time)
        return np.asarray(tables.sum(0))

    def by_family(self) -> dict[str, Grounds]:
        """Return the grounds of each family in use on its own."""
        used = {name for name in FAMILY_NAMES if getattr(self.reach, name)}
        return {
            name: replace(self, reach=self.reach._replace(**{other: other == name for other in FAMILY_NAMES}))
            for name in FAMILY_NAMES
            if name in used
        }

    def _walk(self, tables: Floats, scores: Floats, learn: bool, subject: Ids, predicate: Ids, time: Ids) -> None:
        from foretime.evidence.kernels import RUNS, walk_all  # numba is slow to load, and not every command walks

        order = np.argsort(subject * SCATTER % (1 << 31), kind="stable")
        cuts = self._cuts(subject[order], RUNS)
        walk_all(self.index, self.vocabulary, self.reach, tables, scores, learn, subject, predicate, time, order, cuts)

    def _cuts(self, subject: Ids, runs: int) -> Ids:
        """Return where to cut questions into runs that cost about the same: a subject with many partners costs more."""
        partners = self.index.pair[self.index.node[subject + 1]] - self.index.pair[self.index.node[subject]]
        cost = np.append(0, np.cumsum(partners + max(1.0, partners.mean() if len(partners) else 0.0)))
        return np.searchsorted(cost, np.linspace(0, cost[-1], runs + 1))


def grounds_of(graph: Graph, config: EvidenceConfig, rules: Rules | None = None) -> Grounds:
    """Return the grounds of a data set; `rules` are mined ones, of which the paths are used."""
    facts = concatenate([graph.facts(split) for split in config.splits])
    index = evidence_index(facts, len(graph.entities), len(graph.predicates), len(graph.timeline))
    paths = rules if "path" in config.families else None
    return Grounds(
        entities=len(graph.entities),
        index=index,
        vocabulary=rule_vocabulary(index, config.pair_support, paths, config.path_rules),
        reach=Reach(
            past_only=config.past_only,
            object_window=config.object_window,
            active_window=config.active_window,
            path_window=config.path_window,
            path_events=config.path_events,
            **{name: name in config.families for name in FAMILY_NAMES},
        ),
    )
