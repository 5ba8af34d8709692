"""The schema of an explanation: what `foretime explain --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from foretime.service.examples import EXPLANATION
from foretime.service.responses import Slot, Slots, Split, Told


class PartOut(Told):
    """One learned feature of a reason: its contribution is share · (shared + predicate + rule)."""

    family: str
    value: float
    says: str
    end: str
    share: float
    shared: float
    predicate: float
    rule: float
    statement: str | None
    support: int | None
    body_count: int | None
    confidence: float | None
    contribution: float


class EventOut(Told):
    """A dated event behind a reason: before, at, or after the time asked about.

    Its time is a step, or the two ends of an interval with ` – ` between them, `?` for one that is not known.
    """

    mark: Literal["cause", "companion", "effect"]
    subject: str
    predicate: str
    object: str
    time: str
    end: str


class ReasonOut(Told):
    """All that one rule body says for or against an answer."""

    kind: Literal["pair", "object", "active", "affinity", "path"]
    sentence: str
    contribution: float
    rule: str | None
    parts: list[PartOut]
    groundings: int
    events: list[EventOut]


class OthersOut(Told):
    """What is not listed, in one sum."""

    count: int
    contribution: float


class FirstStageOut(Told):
    """Where the first of two stages has put the answer."""

    score: float
    shortlist: int
    listed: bool
    place: int | None


class ColumnOut(Told):
    """What one column adds to the score of the second stage."""

    column: str
    value: float | None
    contribution: float
    words: str


class PeerOut(Told):
    """One who is to a third what the given entity is, and has the answer: how many paths, and their facts."""

    name: str
    third: str
    paths: int
    weight: float
    events: list[EventOut]


class CompanyOut(Told):
    """Everyone who speaks for the answer: `weight` is that of all, `told` what the second stage was told of it."""

    weight: float
    told: float
    paths: int
    count: int
    peers: list[PeerOut]


class SecondStageOut(Told):
    """The score of the second stage: its base and its columns, and in a graph of intervals the company."""

    score: float
    base: float
    contributions: list[ColumnOut]
    other_contributions: OthersOut
    company: CompanyOut | None


class DifferenceOut(Told):
    """What one summand gives to the answer and to its competitor."""

    name: str
    answer: float
    competitor: float
    difference: float


class OtherDifferencesOut(Told):
    """Differences that are not listed, in one sum."""

    count: int
    difference: float


class DifferencesOut(Told):
    """Why the answer and not its competitor."""

    score: float
    first_stage_score: float
    terms: list[DifferenceOut]
    reasons: list[DifferenceOut]
    other_reasons: OtherDifferencesOut
    second_stage: list[DifferenceOut] | None
    other_second_stage: OtherDifferencesOut | None = None


class ExplanationOut(Told):
    """Why an answer has its score; with a competitor also why it and not that one."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXPLANATION]})

    question: Slots
    slot: Slot
    answer: str
    rank: int
    confidence: float | None
    known: Split | None
    score: float
    terms: dict[str, float]
    reasons: list[ReasonOut]
    other_reasons: OthersOut
    note: str | None
    first_stage: FirstStageOut | None
    second_stage: SecondStageOut | None
    competitor: ExplanationOut | None = None
    differences: DifferencesOut | None = None
