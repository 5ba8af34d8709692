"""The trees of runs of earlier versions, which are text, kept as this version keeps trees."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from foretime.data.graph import Graph
from foretime.errors import ForetimeError
from foretime.files import read_text
from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.features.extractor import graph_feature_names
from foretime.reranker.quantising import SHARED_NEIGHBOURS
from foretime.reranker.slots.trees import save_trees
from foretime.reranker.tree_text import read_tree_text
from foretime.reranker.trees import Reranker, plain_names
from foretime.runs.folder import RunFolder

_COMBINER = re.compile(r"foretime combiner 2, top (\d+)")
"""Its trees are those of this version: only what they are called has changed since."""
_RERANKER = re.compile(r"foretime reranker 3, top (\d+)")
_SLOT = re.compile(r"foretime slot (\w+) 1")


def upgrade_trees(run: RunFolder) -> list[str]:
    """Rewrite the trees of a run; return what was changed.

    Trees of other features than candidates have now are removed, with all that were fitted together with them:
    `--resume` fits them again.
    """
    old = run.old_trees()
    slots = [file for file in old if file.name.startswith("slots-")]
    rerankers = [file for file in old if file not in slots]
    return _upgrade(run, rerankers, _upgrade_reranker) + _upgrade(run, slots, _upgrade_slot)


def _upgrade(run: RunFolder, files: list[Path], upgrade_one: Callable[[RunFolder, Path], Path]) -> list[str]:
    made: list[Path] = []
    try:
        for file in files:
            made.append(upgrade_one(run, file))
        notes = [f"{file.name}: now {new.name}" for file, new in zip(files, made, strict=True)]
    except (ValueError, ForetimeError):
        for file in made:
            file.unlink()
        notes = [
            f"{file.name}: removed, its features have changed; foretime train --resume {run.path} fits it again"
            for file in files
        ]
    for file in files:
        file.unlink()
    return notes


def _upgrade_reranker(run: RunFolder, file: Path) -> Path:
    head, _, body = read_text(file).partition("\n")
    trees, new = read_tree_text(body), run.path / f"{file.stem}.safetensors"
    if header := _COMBINER.fullmatch(head):
        trees, new = _of_combiner(run, trees), run.reranker_file
    else:
        header = _RERANKER.fullmatch(head)
    if header is None:
        raise ValueError(f"begins with {head!r}")
    Reranker(trees, int(header[1])).save(new)
    return new


def _of_combiner(run: RunFolder, trees: BoostedTrees) -> BoostedTrees:
    """Return trees with the names that features have now; raise `ValueError` if some are not there any more."""
    names = tuple(re.sub("^company", SHARED_NEIGHBOURS, name) for name in trees.names)
    wanted = tuple(plain_names(graph_feature_names(Graph.load(run.path).has_intervals)))
    if names[-len(wanted) :] != wanted:
        raise ValueError("other features")
    return BoostedTrees(names, trees.arrays)


def _upgrade_slot(run: RunFolder, file: Path) -> Path:
    head, _, body = read_text(file).partition("\n")
    header = _SLOT.fullmatch(head)
    if header is None or file.stem != f"slots-{header[1]}":
        raise ValueError(f"begins with {head!r}")
    save_trees(run.slot_file(header[1]), header[1], read_tree_text(body))
    return run.slot_file(header[1])
