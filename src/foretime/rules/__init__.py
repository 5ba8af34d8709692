"""Temporal rules: mined exactly, counted exactly, written as text that people can read and change.

No torch here, and what needs numba (`static`, `temporal`, `mining`) is imported by those who mine, not by this package.
"""

from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import Rule, RuleIds
from foretime.rules.table import Rules

__all__ = ["PATTERNS", "Rule", "RuleIds", "Rules"]
