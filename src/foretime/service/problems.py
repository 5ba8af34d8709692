"""Errors as every response has them: a status, a code, and a message that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from foretime.errors import ForetimeError
from foretime.service.models import ErrorDetail, ErrorOut, FieldError

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorOut, "description": description}
    for status, description in {
        400: "The request cannot be read.",
        401: "The token is missing or wrong.",
        403: "A page of another site asks, or events are sent to a service without a token.",
        404: "No such run or rule.",
        408: "The request arrived too slowly.",
        413: "The body is too large.",
        414: "The URL is too long.",
        415: "The body is not declared as JSON.",
        421: "The host is not loopback, and the service has no token.",
        422: "A field is out of bounds, or the question cannot be answered.",
        431: "The head is too large.",
        503: "Try again later: Retry-After says when.",
    }.items()
}
"""The errors that every route of the API may answer with."""
CODES = {400: "malformed", 401: "unauthorized", 404: "not_found", 405: "method_not_allowed", 415: "not_json"}
MESSAGES = {
    404: "there is nothing at this path; /api/v1/docs lists what there is",
    405: "this path has other methods; see Allow",
}
FIELDS_AT_MOST = 20


class Problem(Exception):  # noqa: N818, it is a response
    """What is wrong with a request, or with the service just now."""

    def __init__(
        self, status: int, code: str, message: str, retry_after: int | None = None, fields: Sequence[FieldError] = ()
    ) -> None:
        super().__init__(message)
        self.status, self.code = status, code
        self.detail = ErrorDetail(code=code, message=_clean(message), fields=list(fields))
        self.headers: dict[str, str] = {} if retry_after is None else {"Retry-After": str(retry_after)}

    def body(self) -> bytes:
        """Return the body of the response."""
        return ErrorOut(error=self.detail).model_dump_json().encode()

    def response(self) -> Response:
        """Return the response."""
        return Response(self.body(), self.status, self.headers, "application/json")


def unanswerable(error: ForetimeError | str) -> Problem:
    """Return the problem of a question that cannot be answered."""
    return Problem(422, "unanswerable", str(error))


def overloaded(seconds: float) -> Problem:
    """Return the problem of a full queue, with the time to come back."""
    wait = min(30, max(1, round(seconds)))
    return Problem(503, "overloaded", f"too many questions are waiting; ask again in {wait} s", wait)


def too_slow() -> Problem:
    """Return the problem of a question that has reached its deadline."""
    return Problem(503, "too_slow", "no answer in time; ask again later, or for less", 5)


def bug() -> Problem:
    """Return the problem of a failure that nobody foresaw."""
    return Problem(500, "bug", "the service has a bug; see its log for details")


async def show_error(request: Request, error: Exception) -> Response:
    """Return the response to any error that a handler raises."""
    return _problem_of(error).response()


def _problem_of(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, ForetimeError):
        return unanswerable(error)
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if not isinstance(error, HTTPException):
        return bug()
    status = error.status_code
    found = Problem(status, CODES.get(status, "malformed"), MESSAGES.get(status, str(error.detail)))
    found.headers |= error.headers or {}
    return found


def _invalid(error: RequestValidationError) -> Problem:
    """Return the problem of a request whose fields are wrong."""
    found = error.errors()
    if any(problem["type"] == "json_invalid" for problem in found):
        return Problem(400, "malformed", "the body is not valid JSON")
    fields = [
        FieldError(field=_clean(_place(problem["loc"])), message=_clean(str(problem["msg"])))
        for problem in found[:FIELDS_AT_MOST]
    ]
    words = "; ".join(f"{field.field}: {field.message}" for field in fields)
    return Problem(422, "invalid", words or "the request is not valid", fields=fields)


def _place(path: Sequence[Any]) -> str:
    """Return the name of a field, without where in the request it was."""
    inner = [str(part)[:100] for part in path[1:]]
    return ".".join(inner) or str(path[0])


def _clean(text: str) -> str:
    """Return a text that UTF-8 can encode, cut to a readable length."""
    return text[:2000].encode("utf-8", "replace").decode("utf-8")


HANDLED: dict[int | type[Exception], Any] = dict.fromkeys(
    (Problem, ForetimeError, HTTPException, RequestValidationError, Exception), show_error
)
"""How the application answers each kind of error."""
