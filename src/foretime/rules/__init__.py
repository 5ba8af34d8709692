"""Temporal rules: mined exactly, counted exactly, written as text that people can read and change.

No torch here, and what needs numba (`static`, `temporal`, `mining`) is imported by those who mine, not by this package.
"""

from foretime.rules.patterns import PATTERNS, Pattern
from foretime.rules.rule import Rule, RuleTable, canonical

__all__ = ["PATTERNS", "Pattern", "Rule", "RuleTable", "canonical"]
