"""RGPR: temporal rules as a penalty on predicate embeddings (LCGE, Eqs. 5–9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from foretime.data.facts import inverse
from foretime.devices import CPU, send
from foretime.models.algebra import lookup, multiply
from foretime.models.penalties import cubed_moduli
from foretime.rules.patterns import PATTERNS
from foretime.rules.table import NO_SECOND, Rules, join

Norm = Literal["cubed", "squared"]
MOST_TRANSFERS = 2


class RuleGuide(nn.Module):
    """Pulls the predicates of every rule towards each other, after the times between its atoms.

    The time transfer operator T, one learned complex vector, moves a body predicate towards the head as often as the
    rule's pattern says; a rule is satisfied where the product of its moved body predicates is its head predicate. All
    patterns are one formula, in which a body of one atom is multiplied by one:

        G = Σᵢ |(Tᵏ¹ ∘ p₁) ∘ (Tᵏ² ∘ p₂) − p_head|ᵢ³, weighted by the rule's confidence, as a mean over rules and mirrors
    """

    head: Tensor
    body: Tensor
    weight: Tensor

    def __init__(self, rank: int, predicates: int, norm: Norm = "cubed") -> None:
        """Make a guide without rules; `predicates` counts inverses too."""
        super().__init__()
        self.predicates, self.norm = predicates, norm
        self.transfer = nn.Parameter(_ones(rank))
        self.take_rules(None)

    def take_rules(self, rules: Rules | None) -> None:
        """Take the rules, or none, as index tensors: (rows,), (rows, 2) and (rows,).

        A rule is listed once and guides in both directions, so it has two rows: itself, and its mirror with every
        predicate inverted. The order of the body does not matter here, but each atom keeps its transfers.
        """
        taken = Rules.of([]) if rules is None else join([rules, self._mirrors(rules)])
        transfers = [(*PATTERNS[str(pattern)].transfers, 0)[:2] for pattern in taken.pattern]
        moves = np.array(transfers, dtype=np.int64).reshape(-1, 2)
        body = np.stack([taken.first, taken.second], axis=1) + moves * self.predicates
        body[taken.second == NO_SECOND, 1] = (MOST_TRANSFERS + 1) * self.predicates  # the row of the number one
        of_rules = {"head": taken.head, "body": body, "weight": taken.confidence.astype(np.float32)}
        for name, values in of_rules.items():
            self.register_buffer(name, send(values, self.transfer.device), persistent=False)

    def _mirrors(self, rules: Rules) -> Rules:
        """Return the rules with every predicate inverted, the atoms of the body in the same order."""
        count = self.predicates // 2
        second = np.where(rules.second == NO_SECOND, NO_SECOND, inverse(rules.second, count))
        return replace(rules, head=inverse(rules.head, count), first=inverse(rules.first, count), second=second)

    def residuals(self, predicates: Tensor) -> Tensor:
        """Return each rule's moved body product minus its head, (rules, 2·rank), for a table of predicates."""
        bodies = lookup(self._moved(predicates), self.body)  # (rules, 2, 2·rank)
        return multiply(bodies[:, 0], bodies[:, 1]) - lookup(predicates, self.head)

    def forward(self, predicates: Tensor) -> Tensor:
        """Return the penalty, (); zero without rules."""
        if len(self.head) == 0:
            return predicates.new_zeros(())
        if predicates.device != CPU:
            return self._weighted(self.residuals(predicates))
        tables = (self._moved(predicates), predicates)
        return WeightedResiduals.apply(*tables, self.body, self.head, self.weight, self.norm)  # type: ignore[no-any-return, no-untyped-call]

    def _weighted(self, residuals: Tensor) -> Tensor:
        """Return the penalty of residuals, as the kernel has it."""
        if self.norm == "squared":
            return (residuals.square().sum(1) * self.weight).mean()
        return cubed_moduli(residuals * self.weight.pow(1 / 3)[:, None], parts=2) / len(residuals)

    def _moved(self, predicates: Tensor) -> Tensor:
        """Return every predicate moved 0, 1 and 2 times, then the number one: once for all rules that use it."""
        once = multiply(self.transfer, predicates)
        return torch.cat(
            [predicates, once, multiply(self.transfer, once), _ones(len(self.transfer) // 2, predicates.device)[None]]
        )


class WeightedResiduals(torch.autograd.Function):
    """The mean over rules of the weighted norms of their residuals, with its gradients made in the same pass."""

    @staticmethod
    def forward(
        ctx: Any, moved: Tensor, predicates: Tensor, body: Tensor, head: Tensor, weight: Tensor, norm: Norm
    ) -> Tensor:
        """Return the penalty, ()."""
        from foretime.models.guidance_kernel import rule_penalty

        gradients = torch.zeros_like(moved), torch.zeros_like(predicates)
        tensors = (moved.detach(), predicates.detach(), body, head, weight)
        total = rule_penalty(  # type: ignore[call-arg]
            *(tensor.numpy() for tensor in tensors), norm == "cubed", *(gradient.numpy() for gradient in gradients)
        )
        ctx.save_for_backward(*gradients)
        ctx.rules = len(head)
        return moved.new_tensor(total / len(head))

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients that forward has made."""
        moved, predicates = (gradient * (grad_output / ctx.rules) for gradient in ctx.saved_tensors)
        return moved, predicates, None, None, None, None


def _ones(rank: int, device: torch.device | None = None) -> Tensor:
    """Return the complex number one, `rank` times, (2·rank,)."""
    return torch.cat([torch.ones(rank, device=device), torch.zeros(rank, device=device)])
