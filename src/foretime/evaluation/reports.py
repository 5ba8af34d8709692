"""What a ranking says: metrics with an interval, by direction, by predicate, and for what training never showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.filters import FilterName, KnownAnswers, facts_of_questions, questions_of
from foretime.evaluation.kinds import KINDS, kinds_of
from foretime.evaluation.ranks import Ranks, ScoreFunction, rank

HITS = (1, 3, 10)
RESAMPLES = 1000


@dataclass(frozen=True)
class Metrics:
    """Means over questions, by realistic ranks."""

    questions: int
    mrr: float
    hits: dict[str, float]

    @classmethod
    def of(cls, ranks: NDArray[np.float64]) -> Metrics:
        """Return the metrics of the ranks; all zero for none."""
        if len(ranks) == 0:
            return cls(0, 0.0, {str(k): 0.0 for k in HITS})
        return cls(len(ranks), float(np.mean(1.0 / ranks)), {str(k): float(np.mean(ranks <= k)) for k in HITS})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: `{"questions": 3, "mrr": 0.58, "hits@1": 0.33, …}`."""
        return {"questions": self.questions, "mrr": self.mrr, **{f"hits@{k}": hits for k, hits in self.hits.items()}}


@dataclass(frozen=True)
class Report:
    """The evaluation of one split under one filter."""

    split: str
    filter: str
    all: Metrics
    mrr_interval: tuple[float, float]
    optimistic_mrr: float
    pessimistic_mrr: float
    objects: Metrics
    subjects: Metrics
    seen: Metrics
    unseen: Metrics
    kinds: dict[str, Metrics]
    predicates: dict[str, Metrics]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: own.to_dict() for name, own in value.items()}
    return value.to_dict() if isinstance(value, Metrics) else value


def known_answers(graph: Graph, filter_name: FilterName) -> KnownAnswers:
    """Return the index of all answers known in train, valid and test, in both directions."""
    return KnownAnswers(graph.facts().with_inverses(len(graph.predicates)), filter_name)


def evaluate(
    scorer: ScoreFunction,
    graph: Graph,
    split: str = "test",
    filter_name: FilterName = "exact",
    batch_size: int = 256,
) -> Report:
    """Return the report of a scorer on a split of the data set, by the one protocol that every figure here follows."""
    questions = questions_of(graph.facts(split), len(graph.predicates), filter_name)
    ranks = rank(scorer, questions, known_answers(graph, filter_name), batch_size)
    return summarize(ranks, questions, graph, split, filter_name)


def summarize(ranks: Ranks, questions: Facts, graph: Graph, split: str, filter_name: FilterName) -> Report:
    """Return the report of ranks; `questions` are those that `questions_of` makes of the split."""
    values = ranks.realistic
    inverse_asked = questions.predicate >= len(graph.predicates)
    unseen = unseen_in_train(questions, graph)
    return Report(
        split=split,
        filter=filter_name,
        all=Metrics.of(values),
        mrr_interval=bootstrap_mrr(values, facts_of_questions(graph.facts(split), filter_name)),
        optimistic_mrr=Metrics.of(ranks.optimistic).mrr,
        pessimistic_mrr=Metrics.of(ranks.pessimistic).mrr,
        objects=Metrics.of(values[~inverse_asked]),
        subjects=Metrics.of(values[inverse_asked]),
        seen=Metrics.of(values[~unseen]),
        unseen=Metrics.of(values[unseen]),
        kinds=_by_kind(values, kinds_of(questions, graph)),
        predicates=_by_predicate(values, questions.predicate % len(graph.predicates), graph),
    )


def unseen_in_train(questions: Facts, graph: Graph) -> NDArray[np.bool_]:
    """Return which questions have a subject or an answer that no training fact has."""
    seen = np.zeros(len(graph.entities), dtype=bool)
    seen[graph.train.subject] = True
    seen[graph.train.object] = True
    return ~(seen[questions.subject] & seen[questions.object])


def bootstrap_mrr(
    ranks: NDArray[np.float64], fact: Ids, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Return the 95 % interval of the MRR over resampled facts.

    `fact` numbers the fact of each rank: all questions of a fact, in both directions and at all of its steps, are drawn
    together, because they are not independent.
    """
    if len(ranks) == 0:
        return 0.0, 0.0
    total, count = np.bincount(fact, weights=1.0 / ranks), np.bincount(fact)  # (facts,) each
    generator = np.random.default_rng(seed)
    drawn = (generator.integers(len(count), size=len(count)) for _ in range(resamples))
    draws = [total[rows].sum() / count[rows].sum() for rows in drawn]
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def _by_kind(ranks: NDArray[np.float64], kind: NDArray[np.int64]) -> dict[str, Metrics]:
    """Return the metrics of each kind of question, by how near in time the pair has met in training."""
    return {name: Metrics.of(ranks[kind == place]) for place, name in enumerate(KINDS)}


def _by_predicate(ranks: NDArray[np.float64], predicate: NDArray[np.int64], graph: Graph) -> dict[str, Metrics]:
    """Return the metrics of each predicate that was asked about, the most frequent first."""
    if len(ranks) == 0:
        return {}
    order = np.argsort(predicate, kind="stable")
    present, first = np.unique(predicate[order], return_index=True)
    groups = np.split(ranks[order], first[1:])
    found = {graph.predicates.name(int(p)): Metrics.of(group) for p, group in zip(present, groups, strict=True)}
    return dict(sorted(found.items(), key=lambda item: -item[1].questions))
