"""One honest protocol for any scorer: filters, ranks, reports, calibration."""

from foretime.evaluation.filters import FilterName, KnownAnswers, questions_of
from foretime.evaluation.ranking import Ranks, Scorer, model_scorer, rank
from foretime.evaluation.report import Metrics, Report, evaluate, known_answers

__all__ = [
    "FilterName",
    "KnownAnswers",
    "Metrics",
    "Ranks",
    "Report",
    "Scorer",
    "evaluate",
    "known_answers",
    "model_scorer",
    "questions_of",
    "rank",
]
