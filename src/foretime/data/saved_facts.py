"""The facts of a saved graph, whose ids must be those of its names and of its timeline."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy

from foretime.data.background import BACKGROUND
from foretime.data.facts import UNKNOWN, Facts
from foretime.data.splitting import SPLITS
from foretime.files import check_regular

COLUMNS = ("subject", "predicate", "object", "start", "end")


class SavedCounts(NamedTuple):
    """How many names and steps a graph has."""

    entities: int
    predicates: int
    steps: int

    def range_of(self, column: str) -> range:
        """Return the ids that a column may have."""
        if column in ("start", "end"):
            return range(UNKNOWN, self.steps)
        return range(self.predicates if column == "predicate" else self.entities)


def read_saved_facts(path: Path, counts: SavedCounts) -> list[Facts]:
    """Return the facts of each split in a file, and those without a time if it has any.

    Anything else than columns of 32-bit ids, equally long in a split and in range, is a `ValueError`.
    """
    check_regular(path)
    tensors = safetensors.numpy.load_file(path)
    splits = (*SPLITS, BACKGROUND) if f"{BACKGROUND}.subject" in tensors else SPLITS
    if unknown := sorted(tensors.keys() - {f"{split}.{column}" for split, column in product(splits, COLUMNS)}):
        raise ValueError(f"{unknown[0]} is no column of facts")
    return [_facts(tensors, split, counts) for split in splits]


def _facts(tensors: Mapping[str, Any], split: str, counts: SavedCounts) -> Facts:
    columns = {column: tensors[f"{split}.{column}"] for column in COLUMNS}
    for column, ids in columns.items():
        name, allowed = f"{split}.{column}", counts.range_of(column)
        if ids.dtype != np.int32 or ids.shape != columns["subject"].shape or ids.ndim != 1:
            raise ValueError(f"{name} is {ids.dtype} {list(ids.shape)}, not a column of 32-bit ids")
        wrong = ids[(ids < allowed.start) | (ids >= allowed.stop)]
        if len(wrong):
            raise ValueError(f"{name} has the id {wrong[0]}, not one from {allowed.start} to {allowed.stop - 1}")
    return Facts(*(ids.astype(np.int64) for ids in columns.values()))
