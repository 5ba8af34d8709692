"""foretime completes a temporal knowledge graph and says why."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# must be set before torch is imported: where other programs want the cores too, threads that spin while they wait for
# each other make a training step several times slower
os.environ.setdefault("GOMP_SPINCOUNT", "0")

if TYPE_CHECKING:
    from foretime.api import train
    from foretime.data.graph import Graph, load
    from foretime.errors import ForetimeError
    from foretime.inference.explainer import Explainer, Explanation
    from foretime.inference.predictor import Answer, Predictor

__all__ = ["Answer", "Explainer", "Explanation", "ForetimeError", "Graph", "Predictor", "load", "train"]

_HOMES = {
    "Answer": "foretime.inference.predictor",
    "Graph": "foretime.data.graph",
    "Explainer": "foretime.inference.explainer",
    "Explanation": "foretime.inference.explainer",
    "ForetimeError": "foretime.errors",
    "Predictor": "foretime.inference.predictor",
    "load": "foretime.data.graph",
    "train": "foretime.api",
}


def __getattr__(name: str) -> Any:
    """Return a public name, importing its module only now: `import foretime` loads no torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'foretime' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
