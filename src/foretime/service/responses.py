"""What responses say: the schema of every answer, with examples."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from foretime.service.examples import ANSWER, EXAMPLE, FACTS, NAMES, NEIGHBOURS, RULES, RUNS, TIMELINE

Split = Literal["train", "valid", "test"]
Slot = Literal["subject", "predicate", "object", "time"]


class Told(BaseModel):
    """Something told: no other fields."""

    model_config = ConfigDict(extra="forbid")


class FieldError(Told):
    """What is wrong with one field."""

    field: str
    message: str


class Error(Told):
    """What is wrong."""

    code: str
    message: str
    fields: list[FieldError]


class ErrorOut(Told):
    """The body of every response from 400 on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"error": {"code": "invalid", "message": "top: should be less than 101", "fields": []}}]
        }
    )

    error: Error


class RunBrief(Told):
    """A run in a line."""

    name: str
    data: str
    model: str
    entities: int
    predicates: int
    facts: dict[Split, int]
    first: str
    last: str
    granularity: str
    steps: int
    rules: int
    evidence: bool
    reranker: bool
    forecasts: bool = Field(description="Whether times after the last one can be asked about.")
    intervals: bool = Field(description="Whether facts have a start and an end.")
    valid_mrr: float | None
    test_mrr: float | None
    valid_fitted: bool = Field(
        description="Whether the second stage was fitted on valid, so that valid_mrr is not of unseen facts."
    )
    loaded: str = Field(description="When the run was loaded; it changes whenever the run is loaded anew.")


class RunProblem(Told):
    """A run that is not served."""

    run: str
    message: str


class RunsOut(Told):
    """The runs that are served, and those that cannot be."""

    model_config = ConfigDict(json_schema_extra={"examples": [RUNS]})

    runs: list[RunBrief]
    problems: list[RunProblem]


class Slots(Told):
    """A fact or a question on labels."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    time: str | None = None
    start: str | None = None
    end: str | None = None


class RunOut(RunBrief):
    """A run with its settings, its report and its training curve."""

    config: dict[str, dict[str, Any]]
    report: dict[str, Any] | None
    metrics: list[dict[str, str | int]] = Field(
        description="Of each metric: name, label, about, better, digits."
    )
    trace: list[dict[str, Any]]
    example: Slots | None


class NameOut(Told):
    """A name, and in how many facts it is."""

    name: str
    facts: int


class NamesOut(Told):
    """A page of names."""

    model_config = ConfigDict(json_schema_extra={"examples": [NAMES]})

    total: int
    names: list[NameOut]


class AnswerOut(Told):
    """A candidate for the open slot; its terms add up to its score, its bars are lengths from -1 to 1."""

    model_config = ConfigDict(json_schema_extra={"examples": [ANSWER]})

    rank: int
    name: str
    score: float
    confidence: float | None
    known: Split | None
    terms: dict[str, float]
    bars: dict[str, float]


class CompleteOut(Told):
    """The answers to a question, the best first."""

    run: str
    question: Slots
    slot: Slot
    answers: list[AnswerOut]
    note: str | None


class Outcome(Told):
    """What became of one question of a batch."""

    question: Slots
    slot: Slot | None
    answers: list[AnswerOut]
    error: Error | None


class BatchOut(Told):
    """The outcomes of a batch, in the order of its questions."""

    run: str
    results: list[Outcome]


class RanksOut(Told):
    """Where two runs put an answer; none if it is not among their first ones."""

    name: str
    left: int | None
    right: int | None


class CompareOut(Told):
    """The answers of two runs to one question."""

    question: Slots
    slot: Slot
    left: CompleteOut
    right: CompleteOut
    answers: list[RanksOut]
    shared: int


class AtomOut(Told):
    """An atom of a rule; one without time has none."""

    predicate: str
    subject: str
    object: str
    time: str | None


class RuleOut(Told):
    """A rule with its counts."""

    id: int
    text: str
    pattern: str
    head: AtomOut
    body: list[AtomOut]
    support: float
    body_count: float
    head_support: float
    head_count: float
    confidence: float
    head_coverage: float


class RulesOut(Told):
    """A page of rules; `window` is how many steps after its body a head may come."""

    model_config = ConfigDict(json_schema_extra={"examples": [RULES]})

    total: int
    window: int
    rules: list[RuleOut]


class RoleEvent(Told):
    """An event that an atom of a rule stands for."""

    role: Literal["body", "head"]
    subject: str
    predicate: str
    object: str
    time: str


class GroundingOut(Told):
    """The events of a body, and that of the head where it came."""

    holds: bool
    events: list[RoleEvent]


class GroundingsOut(Told):
    """Real groundings of a rule."""

    rule: RuleOut
    groundings: list[GroundingOut]
    note: str | None


class FactOut(Told):
    """A fact: at one `time`, or from `start` to `end`, of which one may be unknown."""

    subject: str
    predicate: str
    object: str
    time: str | None
    start: str | None
    end: str | None
    split: Split


class FactsOut(Told):
    """A page of facts."""

    model_config = ConfigDict(json_schema_extra={"examples": [FACTS]})

    total: int
    facts: list[FactOut]


class BinOut(Told):
    """How many facts begin between two times, both included."""

    start: str
    end: str
    facts: int


class TimelineOut(Told):
    """Facts counted by time, by predicate and by split."""

    model_config = ConfigDict(json_schema_extra={"examples": [TIMELINE]})

    total: int
    bins: list[BinOut]
    predicates: list[NameOut]
    splits: dict[Split, int]


class NeighbourOut(Told):
    """Someone whom an entity has met."""

    name: str
    facts: int
    as_subject: int
    as_object: int
    first: str
    last: str
    predicates: list[NameOut]


class NeighboursOut(Told):
    """A page of those whom an entity has met."""

    model_config = ConfigDict(json_schema_extra={"examples": [NEIGHBOURS]})

    entity: str
    total: int
    neighbours: list[NeighbourOut]


class HealthOut(Told):
    """That the process answers."""

    status: Literal["ok"]


class ReadyOut(Told):
    """That questions are answered, and about how many runs."""

    status: Literal["ready"]
    runs: int
