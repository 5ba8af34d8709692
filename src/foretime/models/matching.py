"""Which rows of a model's tables belong to which name, and tables filled with the rows of an earlier model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from foretime.config import ModelConfig
from foretime.data.facts import Ids
from foretime.data.matching import EarlierIds
from foretime.models import build_model
from foretime.models.base import Sizes

Axis = Literal["entities", "predicates", "times"]
_SIZES = Sizes(2, 8, 2, 2)
"""Some sizes of a tiny model, one of which at a time is doubled."""
Shapes = dict[str, tuple[int, ...]]


def row_axes(config: ModelConfig) -> dict[str, Axis]:
    """Return what the rows of each table stand for, by its name; a table of which no size changes the rows is left out.

    It is found by building tiny models, so that a new model need not say it.
    """
    before, axes = _shapes(config, _SIZES), ("entities", "predicates", "times")
    doubled = {axis: _shapes(config, _SIZES._replace(**{axis: 2 * getattr(_SIZES, axis)})) for axis in axes}
    return {name: axis for axis, after in doubled.items() for name in before if after[name] != before[name]}  # type: ignore[misc]


def _shapes(config: ModelConfig, sizes: Sizes) -> Shapes:
    model = build_model(config, sizes, torch.Generator())
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def carry_tables(
    now: Mapping[str, Tensor], before: Mapping[str, Tensor], axes: Mapping[str, Axis], ids: EarlierIds
) -> dict[str, Tensor]:
    """Return the tables with the rows that an earlier model had for the same names; other rows stay as they are."""
    return {name: _carry(value, before[name], axes.get(name), ids) for name, value in now.items()}


def _carry(now: Tensor, before: Tensor, axis: Axis | None, ids: EarlierIds) -> Tensor:
    if axis is None:
        return before.clone()
    rows = _by_boundary(ids, len(now), len(before)) if axis == "predicates" else getattr(ids, axis)
    found, there = now.clone(), torch.from_numpy(rows >= 0)
    found[there] = before[torch.from_numpy(rows)[there]]
    return found


def _by_boundary(ids: EarlierIds, now: int, before: int) -> Ids:
    """Return the earlier row of each row of predicates, of which there may be one block for each end of a fact."""
    blocks, blocks_before = now // max(1, len(ids.predicates)), before // max(1, ids.predicates_before)
    none = np.full(len(ids.predicates), -1)
    moved = [np.where(ids.predicates < 0, -1, ids.predicates + at * ids.predicates_before) for at in range(blocks)]
    return np.concatenate([rows if at < blocks_before else none for at, rows in enumerate(moved)])
