"""The values of Arrow columns as texts: what each type means, and which types mean no name and no time."""

from __future__ import annotations

import re
from uuid import UUID

import numpy as np
import pyarrow as pa

from foretime.errors import DataError

_DAY = {"D": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}
_FIRST_DAY, _LAST_DAY = -12_687_428, 11_248_737
"""The days from -32767-01-01 to 32767-12-31, counted from 1970: those that Arrow can write."""
_BEYOND = "a date beyond the year 32767"
_SINCE_2000 = {"D": 10_957, "us": 946_684_800_000_000}
"""PostgreSQL counts from 2000: its driver adds this, also to what stands for infinity, and past the largest integer."""


def value_kind(column: pa.ChunkedArray) -> pa.DataType:
    """Return the type of the values of a column, be they coded or not."""
    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def check_kind(kind: pa.DataType, place: str, is_time: bool = False) -> None:
    """Raise `DataError` for a type whose values are neither names nor times.

    Numbers with a fraction may be times: pandas turns years into such where one is missing.
    """
    types = pa.types
    if is_time and types.is_floating(kind):
        return
    tests = (types.is_string, types.is_large_string, types.is_string_view, types.is_integer, types.is_date)
    if any(test(kind) for test in (*tests, types.is_timestamp, types.is_null, _is_uuid, _is_numeric)):
        return
    if not (types.is_decimal(kind) and kind.scale == 0):
        name = kind.type_name if isinstance(kind, pa.OpaqueType) else str(kind)
        raise DataError(f"{place} is of type {name}; expected text, integers, dates or timestamps; cast it first")


def _is_uuid(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.UuidType)


def _is_numeric(kind: pa.DataType) -> bool:
    """Return whether it is a number of any precision, in digits, as PostgreSQL's driver has it."""
    return isinstance(kind, pa.OpaqueType) and kind.type_name == "numeric" and pa.types.is_string(kind.storage_type)


def storage(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of a plain type, whatever its type says about what the values mean."""
    if isinstance(column.type, pa.BaseExtensionType):
        return pa.chunked_array([chunk.storage for chunk in column.chunks], type=column.type.storage_type)
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def texts_of(values: pa.Array, kind: pa.DataType, place: str) -> list[str | None]:
    """Return values of a type as texts: dates as ISO dates, instants in UTC, integers in digits, 2000.0 as it is."""
    if pa.types.is_floating(kind):
        return [None if value is None or value != value else repr(value) for value in values.to_pylist()]
    if _is_uuid(kind):
        return [None if value is None else str(UUID(bytes=value)) for value in values.to_pylist()]
    if pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp(kind.unit))  # the zone is for show: the instant is in UTC
    try:
        texts: list[str | None] = values.cast(pa.string()).to_pylist()
    except UnicodeDecodeError:
        raise DataError(f"{place} has text that is not valid UTF-8; write it again as UTF-8") from None
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _within_calendar(values, kind, texts)
    if _is_numeric(kind) and (other := next((t for t in texts if t and not re.fullmatch(r"-?\d+", t)), None)):
        raise DataError(f"{place} is of type numeric and has {other}; expected integers; cast it first")
    return texts


def _within_calendar(values: pa.Array, kind: pa.DataType, texts: list[str | None]) -> list[str | None]:
    """Return the texts of dates, with words for infinity and for years that Arrow would write as others."""
    unit = "D" if pa.types.is_date32(kind) else "ms" if pa.types.is_date(kind) else kind.unit
    integers = pa.int32() if unit == "D" else pa.int64()
    numbers = values.cast(integers).cast(pa.int64()).fill_null(0).to_numpy()
    infinite = _infinite(unit)
    wrong = np.isin(numbers, list(infinite))
    if unit != "ns":  # whose numbers end in the year 2262
        day = _DAY[unit]
        wrong |= (numbers < _FIRST_DAY * day) | (numbers >= (_LAST_DAY + 1) * day)
    return [infinite.get(int(numbers[row]), _BEYOND) if wrong[row] else text for row, text in enumerate(texts)]


def _infinite(unit: str) -> dict[int, str]:
    """Return the numbers that stand for infinity in databases, and how they call it."""
    largest = 2**31 - 1 if unit == "D" else 2**63 - 1
    found = {largest: "infinity", -largest: "-infinity"}
    if shift := _SINCE_2000.get(unit):
        found |= {shift - largest - 2: "infinity", shift - largest - 1: "-infinity"}
    return found
