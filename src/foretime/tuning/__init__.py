"""Tuning: settings are chosen from declared ranges by the MRR on valid, and by nothing else."""

from foretime.tuning.declared import TunePlan, read_plan
from foretime.tuning.search import Tried, tune

__all__ = ["Tried", "TunePlan", "read_plan", "tune"]
