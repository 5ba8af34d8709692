"""Distances against their formula written in tensors, and their gradients against differences."""

import pytest
import torch

from foretime.models.distances import pair_sums, root

KINDS = ["absolute", "moduli", "squared"]
OBJECTS = torch.tensor([[0, 3, 3], [1, 1, 0], [4, 2, 5], [5, 5, 5], [2, 0, 1]])


def draw(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(len(shape) + shape[0])
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def plain_sums(query: torch.Tensor, table: torch.Tensor, objects: torch.Tensor, kind: str) -> torch.Tensor:
    difference = query[:, None] - table[objects]  # (batch, candidates, width)
    if kind == "moduli":
        difference = torch.complex(*difference.chunk(2, dim=-1))
    return (difference.abs() ** (2 if kind == "squared" else 1)).sum(-1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objects", [OBJECTS, None], ids=["some", "all"])
def test_sums_and_gradients_are_those_of_the_formula(kind: str, objects: torch.Tensor | None):
    query, table = draw(5, 4), draw(6, 4)
    everything = torch.arange(6).expand(5, -1) if objects is None else objects
    torch.testing.assert_close(pair_sums(query, table, objects, kind), plain_sums(query, table, everything, kind))
    assert torch.autograd.gradcheck(lambda query, table: pair_sums(query, table, objects, kind), (query, table))


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_at_its_object_has_no_distance_and_no_gradient(kind: str):
    query = torch.ones(1, 4, requires_grad=True)
    sums = pair_sums(query, torch.ones(1, 4), torch.tensor([[0]]), kind)
    sums.sum().backward()
    assert (sums.item(), query.grad.tolist()) == (0.0, [[0.0] * 4])


def test_the_root_has_the_gradient_of_a_root_and_none_at_zero():
    assert torch.autograd.gradcheck(root, (draw(5).detach().abs().add(0.1).requires_grad_(),))
    squared = torch.tensor([-1e-9, 0.0, 4.0], requires_grad=True)
    root(squared).sum().backward()
    assert root(squared).tolist() == [0.0, 0.0, 2.0]
    assert squared.grad.tolist() == [0.0, 0.0, 0.25]
