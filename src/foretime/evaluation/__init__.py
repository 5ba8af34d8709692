"""One honest protocol for any scorer: filters, ranks, reports, calibration."""

from foretime.evaluation.filters import FilterName, KnownAnswers, questions_of
from foretime.evaluation.ranks import Ranks, ScoreFunction, model_scorer, rank
from foretime.evaluation.reports import Metrics, Report, evaluate, known_answers

__all__ = [
    "FilterName",
    "KnownAnswers",
    "Metrics",
    "Ranks",
    "Report",
    "ScoreFunction",
    "evaluate",
    "known_answers",
    "model_scorer",
    "questions_of",
    "rank",
]
