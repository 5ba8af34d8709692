"""Rules as a penalty: the kernel against the formula in tensors, and the formula by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from foretime.data.facts import inverse
from foretime.models.guidance import RuleGuide
from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import RuleIds
from foretime.rules.table import Rules

PREDICATES = 6


def example_rules(confidence: float = 0.5) -> Rules:
    """One rule of each pattern and shape, over predicates and inverses."""
    rules = [
        RuleIds("follows", "pair", 0, (1,)),
        RuleIds("accompanies", "pair", 1, (4,)),
        RuleIds("chain_then", "path", 5, (0, 2)),
        RuleIds("joint_then", "path", 2, (3, 3)),
        RuleIds("joint_now", "pair", 2, (0, 5)),
    ]
    count = len(rules)
    return replace(Rules.of(rules), support=np.full(count, confidence), body_count=np.ones(count))


def random_predicates(rank: int = 3) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.randn(PREDICATES, 2 * rank, generator=torch.Generator().manual_seed(0)))


def guide_with(rules: Rules, rank: int = 3, norm: str = "cubed") -> RuleGuide:
    guide = RuleGuide(rank, PREDICATES, norm)
    guide.transfer.data = torch.randn(2 * rank, generator=torch.Generator().manual_seed(1))
    guide.take_rules(rules)
    return guide


@pytest.mark.parametrize("norm", ["cubed", "squared"])
def test_the_kernel_is_the_formula(norm):
    guide, predicates = guide_with(example_rules(), norm=norm), random_predicates()
    penalty = guide(predicates)
    penalty.backward()
    found = predicates.grad.clone(), guide.transfer.grad.clone()
    predicates.grad = guide.transfer.grad = None

    re, im = guide.residuals(predicates).chunk(2, dim=1)
    moduli = (re**2 + im**2).sqrt()
    plain = (guide.weight[:, None] * moduli ** (3 if norm == "cubed" else 2)).sum() / len(guide.head)
    plain.backward()
    torch.testing.assert_close(penalty, plain)
    torch.testing.assert_close(found[0], predicates.grad)
    torch.testing.assert_close(found[1], guide.transfer.grad)


@pytest.mark.parametrize("row", range(5))
def test_a_rule_moves_its_body_as_often_as_its_pattern_says(row):
    rules = example_rules().take(np.array([row]))
    rule = rules.ids(0)
    predicates = random_predicates(rank=1).detach()
    guide = guide_with(rules, rank=1)
    table = torch.complex(predicates[:, 0], predicates[:, 1])
    transfer = torch.complex(*guide.transfer.detach())
    expected = torch.tensor(1.0)
    for predicate, times in zip(rule.body, PATTERNS[rule.pattern].transfers, strict=True):
        expected = expected * transfer**times * table[predicate]
    expected = expected - table[rule.head]
    assert len(guide.head) == 2
    torch.testing.assert_close(guide.residuals(predicates)[0].detach(), torch.stack([expected.real, expected.imag]))


def test_the_residual_of_a_satisfied_rule_is_zero():
    # by hand, rank 1: T = i, p1 = 2 + i; follows: T·p1 = -1 + 2i is the head; all inverses are zero, so mirrors hold
    guide = RuleGuide(1, PREDICATES)
    guide.transfer.data = torch.tensor([0.0, 1.0])
    guide.take_rules(example_rules().take(np.array([0])))
    predicates = torch.zeros(PREDICATES, 2)
    predicates[1], predicates[0] = torch.tensor([2.0, 1.0]), torch.tensor([-1.0, 2.0])
    assert guide(predicates).item() == 0.0
    predicates[0, 0] = 0.0  # the residual is then -1: |-1|³ · 0.5, and 0 for the mirror
    assert guide(predicates).item() == pytest.approx(0.5 / 2)


def test_every_rule_moves_a_gradient():
    for row in range(5):
        guide, predicates = guide_with(example_rules().take(np.array([row]))), random_predicates()
        guide(predicates).backward()
        rule = example_rules().ids(row)
        both_ways = {q for p in (rule.head, *rule.body) for q in (p, inverse(p, PREDICATES // 2))}
        assert all(predicates.grad[predicate].abs().sum() > 0 for predicate in both_ways)


def test_the_weight_of_a_rule_is_its_confidence():
    predicates = random_predicates()
    one, two = (guide_with(example_rules(confidence))(predicates).item() for confidence in (0.25, 0.5))
    assert two == pytest.approx(2 * one)


def test_without_rules_there_is_nothing_to_pay():
    assert RuleGuide(3, PREDICATES)(random_predicates()).item() == 0.0
