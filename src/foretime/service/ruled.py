"""The rules of a run, chosen and sorted, and their real groundings."""

from __future__ import annotations

from typing import Any

import numpy as np

from foretime.errors import DataError
from foretime.rules.grounding import FoundExamples, find_examples
from foretime.rules.rule import STATIC
from foretime.rules.table import Rules
from foretime.service.problems import Problem
from foretime.service.runs import Served
from foretime.service.schemas import GroundingsIn, RulesIn
from foretime.service.settings import GROUNDING_SECONDS

MEASURES = ("support", "body_count", "head_support", "head_count", "confidence", "head_coverage")


def rules_page(run: Served, wanted: RulesIn) -> dict[str, Any]:
    """Return a page of the rules that are asked for."""
    rules, window = run.rules, run.config.rules.window
    head = None if wanted.head is None else run.history.predicate(wanted.head)
    body = None if wanted.body is None else run.history.predicate(wanted.body)
    if rules is None:
        return {"total": 0, "window": window, "rules": []}
    count = len(run.graph.predicates)
    keep = (rules.confidence >= wanted.min_confidence) & (rules.support >= wanted.min_support)
    if head is not None:
        keep &= rules.head % count == head
    if body is not None:
        keep &= (rules.first % count == body) | ((rules.second >= 0) & (rules.second % count == body))
    if wanted.pattern is not None:
        keep &= rules.pattern == (STATIC if wanted.pattern == "static" else wanted.pattern)
    rows = np.flatnonzero(keep)
    ordered = rows[np.argsort(-getattr(rules, wanted.sort)[rows], kind="stable")]
    page = ordered[wanted.offset : wanted.offset + wanted.limit].tolist()
    return {"total": len(rows), "window": window, "rules": [_rule(rules, row) for row in page]}


def groundings_page(run: Served, row: int, wanted: GroundingsIn) -> dict[str, Any]:
    """Return the first groundings of a rule by time."""
    if run.rules is None or not 0 <= row < len(run.rules):
        raise Problem(404, "not_found", f"the run {run.name!r} has no rule {row}; its rules are numbered from 0")
    rule, window, note = run.rules.ids(row), run.config.rules.window, None
    try:
        found = find_examples(rule, run.graph, window, run.events, wanted.limit, wanted.misses, GROUNDING_SECONDS)
    except DataError as error:
        found, note = FoundExamples([], whole=True), str(error)
    if not found.whole:
        note = f"only the first {len(found.groundings)}: looking for more takes longer than {GROUNDING_SECONDS:g} s"
    shown = [{"holds": one.holds, "events": [event._asdict() for event in one.events]} for one in found.groundings]
    return {"rule": _rule(run.rules, row), "groundings": shown, "note": note}


def _rule(rules: Rules, row: int) -> dict[str, Any]:
    found = rules[row].to_dict()
    return {
        "id": row,
        "text": found["text"],
        "pattern": found["pattern"] or "static",
        "head": {"time": None, **found["head"]},
        "body": [{"time": None, **atom} for atom in found["body"]],
        **{name: found[name] for name in MEASURES},
    }
