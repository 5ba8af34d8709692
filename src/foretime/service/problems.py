"""Errors as every response has them: a status, a code, and a message that says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from foretime.errors import ForetimeError

CODES = {400: "malformed", 401: "unauthorized", 404: "not_found", 405: "method_not_allowed", 415: "not_json"}
MESSAGES = {
    404: "there is nothing at this path; /api/v1/docs lists what there is",
    405: "this path has other methods; see Allow",
}
FIELDS_AT_MOST = 20


class Problem(Exception):  # noqa: N818, it is a response
    """What is wrong with a request, or with the service just now."""

    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}

    def to_dict(self) -> dict[str, Any]:
        """Return what stands behind `error`."""
        return error_dict(self.code, self.message)


def unanswerable(error: ForetimeError | str) -> Problem:
    """Return the problem of a question that cannot be answered."""
    return Problem(422, "unanswerable", str(error))


def overloaded(seconds: float) -> Problem:
    """Return the problem of a full queue, and when to come back."""
    wait = min(30, max(1, round(seconds)))
    return Problem(503, "overloaded", f"too many questions are waiting; ask again in {wait} s", wait)


def too_slow() -> Problem:
    """Return the problem of a question that was given up."""
    return Problem(503, "too_slow", "no answer came in time; ask again later, or for less", 5)


def error_dict(code: str, message: str, fields: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """Return an error as JSON can hold it."""
    return {"code": code, "message": _clean(message), "fields": [dict(field) for field in fields]}


def error_body(error: Mapping[str, Any]) -> bytes:
    """Return the body of the response of an error."""
    return to_json({"error": error})


def error_response(status: int, error: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return the response of an error."""
    return Response(error_body(error), status, headers, "application/json")


async def show_problem(request: Request, error: Exception) -> Response:
    """Answer with a problem."""
    assert isinstance(error, Problem)
    return error_response(error.status, error.to_dict(), error.headers)


async def show_user_error(request: Request, error: Exception) -> Response:
    """Answer with an error that the library reports: the question cannot be answered."""
    return error_response(422, error_dict("unanswerable", str(error)))


async def show_http_error(request: Request, error: Exception) -> Response:
    """Answer with an error of HTTP itself, such as an unknown path."""
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "malformed")
    message = MESSAGES.get(error.status_code, str(error.detail))
    return error_response(error.status_code, error_dict(code, message), error.headers)


async def show_invalid(request: Request, error: Exception) -> Response:
    """Answer with the fields that are wrong."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(problem["type"] == "json_invalid" for problem in found):
        return error_response(400, error_dict("malformed", "the body is not JSON that can be read"))
    fields = [
        {"field": _clean(_place(problem["loc"])), "message": _clean(str(problem["msg"]))}
        for problem in found[:FIELDS_AT_MOST]
    ]
    words = "; ".join(f"{field['field']}: {field['message']}" for field in fields)
    return error_response(422, error_dict("invalid", words or "the request is not valid", fields))


def _place(path: Sequence[Any]) -> str:
    """Return the name of a field, without where in the request it was."""
    inner = [str(part)[:100] for part in path[1:]]
    return ".".join(inner) or str(path[0])


def _clean(text: str) -> str:
    """Return a text that UTF-8 can hold, not longer than anyone reads."""
    return text[:2000].encode("utf-8", "replace").decode("utf-8")
