"""A scorer under a protocol: the same weights, rules and trees over the events that its questions may see."""

from __future__ import annotations

from dataclasses import dataclass

from foretime.config import EvidenceConfig
from foretime.data.facts import concatenate
from foretime.data.graph import Graph
from foretime.evaluation.groups import PairHistory
from foretime.evaluation.protocols import (
    EvaluationProtocol,
    ProtocolName,
    check_protocol,
    protocol_of,
    splits_under,
)
from foretime.evidence.events import events_in
from foretime.evidence.module import evidence_of
from foretime.models import Model
from foretime.reranker.other_evidence import scorer_on
from foretime.reranker.scorer import Scorer


@dataclass(frozen=True)
class AskedScorer:
    """A scorer, and the protocol under which it is asked."""

    scorer: Scorer
    protocol: EvaluationProtocol
    for_times: Scorer
    """What scores an open time: it has no time to look back from, so it sees earlier splits alone in forecasts."""


def pair_history(model: Model, graph: Graph) -> PairHistory:
    """Return the history that tells the kinds of questions: train, or in forecasts all past events that may be seen."""
    evidence = evidence_of(model)
    if evidence is None or not evidence.past_only:
        return PairHistory(graph)
    return PairHistory(graph, True, events_in(evidence.index.events), evidence.index.max_gap)


def ask(
    scorer: Scorer, graph: Graph, evidence: EvidenceConfig, split: str, wanted: ProtocolName | None = None
) -> AskedScorer:
    """Return the scorer of a run as a split is asked: under its own protocol or a wanted one.

    Raises `ConfigError` if the run cannot be asked so.
    """
    own = protocol_of(evidence, split)
    if wanted is not None:
        check_protocol(evidence, wanted)
    name = wanted or own
    if wanted is not None and name != "completion":
        scorer = _on_splits(scorer, graph, name, split)
    for_times = _on_splits(scorer, graph, "multi-step", split) if name == "single-step" and split != "train" else scorer
    history = pair_history(scorer.model, graph)
    return AskedScorer(scorer, EvaluationProtocol(name, history, _last_step(scorer, name)), for_times)


def _on_splits(scorer: Scorer, graph: Graph, protocol: ProtocolName, split: str) -> Scorer:
    return scorer_on(scorer, graph, concatenate([graph.facts(name) for name in splits_under(protocol, split)]))


def _last_step(scorer: Scorer, protocol: ProtocolName) -> int | None:
    """Return the last step with evidence, where everything is asked from there."""
    evidence = evidence_of(scorer.model)
    if protocol != "multi-step" or evidence is None:
        return None
    return int(evidence.index.events.time.max(initial=-1))
