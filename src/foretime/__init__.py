"""foretime completes a temporal knowledge graph, forecasts it, and says why.

import foretime as ft

graph = ft.load("events.tsv")
run = ft.train(graph, preset="quick")
answers = run.predict(subject="Japan", predicate="Consult", time="2014-05-02")
print(answers[0].explain())
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from foretime.kernels import provide_cache as _provide_cache

if TYPE_CHECKING:
    from foretime.config import Config as Config
    from foretime.config import DataConfig as DataConfig
    from foretime.config import EvidenceConfig as EvidenceConfig
    from foretime.config import ModelConfig as ModelConfig
    from foretime.config import RerankerConfig as RerankerConfig
    from foretime.config import RulesConfig as RulesConfig
    from foretime.config import TrainingConfig as TrainingConfig
    from foretime.config import read_config as read_config
    from foretime.data.attributes import Attributes as Attributes
    from foretime.data.bad_rows import BadRow as BadRow
    from foretime.data.bad_rows import BadRows as BadRows
    from foretime.data.catalog import PublicData as PublicData
    from foretime.data.catalog import datasets as datasets
    from foretime.data.catalog import download as download
    from foretime.data.facts import Events as Events
    from foretime.data.facts import Facts as Facts
    from foretime.data.graph import Graph as Graph
    from foretime.data.graph import load as load
    from foretime.data.graph import split_file as split_file
    from foretime.data.importers import IMPORTERS as IMPORTERS
    from foretime.data.importers import import_acled as import_acled
    from foretime.data.importers import import_events as import_events
    from foretime.data.importers import import_gdelt as import_gdelt
    from foretime.data.importers import import_icews as import_icews
    from foretime.data.importers import import_polecat as import_polecat
    from foretime.data.importers import import_rdf as import_rdf
    from foretime.data.importers import import_renet as import_renet
    from foretime.data.importers import import_tgb as import_tgb
    from foretime.data.importers import import_wikidata as import_wikidata
    from foretime.data.importers.base import Attribute as Attribute
    from foretime.data.importers.base import DroppedRow as DroppedRow
    from foretime.data.importers.base import EventSource as EventSource
    from foretime.data.importers.base import ImportBatch as ImportBatch
    from foretime.data.importers.report import DroppedRows as DroppedRows
    from foretime.data.importers.report import ImportReport as ImportReport
    from foretime.data.restrictions import Restriction as Restriction
    from foretime.data.summary import Summary as Summary
    from foretime.data.synthetic import World as World
    from foretime.data.synthetic import generate_world as generate_world
    from foretime.data.timeline import Timeline as Timeline
    from foretime.data.vocabulary import Vocabulary as Vocabulary
    from foretime.errors import ConfigError as ConfigError
    from foretime.errors import DataError as DataError
    from foretime.errors import DownloadError as DownloadError
    from foretime.errors import ForetimeError as ForetimeError
    from foretime.errors import Interrupted as Interrupted
    from foretime.errors import QuestionError as QuestionError
    from foretime.errors import RunError as RunError
    from foretime.evaluation import METRICS as METRICS
    from foretime.evaluation import Evaluation as Evaluation
    from foretime.evaluation import Metric as Metric
    from foretime.evaluation import Metrics as Metrics
    from foretime.evaluation import metrics_table as metrics_table
    from foretime.evaluation.backtests import Backtest as Backtest
    from foretime.evaluation.backtests import BacktestWindow as BacktestWindow
    from foretime.evaluation.backtests import WindowFigures as WindowFigures
    from foretime.evaluation.comparison import Comparison as Comparison
    from foretime.evaluation.comparison import MetricDifference as MetricDifference
    from foretime.evaluation.explanations import ExplanationMeasures as ExplanationMeasures
    from foretime.experiments.bench.results import BenchResults as BenchResults
    from foretime.experiments.bench.results import add_to_benchmark as add_to_benchmark
    from foretime.experiments.bench.results import benchmark_status as benchmark_status
    from foretime.experiments.bench.results import run_benchmark as run_benchmark
    from foretime.experiments.tuning import TrialResult as TrialResult
    from foretime.experiments.tuning import TunePlan as TunePlan
    from foretime.experiments.tuning import TuneResults as TuneResults
    from foretime.experiments.tuning import tune as tune
    from foretime.inference.answers import Answer as Answer
    from foretime.inference.answers import Answers as Answers
    from foretime.inference.answers import Question as Question
    from foretime.inference.explanation.events import DatedEvent as DatedEvent
    from foretime.inference.explanation.explanation import Explanation as Explanation
    from foretime.inference.explanation.explanation import Topic as Topic
    from foretime.inference.explanation.reasons import ShownReason as ShownReason
    from foretime.inference.forecast import Forecast as Forecast
    from foretime.inference.forecast import ForecastEvent as ForecastEvent
    from foretime.inference.living import UpdateReport as UpdateReport
    from foretime.inference.ranked_runs import compare as compare
    from foretime.inference.run import Run as Run
    from foretime.inference.run import find_runs as find_runs
    from foretime.inference.run import open_run as open_run
    from foretime.inference.run import resume as resume
    from foretime.inference.run import train as train
    from foretime.inference.views import RunView as RunView
    from foretime.inference.what_if import AnswerChange as AnswerChange
    from foretime.inference.what_if import Changes as Changes
    from foretime.inference.what_if import ComparedAnswer as ComparedAnswer
    from foretime.inference.what_if import WhatIf as WhatIf
    from foretime.rules.comparing import CheckedRules as CheckedRules
    from foretime.rules.comparing import RuleDifference as RuleDifference
    from foretime.rules.files import RuleFormat as RuleFormat
    from foretime.rules.files import read_rules as read_rules
    from foretime.rules.files import rule_format as rule_format
    from foretime.rules.grounding import Grounding as Grounding
    from foretime.rules.imports import import_rules as import_rules
    from foretime.rules.mining import mine as mine
    from foretime.rules.rule import Rule as Rule
    from foretime.rules.rule import RuleIds as RuleIds
    from foretime.rules.table import Rules as Rules
    from foretime.runs.presets import PRESETS as PRESETS
    from foretime.runs.presets import Preset as Preset
    from foretime.runs.updates import Update as Update
    from foretime.runs.upgrade import upgrade as upgrade
    from foretime.runs.verify import RunCheck as RunCheck
    from foretime.runs.verify import run_folders as run_folders
    from foretime.runs.verify import verify_run as verify_run
    from foretime.service import serve as serve
    from foretime.tables import Table as Table
    from foretime.training.callbacks import Callback as Callback
    from foretime.training.callbacks import TrainingPlan as TrainingPlan

__version__ = "0.1.0"

# must be set before torch is imported: where other programs want the cores too, threads that spin while they wait for
# each other make a training step several times slower
os.environ.setdefault("GOMP_SPINCOUNT", "0")
# before numba is imported, which reads where its kernels are kept
_provide_cache()

_PUBLIC = {
    "foretime.config": (
        "Config DataConfig EvidenceConfig ModelConfig RerankerConfig RulesConfig TrainingConfig read_config"
    ),
    "foretime.data.attributes": "Attributes",
    "foretime.data.bad_rows": "BadRow BadRows",
    "foretime.data.catalog": "PublicData datasets download",
    "foretime.data.facts": "Events Facts",
    "foretime.data.graph": "Graph load split_file",
    "foretime.data.importers": (
        "IMPORTERS import_acled import_events import_gdelt import_icews import_polecat import_rdf import_renet "
        "import_tgb import_wikidata"
    ),
    "foretime.data.importers.base": "Attribute ImportBatch DroppedRow EventSource",
    "foretime.data.importers.report": "DroppedRows ImportReport",
    "foretime.data.restrictions": "Restriction",
    "foretime.data.summary": "Summary",
    "foretime.data.synthetic": "World generate_world",
    "foretime.data.timeline": "Timeline",
    "foretime.data.vocabulary": "Vocabulary",
    "foretime.errors": "ConfigError DataError DownloadError ForetimeError Interrupted QuestionError RunError",
    "foretime.evaluation": "Evaluation METRICS Metric Metrics metrics_table",
    "foretime.evaluation.backtests": "Backtest BacktestWindow WindowFigures",
    "foretime.evaluation.comparison": "Comparison MetricDifference",
    "foretime.evaluation.explanations": "ExplanationMeasures",
    "foretime.experiments.bench.results": "BenchResults add_to_benchmark benchmark_status run_benchmark",
    "foretime.experiments.tuning": "TrialResult TunePlan TuneResults tune",
    "foretime.inference.answers": "Answer Answers Question",
    "foretime.inference.explanation.events": "DatedEvent",
    "foretime.inference.explanation.explanation": "Explanation Topic",
    "foretime.inference.explanation.reasons": "ShownReason",
    "foretime.inference.forecast": "Forecast ForecastEvent",
    "foretime.inference.living": "UpdateReport",
    "foretime.inference.ranked_runs": "compare",
    "foretime.inference.run": "Run find_runs open_run resume train",
    "foretime.inference.views": "RunView",
    "foretime.inference.what_if": "AnswerChange Changes ComparedAnswer WhatIf",
    "foretime.rules.comparing": "CheckedRules RuleDifference",
    "foretime.rules.files": "RuleFormat read_rules rule_format",
    "foretime.rules.grounding": "Grounding",
    "foretime.rules.imports": "import_rules",
    "foretime.rules.mining": "mine",
    "foretime.rules.rule": "Rule RuleIds",
    "foretime.rules.table": "Rules",
    "foretime.runs.presets": "PRESETS Preset",
    "foretime.runs.updates": "Update",
    "foretime.runs.upgrade": "upgrade",
    "foretime.runs.verify": "RunCheck run_folders verify_run",
    "foretime.service": "serve",
    "foretime.tables": "Table",
    "foretime.training.callbacks": "Callback TrainingPlan",
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
