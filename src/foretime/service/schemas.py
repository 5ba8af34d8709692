"""What requests may say: every field with its bounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from foretime.inference.answers import Question
from foretime.service.examples import EXAMPLE, FACT
from foretime.service.settings import (
    MOST_ANSWERS,
    MOST_BINS,
    MOST_FACTS,
    MOST_GROUNDINGS,
    MOST_NAMES,
    MOST_OFFSET,
    MOST_QUESTIONS,
    MOST_REASONS,
    MOST_RULES,
    NAME_LENGTH,
    TIME_LENGTH,
)

PIECES_OF_TIME = ("time", "start", "end")


def _open(value: Any) -> Any:
    """Return nothing for what stands in an open slot."""
    return None if value in ("", "?") else value


Open = BeforeValidator(_open)
Name = Annotated[Annotated[str, Field(max_length=NAME_LENGTH)] | None, Open]
Time = Annotated[Annotated[str, Field(max_length=TIME_LENGTH)] | None, Open]
RunName = Annotated[str, Field(max_length=255, description="The name of a run.", examples=["first"])]
Offset = Annotated[int, Field(ge=0, le=MOST_OFFSET, description="How many to leave out first.", examples=[0])]
KnownIn = Annotated[
    Literal["mark", "hide"],
    Field(description="Mark answers that train or valid know, or hide them.", examples=["hide"]),
]
SplitIn = Annotated[
    Literal["train", "valid", "test"] | None, Open, Field(description="Only facts of this split.", examples=["train"])
]


class Asked(BaseModel):
    """Something asked: a field that is not there is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class QuestionIn(Asked):
    """A fact on labels with one slot left open."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    subject: Name = Field(default=None, description="Who acts.", examples=[FACT["subject"]])
    predicate: Name = Field(default=None, description="What happens.", examples=[FACT["predicate"]])
    object: Name = Field(default=None, description="To whom.", examples=[FACT["object"]])
    time: Time = Field(default=None, description="When.", examples=[FACT["time"]])
    start: Time = Field(default=None, description="When it began, in a graph of intervals.", examples=["1987"])
    end: Time = Field(default=None, description="When it ended, in a graph of intervals.", examples=["1991"])

    def question(self) -> Question:
        """Return the question for the library."""
        return Question(self.subject, self.predicate, self.object, self.time, self.start, self.end)

    def slots(self) -> dict[str, str]:
        """Return the slots that are given."""
        names = ("subject", "predicate", "object", *PIECES_OF_TIME)
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class CompleteIn(QuestionIn):
    """A question, and how many answers are wanted."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**EXAMPLE, "top": 5}]})

    top: int = Field(default=10, ge=1, le=MOST_ANSWERS, description="How many answers.", examples=[5])
    known: KnownIn = "mark"


class CompareIn(CompleteIn):
    """A question to two runs."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**EXAMPLE, "left": "first", "right": "second"}]})

    left: RunName
    right: RunName


class ExplainIn(QuestionIn):
    """A fact, or a question whose best answer is explained."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**EXAMPLE, "competitor": "Kafitand", "top": 3}]})

    competitor: Name = Field(default=None, description="Another answer: why not that one?", examples=["Kafitand"])
    slot: Literal["subject", "predicate", "object", "time"] = Field(
        default="object", description="The answer, where nothing is left open.", examples=["object"]
    )
    known: KnownIn = "mark"
    top: int = Field(default=10, ge=1, le=MOST_REASONS, description="How many reasons.", examples=[3])


class BatchIn(Asked):
    """Many questions at once."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"questions": [EXAMPLE], "top": 3}]})

    questions: list[QuestionIn] = Field(min_length=1, max_length=MOST_QUESTIONS)
    top: int = Field(default=10, ge=1, le=MOST_ANSWERS, description="How many answers to each.")
    known: KnownIn = "mark"


class NamesIn(Asked):
    """The beginning of a name."""

    prefix: str = Field(
        default="", max_length=NAME_LENGTH, description="Of the name, or of a word in it.", examples=["nel"]
    )
    limit: int = Field(default=20, ge=1, le=MOST_NAMES, examples=[20])
    offset: Offset = 0


class RulesIn(Asked):
    """Which rules."""

    head: Name = Field(default=None, description="The predicate of the head.", examples=["Host a visit"])
    body: Name = Field(default=None, description="The predicate of a body atom.", examples=[FACT["predicate"]])
    pattern: Annotated[
        Literal["follows", "accompanies", "chain_then", "joint_then", "joint_now", "static"] | None, Open
    ] = Field(default=None, description="How the atoms follow each other in time.", examples=["follows"])
    min_confidence: float = Field(default=0.0, ge=0.0, le=1.0, allow_inf_nan=False, examples=[0.3])
    min_support: float = Field(default=0.0, ge=0.0, allow_inf_nan=False, examples=[10])
    sort: Literal["confidence", "support", "head_coverage"] = Field(default="confidence", examples=["support"])
    limit: int = Field(default=20, ge=1, le=MOST_RULES, examples=[20])
    offset: Offset = 0


class GroundingsIn(Asked):
    """Which groundings of a rule."""

    limit: int = Field(default=10, ge=1, le=MOST_GROUNDINGS, examples=[10])
    misses: bool = Field(default=False, description="Those whose head did not come.", examples=[False])


class Selection(Asked):
    """Which facts."""

    model_config = ConfigDict(populate_by_name=True)

    entity: Name = Field(default=None, description="Who takes part.", examples=[FACT["object"]])
    other: Name = Field(default=None, description="With whom, in either direction.", examples=[FACT["subject"]])
    role: Literal["any", "subject", "object"] = Field(
        default="any", description="What the entity is in them.", examples=["any"]
    )
    predicate: Name = Field(default=None, description="What happens.", examples=[FACT["predicate"]])
    from_: Time = Field(default=None, alias="from", description="Not before.", examples=["2024-01-01"])
    to: Time = Field(default=None, description="Not after.", examples=["2024-03-31"])
    split: SplitIn = None


class FactsIn(Selection):
    """A page of facts."""

    order: Literal["earliest", "latest"] = Field(default="earliest", examples=["latest"])
    limit: int = Field(default=50, ge=1, le=MOST_FACTS, examples=[50])
    offset: Offset = 0


class TimelineIn(Selection):
    """Facts counted by time."""

    bins: int = Field(default=60, ge=1, le=MOST_BINS, examples=[60])


class NeighboursIn(Asked):
    """Whom an entity has met."""

    model_config = ConfigDict(populate_by_name=True)

    entity: str = Field(min_length=1, max_length=NAME_LENGTH, description="Who.", examples=[FACT["object"]])
    predicate: Name = Field(default=None, description="What happens.", examples=[FACT["predicate"]])
    from_: Time = Field(default=None, alias="from", description="Not before.", examples=["2024-01-01"])
    to: Time = Field(default=None, description="Not after.", examples=["2024-03-31"])
    split: SplitIn = None
    limit: int = Field(default=20, ge=1, le=MOST_NAMES, examples=[20])
    offset: Offset = 0

    def selection(self) -> Selection:
        """Return the facts that it is about."""
        return Selection.model_validate(self.model_dump(by_alias=True, exclude={"limit", "offset"}))
