"""What requests and responses have in common: closed models, and types with bounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from foretime.service.settings import MOST_NAMES, MOST_OFFSET, NAME_LENGTH, TIME_LENGTH

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
SlotName = Literal["subject", "predicate", "object", "time", "start", "end"]
GivenSlots = dict[SlotName, str]
"""The slots of a question or a fact that are filled in."""


def given_slots(holder: object) -> GivenSlots:
    """Return the slots of a question or a fact that are not None."""
    names: tuple[SlotName, ...] = get_args(SlotName)
    return {name: value for name in names if (value := getattr(holder, name)) is not None}


def _open(value: Any) -> Any:
    """Return nothing for what marks a field as left open."""
    return None if value in ("", "?") else value


Open = BeforeValidator(_open)
Name = Annotated[Annotated[str, Field(max_length=NAME_LENGTH)] | None, Open]
Time = Annotated[Annotated[str, Field(max_length=TIME_LENGTH)] | None, Open]
RunName = Annotated[str, Field(max_length=255, description="The name of a run.")]
AlreadyKnown = Annotated[
    Literal["mark", "hide"], Field(description="Mark answers that are already in train or valid, or hide them.")
]
SplitChoice = Annotated[Split | None, Open, Field(description="Only facts of this split.")]


class RequestBody(BaseModel):
    """What a request may say; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Paged(RequestBody):
    """Which page of a list."""

    limit: int = Field(default=20, ge=1, le=MOST_NAMES, description="How many to return.")
    offset: int = Field(default=0, ge=0, le=MOST_OFFSET, description="How many to skip.")


class ResponseBody(BaseModel):
    """What a response says, and nothing else."""

    model_config = ConfigDict(extra="forbid")


class NameOut(ResponseBody):
    """A name and the number of facts it occurs in."""

    name: str
    facts: int


class FactOut(ResponseBody):
    """A fact: at one `time`, or from `start` to `end`, either of which may be unknown."""

    subject: str
    predicate: str
    object: str
    time: str | None
    start: str | None
    end: str | None


class FieldError(ResponseBody):
    """What is wrong with one field."""

    field: str
    message: str


class ErrorDetail(ResponseBody):
    """What is wrong, and what to do."""

    code: str
    message: str
    fields: list[FieldError] = []


class ErrorOut(ResponseBody):
    """The body of every response with a status of 400 or above."""

    error: ErrorDetail
