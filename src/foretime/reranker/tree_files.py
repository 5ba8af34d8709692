"""Boosted trees in files: arrays in safetensors, and beside them what they are, sealed by a digest of it all."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from foretime.errors import RunError
from foretime.files import read_bytes, write_bytes
from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.tree_arrays import TreeArrays, arrays_of

_ABOUT = "trees"
"""The one entry of the metadata: the order of several would differ from file to file."""
_FAULTS = (safetensors.SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError)


def write_trees(path: Path, what: str, trees: BoostedTrees, **about: int) -> None:
    """Write trees; `what` says what they are, with a number that goes up whenever features change their meaning."""
    said = {"what": what, **about, "features": list(trees.names)}
    text = json.dumps(said | {"sha256": _digest(said, trees.arrays)})
    write_bytes(path, safetensors.numpy.save(trees.arrays._asdict(), {_ABOUT: text}))


def read_trees(path: Path, what: str) -> tuple[BoostedTrees, dict[str, Any]]:
    """Return the trees in a file, and what it says of them; raise `RunError` if it is damaged or says it is no `what`.

    Everything that follows a child or a leaf relies on the arrays, so they are checked as if the file were an enemy's.
    """
    try:
        content = read_bytes(path)
        found = safetensors.numpy.load(content)
        head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        said = json.loads(head["__metadata__"][_ABOUT])
        own = said["what"]
    except _FAULTS as error:
        raise damaged(path, error) from None
    if own != what:
        raise of_another_version(path, f"is {str(own)[:40]!r}", "features that are now computed differently")
    try:
        names = tuple(said["features"])
        if not all(isinstance(name, str) for name in names):
            raise ValueError("a name of a feature is no text")
        arrays = arrays_of(found, len(names))
        if said.pop("sha256") != _digest(said, arrays):
            raise ValueError("its digest is that of other trees")
    except _FAULTS as error:
        raise damaged(path, error) from None
    return BoostedTrees(names, arrays), said


def _digest(said: dict[str, Any], arrays: TreeArrays) -> str:
    found = hashlib.sha256(json.dumps(said).encode())
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def damaged(path: Path, fault: object) -> RunError:
    """Return the error of a file that holds no trees."""
    return RunError(f"{path}: damaged, it holds no trees: {fault}; {_remedy(path)}")


def of_another_version(path: Path, found: str, fitted_on: str) -> RunError:
    """Return the error of a file whose trees have other features than candidates have now."""
    return RunError(f"{path}: {found}: fitted by another version, on {fitted_on}; {_remedy(path)}")


def _remedy(path: Path) -> str:
    # what was fitted together is fitted again together: `reranker_without_valid` with `reranker`
    group = re.split("[-_.]", path.name)[0]
    return f"delete {group}*.safetensors in {path.parent}, and `foretime train --resume {path.parent}` fits them again"
