"""Cells of query results: what a query service writes for an entity, a time or a value that is not known."""

from __future__ import annotations

import re

from foretime.data.linked.dates import DAY, UNKNOWN, YEAR, KnownTime, UnreadableTimeError, stamp_time

_TERM = re.compile(r"<(?P<iri>[^<>]*)>|\"(?P<text>(?:[^\"\\]|\\.)*)\"(?:@[\w-]+|\^\^<[^<>]*>)?", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\", "'": "'"}
_ENTITY = re.compile(r"https?://www\.wikidata\.org/(?:entity|prop(?:/[a-z-]+)*)/(?P<id>[QPL]\d+(?:-[FS]\d+)?)")
_ID = re.compile(r"[QPL]\d+(?:-[FS]\d+)?")
_UNKNOWN = re.compile(r"_:.*|t\d+|https?://www\.wikidata\.org/\.well-known/genid/.*")
_IRI = re.compile(r"[A-Za-z][\w+.-]*:\S+")

WITHOUT_PRECISION = {"guess": None, "day": DAY, "year": YEAR}
"""What a time without its precision is taken for: no more than it may mean, or always a day or a year."""


def plain_cell(cell: str) -> str:
    """Return the value of a cell: without the brackets, quotes and types of verbose TSV, or the cell as it is."""
    match = _TERM.fullmatch(cell.strip())
    if match is None:
        return cell.strip()
    if match["iri"] is not None:
        return match["iri"]
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), match["text"])


def is_unknown(value: str) -> bool:
    """Return whether a value stands for one that exists and is not known: a blank node."""
    return _UNKNOWN.fullmatch(value) is not None


def entity_id(value: str) -> str:
    """Return the id of an entity or a property of Wikidata, another IRI as it is, and nothing for a literal."""
    match = _ENTITY.fullmatch(value)
    if match:
        return match["id"]
    return value if _ID.fullmatch(value) or _IRI.fullmatch(value) else ""


def cell_time(value: str, precision: str | None, missing: str) -> KnownTime:
    """Return the time of a cell and of the cell with its precision, `None` if there is no such column."""
    if is_unknown(value):
        return KnownTime(UNKNOWN)
    if precision is None or precision == "":
        return stamp_time(value, WITHOUT_PRECISION[missing])
    if not precision.isdecimal():
        raise UnreadableTimeError(f"the precision {precision!r} is no number from 0 to 14")
    return stamp_time(value, int(precision))
