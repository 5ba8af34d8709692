"""The JSON dump of Wikidata: one entity a line, inside `[` and `]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from foretime.data.linked.statements import LeftOut

NOT_JSON = "the line is no JSON"
NO_ENTITY_LINE = "the line is no entity"
_SHOWN = 200


class DumpLine(NamedTuple):
    """A line of a dump: its number, and the entities in it or what is wrong with it."""

    line: int
    found: tuple[Mapping[str, Any], ...] | LeftOut


def dump_lines(content: bytes, first: int = 1) -> Iterator[DumpLine]:
    """Yield the lines of a piece of a dump that hold something; `first` is the number of its first line."""
    for number, line in enumerate(content.split(b"\n"), start=first):
        text = line.strip().rstrip(b",").rstrip()
        if text not in (b"", b"[", b"]", b"\xef\xbb\xbf["):
            yield DumpLine(number, _entities(text))


def _entities(text: bytes) -> tuple[Mapping[str, Any], ...] | LeftOut:
    try:
        found = _parse(text)
    except orjson.JSONDecodeError:
        return LeftOut(NOT_JSON, _shown(text))
    if isinstance(found, dict) and isinstance(found.get("entities"), dict):  # as the API gives single entities
        found = list(found["entities"].values())
    entities = found if isinstance(found, list) else [found]
    if not all(isinstance(entity, dict) and isinstance(entity.get("id"), str) for entity in entities):
        return LeftOut(NO_ENTITY_LINE, _shown(text))
    return tuple(entities)


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # the brackets may share a line with the first or the last entity
        trimmed = text.removeprefix(b"[") if text.startswith(b"[{") else text.removesuffix(b"]")
        if trimmed == text:
            raise
        return orjson.loads(trimmed)


def _shown(text: bytes) -> str:
    return text[:_SHOWN].decode("utf-8", errors="backslashreplace")


def is_dump(lines: Iterable[str]) -> bool:
    """Return whether the first lines of a file are those of a dump."""
    starts = [line.strip().removeprefix("[").lstrip() for line in lines]
    entity = next((start for start in starts if start), "")
    return entity.startswith(('{"type":"item"', '{"type":"property"', '{"pageid"')) and '"id":"' in entity
