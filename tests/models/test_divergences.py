"""Divergences and their gradients against the formula written in tensors."""

import math

import numba
import numpy as np
import pytest
import torch

from foretime.models import divergence_kernel as kernel
from foretime.models.divergences import divergences

ENTITIES = 9
TIMES = torch.tensor([3, 0, 3, 1, 2, 0, 3])  # unsorted, and some of them equal
CANDIDATES = {
    "drawn": torch.arange(7 * 5).view(7, 5) * 5 % 8,  # some twice, and one entity never
    "shared": torch.tensor([4, 0, 4, 8]),
    "all": None,
}
Made = tuple[torch.Tensor, list[torch.Tensor]]


def draw(rank: int) -> tuple[torch.Tensor, ...]:
    """The query, then base, trend, season, frequency and variance, in double precision."""
    generator = torch.Generator().manual_seed(rank)
    query = torch.randn(len(TIMES), 3, rank, dtype=torch.float64, generator=generator)
    query[:, 1:] = query[:, 1:].abs() + 0.2
    tables = torch.randn(5, ENTITIES, rank, dtype=torch.float64, generator=generator)
    return query, *tables[:3], 20.0 * tables[3], tables[4].abs() + 0.2


def plain(moments: torch.Tensor, objects: torch.Tensor | None, query: torch.Tensor, *tables: torch.Tensor):
    objects = torch.arange(ENTITIES) if objects is None else objects
    base, trend, season, frequency, variance = (table[objects.expand(len(moments), -1)] for table in tables)
    time = moments[:, None, None]
    wanted, spread, w = (part[:, None] for part in query.unbind(1))
    d = wanted - (base + trend * time + season * torch.sin(2.0 * math.pi * frequency * time))
    v = spread + variance  # (batch, candidates, rank)
    return ((v + d**2) / w + (w + d**2) / v - 2.0).sum(-1)


def made(score, objects: torch.Tensor | None, parts: tuple[torch.Tensor, ...], dtype: torch.dtype) -> Made:
    """The scores, and the gradients of all that goes in, with another slope for every pair."""
    leaves = [part.to(dtype).requires_grad_() for part in parts]
    scores = score(TIMES.to(dtype) / 4, objects, *leaves)
    slope = torch.linspace(-1.0, 2.0, scores.numel(), dtype=dtype).view_as(scores)
    scores.backward(slope)
    return scores.detach(), [leaf.grad for leaf in leaves]


def compiled(moments: torch.Tensor, objects: torch.Tensor | None, query: torch.Tensor, *tables: torch.Tensor):
    return divergences(moments, objects, query, tables)


@pytest.mark.parametrize("objects", CANDIDATES.values(), ids=CANDIDATES)
@pytest.mark.parametrize("rank", [1, 3, 17, 100])
def test_scores_and_gradients_are_those_of_the_formula(rank: int, objects: torch.Tensor | None):
    parts = draw(rank)
    expected = made(plain, objects, parts, torch.float64)
    torch.testing.assert_close(made(compiled, objects, parts, torch.float64), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("objects", CANDIDATES.values(), ids=CANDIDATES)
def test_single_precision_is_as_good_as_that_of_the_formula_in_tensors(objects: torch.Tensor | None):
    parts = tuple(part.float() for part in draw(100))
    exact, plainly, ours = (
        torch.cat([scores.flatten(), *(gradient.flatten() for gradient in gradients)]).double()
        for scores, gradients in (
            made(plain, objects, parts, torch.float64),
            made(plain, objects, parts, torch.float32),
            made(compiled, objects, parts, torch.float32),
        )
    )
    assert (ours - exact).norm() < 1.5 * (plainly - exact).norm()


def test_the_gradients_are_those_of_differences():
    leaves = [part.requires_grad_() for part in draw(3)]
    moments = TIMES.double() / 40  # of slow swings, which differences can follow
    assert torch.autograd.gradcheck(lambda *leaves: compiled(moments, CANDIDATES["drawn"], *leaves), leaves)


def test_no_question_has_no_score():
    query, *tables = draw(3)
    moments, none = torch.zeros(0, dtype=torch.float64), torch.zeros(0, 5, dtype=torch.int64)
    assert divergences(moments, None, query[:0], tuple(tables)).shape == (0, ENTITIES)
    assert divergences(moments, none, query[:0], tuple(tables)).shape == (0, 5)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="there is one thread only")
@pytest.mark.parametrize("objects", CANDIDATES.values(), ids=CANDIDATES)
def test_any_number_of_threads_makes_the_same(objects: torch.Tensor | None):
    found, before = [], numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        found.append(made(compiled, objects, draw(17), torch.float32))
    numba.set_num_threads(before)
    torch.testing.assert_close(*found, rtol=0.0, atol=0.0)


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-13), (np.float32, 2e-7)])
def test_sine_and_cosine_are_exact_but_for_rounding(dtype: type, error: float):
    turns = np.concatenate([np.linspace(-50, 50, 200_001), np.arange(-200, 201) / 4]).astype(dtype)
    angles = 2 * np.pi * (turns.astype(np.float64) - np.rint(turns))
    zero, one, terms = np.zeros_like(turns), np.ones_like(turns), kernel.sine_terms(np.dtype(dtype))
    sine, cosine, moment = zero.copy(), zero.copy(), dtype(1)
    kernel.fill_mean(zero, zero, one, turns, moment, terms, sine)
    kernel.add_mean(one, turns, moment, terms, one.copy(), zero.copy(), zero.copy(), zero.copy(), cosine)
    assert np.abs(sine - np.sin(angles)).max() < error
    assert np.abs(cosine / (2 * np.pi) - np.cos(angles)).max() < error
    assert (sine[turns * 2 == np.rint(turns * 2)] == 0).all()
