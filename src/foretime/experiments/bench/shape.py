"""What a line of results must be like, so that tables can be made of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Status = Literal["finished", "over budget", "interrupted", "failed"]
Number = Annotated[float, Field(allow_inf_nan=False)]


class SplitFigures(BaseModel):
    """What was reached on a split: the MRR, and other metrics under their names."""

    mrr: Number


class Attempt(BaseModel):
    """A run of another configuration that was to replace a result and has not finished."""

    config_hash: str
    status: Status
    seconds: Number
    note: str | None


class ResultLine(BaseModel):
    """What every result has, and what some have; others may have more."""

    model_config = ConfigDict(extra="allow", strict=True)
    name: str
    model: str
    variant: str
    data: Annotated[str, Field(pattern=r"^[^/\\|]+$")]
    seed: int
    config_hash: str
    status: Status
    epochs: int
    seconds: Number
    curve: list[tuple[int, Number, Number]]
    valid: SplitFigures | None
    test: SplitFigures | None
    data_fingerprint: str | None = None
    seedless_hash: str | None = None
    commit: str | None = None
    finished_by: str | None = None
    machine: dict[str, Any] | None = None
    note: str | None = None
    earlier: list[str] = []
    tested_before: list[int] | None = None
    attempt: Attempt | None = None
    planned_epochs: int = 0
    ensemble_size: int = 1


class FinishedLine(ResultLine):
    """What a finished result has besides; those of earlier versions may lack other keys."""

    rank: int | None
    filter: str
    evidence: bool
    reranker: str | None
    parameters: int
    converged: bool | None
    last_gain: Number | None
    training_seconds: Number
    peak_memory_mb: Number


def fault_in(line: bytes) -> str | None:
    """Return what is wrong with a line of results, or None."""
    try:
        if ResultLine.model_validate_json(line).status == "finished":
            FinishedLine.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return f"{place}: {first['msg']}" if place else first["msg"]
    return None
