"""Tuning: settings are chosen from declared ranges by the MRR on valid, and by nothing else."""

from foretime.experiments.tuning.plan import TunePlan, read_plan
from foretime.experiments.tuning.search import TrialResult, TuneResults, tune

__all__ = ["TrialResult", "TunePlan", "TuneResults", "read_plan", "tune"]
