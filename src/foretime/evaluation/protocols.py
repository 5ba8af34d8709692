"""What a question may see when it is evaluated: three protocols, each by its name.

`completion`   events before, at and after its time: a gap is filled.
`single-step`  every event before its time, those of the split asked about too; the weights stay as they are.
`multi-step`   the events of earlier splits: everything is asked from the day on which these end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from foretime.config import EvidenceConfig
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.data.splitting import SPLITS
from foretime.errors import ConfigError
from foretime.evaluation.groups import PairHistory

ProtocolName = Literal["completion", "single-step", "multi-step"]
PROTOCOLS: dict[str, str] = {
    "completion": "a question sees events before, at and after its time",
    "single-step": "a question sees every event before its time, those of the split asked about too; weights fixed",
    "multi-step": "a question sees the events up to the end of an earlier split, and none of the split asked about",
}
"""The protocols, and what they mean in a sentence."""
FORECASTS = ("single-step", "multi-step")


@dataclass(frozen=True)
class EvaluationProtocol:
    """The protocol of an evaluation, and the history that its questions may see."""

    name: ProtocolName
    history: PairHistory
    last_step: int | None = None
    """The last step with evidence, where everything is asked from one day."""


def protocol_of(evidence: EvidenceConfig, split: str) -> ProtocolName:
    """Return the protocol that the evidence of a run means for a split."""
    if not evidence.past_only:
        return "completion"
    return "single-step" if split in evidence.splits else "multi-step"


def splits_under(protocol: ProtocolName, split: str) -> Sequence[str]:
    """Return the splits whose events are evidence for a split, by a protocol of forecasts."""
    at = SPLITS.index(split) + (protocol == "single-step")
    if at == 0:
        raise ConfigError("nothing comes before train, so it has no multi-step forecasts; choose valid or test")
    return SPLITS[:at]


def check_protocol(evidence: EvidenceConfig, protocol: ProtocolName) -> None:
    """Raise `ConfigError` if a run cannot be evaluated under a protocol."""
    if protocol not in PROTOCOLS:
        raise ConfigError(f"unknown protocol {protocol!r}; use {', '.join(PROTOCOLS)}")
    if protocol == "completion" and evidence.past_only:
        raise ConfigError("this run looks at the past alone; for completion train one without --past-only")
    if protocol != "completion" and not evidence.past_only:
        raise ConfigError(
            f"{protocol} is a protocol of forecasts, and this run has learned to look at later events too; train one "
            "with --past-only and a split by time, as --valid-from and --test-from make it"
        )


def check_evidence(evidence: EvidenceConfig, graph: Graph) -> None:
    """Raise `ConfigError` if test would be evidence where a question could see what is asked about."""
    if "test" not in evidence.splits:
        return
    if not evidence.past_only:
        raise ConfigError("evidence.splits has test: answers would be their own evidence; use --past-only with it")
    if missing := [split for split in SPLITS if split not in evidence.splits]:
        raise ConfigError(f"evidence.splits has test and not {missing[0]}; single-step needs all three")
    if not in_order(graph):
        raise ConfigError(
            "evidence.splits has test, and the splits overlap in time, so that weights would be learned from test; "
            "split by time, as --valid-from and --test-from do"
        )


def in_order(graph: Graph) -> bool:
    """Return whether train comes before valid, and valid before test."""
    splits = (graph.train, graph.valid, graph.test)
    return all(_in_order(splits[i], splits[j]) for i, j in ((0, 1), (1, 2), (0, 2)))


def _in_order(earlier: Facts, later: Facts) -> bool:
    """Return whether all facts of one split begin before all facts of another; an empty one is in order."""
    if not len(earlier) or not len(later):
        return True
    return bool(earlier.known_ends()[0].max() < np.min(later.known_ends()[0]))
