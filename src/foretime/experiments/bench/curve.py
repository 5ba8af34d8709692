"""The curve of a run on valid, and whether it has converged."""

from __future__ import annotations

from typing import Any, NamedTuple

SHARE, LEAST_GAIN, LEAST_SHARE = 0.75, 0.002, 0.01
"""A curve has converged if the last quarter of its evaluations brought less than this MRR, and less than this share of
the best one: the gains of a weak model are small anyway."""
EVALUATIONS_AT_LEAST = 4
EVALUATIONS_WITHOUT_GAIN = 3
"""A curve that ran out of patience has converged if it is flat, or after so many evaluations without a gain."""


class Point(NamedTuple):
    """One evaluation on valid."""

    epoch: int
    seconds: float
    mrr: float


def curve_of(trace: list[dict[str, Any]]) -> list[Point]:
    """Return the evaluations on valid in a trace."""
    return [Point(line["epoch"], line["seconds"], line["valid_mrr"]) for line in trace if "valid_mrr" in line]


def last_gain(curve: list[Point]) -> float | None:
    """Return by how much the best MRR has risen in the last quarter, or None after too few evaluations."""
    if len(curve) < EVALUATIONS_AT_LEAST:
        return None
    before = curve[: int(SHARE * len(curve))]
    return max(point.mrr for point in curve) - max(point.mrr for point in before)


def has_converged(curve: list[Point], out_of_patience: bool) -> bool | None:
    """Return whether a finished training had converged, or None if its curve does not tell."""
    return True if out_of_patience and evaluations_since_best(curve) >= EVALUATIONS_WITHOUT_GAIN else is_flat(curve)


def is_flat(curve: list[Point]) -> bool | None:
    """Return whether the last quarter has brought next to nothing, or None after too few evaluations."""
    gain = last_gain(curve)
    return None if gain is None else gain < min(LEAST_GAIN, LEAST_SHARE * max(point.mrr for point in curve))


def evaluations_since_best(curve: list[Point]) -> int:
    """Return how many evaluations came after the best one."""
    return len(curve) - 1 - max(range(len(curve)), key=lambda place: curve[place].mrr)
