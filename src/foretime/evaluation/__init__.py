"""One protocol for any scorer: filters, ranks, metrics, calibration, reports, comparisons."""

from foretime.evaluation.filters import AnswerIndex, FilterName, questions_of
from foretime.evaluation.metrics import METRICS, Metric, Metrics
from foretime.evaluation.ranks import Ranks, ScoreFunction, model_scorer, rank
from foretime.evaluation.reports import Evaluation, evaluate, evaluations_in, metrics_table

__all__ = [
    "METRICS", "AnswerIndex", "Evaluation", "FilterName", "Metric", "Metrics", "Ranks", "ScoreFunction", "evaluate",
    "evaluations_in", "metrics_table", "model_scorer", "questions_of", "rank",
]  # fmt: skip
