"""Sums over the coordinates of many pairs on a device without compiled kernels: block by block of questions.

All pairs at once would be a tensor of the size questions × candidates × width. The gradient makes every block again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from foretime.models.algebra import lookup, shared_rows

NUMBERS_AT_ONCE = 1 << 25
"""How many numbers the tensor of a block has: 128 MiB of single precision."""


def in_blocks(
    formula: Callable[..., Tensor], questions: Sequence[Tensor], tables: Sequence[Tensor], objects: Tensor | None
) -> Tensor:
    """Return formula(questions, candidates), (batch, candidates), for every question and each of its candidates.

    The formula gets rows of each of `questions`, (block, 1, …), and of each of `tables`, (block or 1, candidates, …).
    `objects` is (batch, candidates), or (candidates,) where all questions share them; without it the candidates are all
    rows of the tables.
    """
    shared = objects is None or objects.ndim == 1
    rows = [shared_rows(table, objects) if shared else table for table in tables]
    candidates = len(rows[0]) if objects is None else objects.shape[-1]
    size = max(1, NUMBERS_AT_ONCE // max(1, candidates * tables[0].shape[-1]))

    def block(begin: int) -> Tensor:
        part = slice(begin, begin + size)
        own = [table[None] for table in rows] if shared or objects is None else [lookup(t, objects[part]) for t in rows]
        return formula(*(column[part, None] for column in questions), *own)

    begins = range(0, max(1, len(questions[0])), size)
    if not torch.is_grad_enabled():
        return torch.cat([block(begin) for begin in begins])
    return torch.cat([checkpoint(block, begin, use_reentrant=False, preserve_rng_state=False) for begin in begins])
