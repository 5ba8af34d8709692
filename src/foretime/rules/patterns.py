"""The five temporal patterns of the paper as one table.

A pattern says how often the time transfer operator moves each body predicate towards the head. Everything else
follows: the second body atom comes as many gaps after the first, and the head as many gaps after the last atom, as the
numbers fall. A gap of 0 is the same step, a gap of 1 is any of the W steps that follow.
"""

from __future__ import annotations

from typing import NamedTuple


class Pattern(NamedTuple):
    """How the atoms of a rule lie in time."""

    name: str
    number: int
    transfers: tuple[int, ...]

    @property
    def length(self) -> int:
        """How many body atoms the pattern has."""
        return len(self.transfers)

    @property
    def second_gap(self) -> int:
        """Gaps from the first body atom to the second; 0 for a single atom."""
        return self.transfers[0] - self.transfers[-1]

    @property
    def head_gap(self) -> int:
        """Gaps from the last body atom to the head."""
        return self.transfers[-1]

    @property
    def reach(self) -> int:
        """How many windows lie between the first body atom and the last moment at which the head may come."""
        return self.transfers[0]

    def times(self) -> tuple[str, ...]:
        """Return the times of the body atoms and of the head, as they are written."""
        written = ("t", "t+t1", "t+t1+t2")
        return (*(written[self.transfers[0] - k] for k in self.transfers), written[self.transfers[0]])


PATTERNS: dict[str, Pattern] = {
    pattern.name: pattern
    for pattern in (
        Pattern("follows", 1, (1,)),
        Pattern("accompanies", 2, (0,)),
        Pattern("chain_then", 3, (2, 1)),
        Pattern("joint_then", 4, (1, 1)),
        Pattern("joint_now", 5, (0, 0)),
    )
}


def gap_steps(gap: int, window: int) -> tuple[int, int]:
    """Return the first and the last step that a gap allows."""
    return (0, 0) if gap == 0 else (1, window)
