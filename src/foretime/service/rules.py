"""Routes to the rules of a run: filtered and sorted, with real groundings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Path, Query
from pydantic import Field

from foretime.errors import DataError
from foretime.rules.grounding import FoundExamples, GroundedEvent, Grounding, find_examples
from foretime.rules.rule import STATIC, Atom
from foretime.rules.table import Rules
from foretime.service.context import TheBackend, TheRun
from foretime.service.models import Name, Open, Paged, RequestBody, ResponseBody, response_of
from foretime.service.problems import ERRORS, Problem
from foretime.service.served import ServedRun
from foretime.service.settings import API, GROUNDING_SECONDS, MOST_GROUNDINGS

PatternName = Literal["follows", "accompanies", "chain_then", "joint_then", "joint_now", "static"]
Count = int | float
router = APIRouter(prefix=f"{API}/runs/{{run}}/rules", responses=ERRORS, tags=["rules"])


class RulesIn(Paged):
    """Which rules."""

    head: Name = Field(default=None, description="The predicate of the head.")
    body: Name = Field(default=None, description="The predicate of a body atom.")
    pattern: Annotated[PatternName | None, Open] = Field(default=None, description="How the atoms are ordered in time.")
    min_confidence: float = Field(default=0.0, ge=0.0, le=1.0, allow_inf_nan=False)
    min_support: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    sort: Literal["confidence", "support", "head_coverage"] = "confidence"


class GroundingsIn(RequestBody):
    """Which groundings of a rule."""

    limit: int = Field(default=10, ge=1, le=MOST_GROUNDINGS)
    misses: bool = Field(default=False, description="Those whose head did not follow.")


AtomOut: Any = response_of(Atom, time=(str | None, None))
GroundedEventOut: Any = response_of(GroundedEvent, role=Literal["body", "head"])
GroundingOut: Any = response_of(Grounding, events=list[GroundedEventOut])


class RuleOut(ResponseBody):
    """A rule with its counts."""

    id: int
    text: str
    pattern: str
    head: AtomOut
    body: list[AtomOut]
    support: Count
    body_count: Count
    head_support: Count
    head_count: Count
    confidence: float
    head_coverage: float


class RulesOut(ResponseBody):
    """A page of rules."""

    total: int
    window: int = Field(description="Within how many steps after its body a head counts.")
    rules: list[RuleOut]


class GroundingsOut(ResponseBody):
    """Real groundings of a rule."""

    rule: RuleOut
    groundings: list[GroundingOut]
    note: str | None


@router.get("")
async def rules(run: TheRun, backend: TheBackend, asked: Annotated[RulesIn, Query()]) -> RulesOut:
    """List the rules of a run."""
    return await backend.look_up("rules", rules_page, run, asked)


@router.get("/{rule}/groundings")
async def groundings(
    run: TheRun,
    rule: Annotated[int, Path(ge=0, le=2**31, description="The number of the rule in the run.")],
    backend: TheBackend,
    asked: Annotated[GroundingsIn, Query()],
) -> GroundingsOut:
    """Show real dated groundings of a rule."""
    return await backend.look_up("groundings", groundings_page, run, rule, asked)


def rules_page(run: ServedRun, asked: RulesIn) -> RulesOut:
    """Return a page of the rules asked for."""
    table, window, count = run.rules, run.config.rules.window, len(run.graph.predicates)
    head, body = (None if name is None else run.index.predicates.id(name) for name in (asked.head, asked.body))
    if table is None:
        return RulesOut(total=0, window=window, rules=[])
    keep = (table.confidence >= asked.min_confidence) & (table.support >= asked.min_support)
    if head is not None:
        keep &= table.head % count == head
    if body is not None:
        keep &= (table.first % count == body) | ((table.second >= 0) & (table.second % count == body))
    if asked.pattern is not None:
        keep &= table.pattern == (STATIC if asked.pattern == "static" else asked.pattern)
    rows = np.flatnonzero(keep)
    ordered = rows[np.argsort(-getattr(table, asked.sort)[rows], kind="stable")]
    page = ordered[asked.offset : asked.offset + asked.limit].tolist()
    return RulesOut(total=len(rows), window=window, rules=[_rule(table, row) for row in page])


def groundings_page(run: ServedRun, row: int, asked: GroundingsIn) -> GroundingsOut:
    """Return the first groundings of a rule by time."""
    if run.rules is None or not 0 <= row < len(run.rules):
        raise Problem(404, "not_found", f"the run {run.name!r} has no rule {row}; its rules are numbered from 0")
    rule, window, note = run.rules.ids(row), run.config.rules.window, None
    try:
        found = find_examples(rule, run.graph, window, run.events, asked.limit, asked.misses, GROUNDING_SECONDS)
    except DataError as error:
        found, note = FoundExamples([], whole=True), str(error)
    if not found.whole:
        note = f"only the first {len(found.groundings)}: finding more takes longer than {GROUNDING_SECONDS:g} s"
    return GroundingsOut(rule=_rule(run.rules, row), groundings=found.groundings, note=note)


def _rule(table: Rules, row: int) -> RuleOut:
    found = table[row].to_dict()
    found["pattern"] = found["pattern"] or "static"
    return RuleOut.model_validate({"id": row, **{key: found[key] for key in RuleOut.model_fields.keys() - {"id"}}})
