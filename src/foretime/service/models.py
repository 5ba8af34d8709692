"""What requests and responses have in common: closed models, and types with bounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from foretime.inference.answers import GIVEN, WHERE
from foretime.service.settings import MOST_NAMES, MOST_OFFSET, NAME_LENGTH, TIME_LENGTH

Split = Literal["train", "valid", "test", "update"]
SPLITS: tuple[Split, ...] = get_args(Split)
GivenSlots = Annotated[dict[str, str], Field(json_schema_extra={"propertyNames": {"enum": [*GIVEN, WHERE]}})]
"""The slots of a question or a fact that are filled in, and the restriction of its answers if there is one."""


def _open(value: Any) -> Any:
    """Return nothing for what marks a field as left open."""
    return None if value in ("", "?") else value


Open = BeforeValidator(_open)
Name = Annotated[Annotated[str, Field(max_length=NAME_LENGTH)] | None, Open]
Time = Annotated[Annotated[str, Field(max_length=TIME_LENGTH)] | None, Open]
RunName = Annotated[str, Field(max_length=255, description="The name of a run.")]
AlreadyKnown = Annotated[
    Literal["mark", "hide"],
    Field(description="Mark answers that are already in train, valid or an update, or hide them."),
]


class RequestBody(BaseModel):
    """What a request may say; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Paged(RequestBody):
    """Which page of a list."""

    limit: int = Field(default=20, ge=1, le=MOST_NAMES, description="How many to return.")
    offset: int = Field(default=0, ge=0, le=MOST_OFFSET, description="How many to skip.")


class ResponseBody(BaseModel):
    """What a response says, and nothing else."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


def response_of(source: type, **changes: Any) -> Any:
    """Return the model of what a value of the library is as JSON: its fields, with some changed, added, or left out.

    A change is a type, or a type and its default; a field whose type is None is left out.
    """
    fields: dict[str, Any] = {name: kind for name, kind in (get_type_hints(source) | changes).items() if kind}
    return create_model(f"{source.__name__}Out", __base__=ResponseBody, __doc__=source.__doc__, **fields)


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
