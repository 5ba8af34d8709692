"""foretime completes a temporal knowledge graph and says why.

import foretime as ft

graph = ft.load("events.tsv")
run = ft.train(graph, preset="quick")
answers = run.predict(subject="Japan", predicate="Consult", time="2014-05-02")
print(answers[0].explain())
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foretime.config import Config as Config
    from foretime.config import DataConfig as DataConfig
    from foretime.config import EvidenceConfig as EvidenceConfig
    from foretime.config import ModelConfig as ModelConfig
    from foretime.config import RerankerConfig as RerankerConfig
    from foretime.config import RulesConfig as RulesConfig
    from foretime.config import TrainingConfig as TrainingConfig
    from foretime.config import read_config as read_config
    from foretime.data.facts import Facts as Facts
    from foretime.data.graph import Graph as Graph
    from foretime.data.graph import load as load
    from foretime.data.summary import Summary as Summary
    from foretime.data.synthetic import World as World
    from foretime.data.timeline import Timeline as Timeline
    from foretime.data.vocabulary import Vocabulary as Vocabulary
    from foretime.errors import ConfigError as ConfigError
    from foretime.errors import DataError as DataError
    from foretime.errors import DownloadError as DownloadError
    from foretime.errors import ForetimeError as ForetimeError
    from foretime.errors import Interrupted as Interrupted
    from foretime.errors import QuestionError as QuestionError
    from foretime.errors import RunError as RunError
    from foretime.inference.answers import Answer as Answer
    from foretime.inference.answers import Answers as Answers
    from foretime.inference.answers import Question as Question
    from foretime.inference.explanation.events import DatedEvent as DatedEvent
    from foretime.inference.explanation.explanation import Explanation as Explanation
    from foretime.inference.explanation.explanation import ShownReason as ShownReason
    from foretime.inference.run import Run as Run
    from foretime.inference.run import find_runs as find_runs
    from foretime.inference.run import open_run as open_run
    from foretime.inference.run import resume as resume
    from foretime.inference.run import train as train
    from foretime.rules.rule import Rule as Rule
    from foretime.tables import Table as Table
    from foretime.training.callbacks import Callback as Callback
    from foretime.training.callbacks import Plan as Plan

__version__ = "0.1.0"

# must be set before torch is imported: where other programs want the cores too, threads that spin while they wait for
# each other make a training step several times slower
os.environ.setdefault("GOMP_SPINCOUNT", "0")

_PUBLIC = {
    "foretime.config": (
        "Config DataConfig EvidenceConfig ModelConfig RerankerConfig RulesConfig TrainingConfig read_config"
    ),
    "foretime.data.facts": "Facts",
    "foretime.data.graph": "Graph load",
    "foretime.data.summary": "Summary",
    "foretime.data.synthetic": "World",
    "foretime.data.timeline": "Timeline",
    "foretime.data.vocabulary": "Vocabulary",
    "foretime.errors": "ConfigError DataError DownloadError ForetimeError Interrupted QuestionError RunError",
    "foretime.inference.answers": "Answer Answers Question",
    "foretime.inference.explanation.events": "DatedEvent",
    "foretime.inference.explanation.explanation": "Explanation ShownReason",
    "foretime.inference.run": "Run find_runs open_run resume train",
    "foretime.rules.rule": "Rule",
    "foretime.tables": "Table",
    "foretime.training.callbacks": "Callback Plan",
}
"""Every public name, by the module that it is imported from when it is first used; a type checker reads them above."""
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Return a public name, importing its module only now: `import foretime` loads no torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'foretime' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
