"""Tuning: settings are chosen from declared ranges by the MRR on valid, and by nothing else."""

from foretime.experiments.tuning.declared import TunePlan, read_plan
from foretime.experiments.tuning.search import Tried, tune

__all__ = ["Tried", "TunePlan", "read_plan", "tune"]
