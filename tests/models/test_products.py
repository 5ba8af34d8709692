"""Products of numbers with four parts, against products of the matrices that stand for them."""

from collections.abc import Callable

import pytest
import torch

from foretime.models.quate import hamilton
from foretime.models.telm import geometric

# i, j, k with i² = j² = k² = ijk = -1; e₁, e₂ with e₁² = e₂² = 1 and e₁e₂ = -e₂e₁
QUATERNIONS = torch.tensor([[[1, 0], [0, 1]], [[1j, 0], [0, -1j]], [[0, 1], [-1, 0]], [[0, 1j], [1j, 0]]])
FIRST, SECOND = torch.tensor([[1, 0], [0, -1]]), torch.tensor([[0, 1], [1, 0]])
MULTIVECTORS = torch.stack([torch.eye(2, dtype=torch.int64), FIRST, SECOND, FIRST @ SECOND])


@pytest.mark.parametrize(("product", "units"), [(hamilton, QUATERNIONS), (geometric, MULTIVECTORS)])
def test_a_product_is_that_of_matrices(product: Callable[..., torch.Tensor], units: torch.Tensor):
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randint(-3, 4, (2, 5, 8), generator=generator)  # five pairs of vectors of two numbers

    def matrices(numbers: torch.Tensor) -> torch.Tensor:
        parts = numbers.view(-1, 4, 2).to(torch.complex64)
        return torch.einsum("bpr,pij->brij", parts, units.to(torch.complex64))  # (batch, rank, 2, 2)

    assert torch.equal(matrices(product(x, y)), matrices(x) @ matrices(y))
