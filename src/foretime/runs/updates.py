"""The updates of a run: one file for each in its folder, whole or not there, and never changed again.

updates/000001.jsonl         a header with a sha256 of all the rest, then one event in each line
updates/000002.undone.jsonl  an update that was taken back
updates/list.json            the sha256 of each, written after it: one that is gone, or is another one, is missed

Who reads needs no lock: a file appears and disappears by being renamed. Numbers are never used twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from foretime.data.facts import Ids
from foretime.data.growth import NewEvents
from foretime.data.timeline import Timeline
from foretime.data.times import NO_TICK, parse_times, tick_text, ticks_of
from foretime.errors import RunError
from foretime.files import hold, make_folder, parse_json, read_bytes, read_json, rename, write_bytes, write_json

FOLDER, LIST, FORMAT = "updates", "list.json", 2
_NAME = re.compile(r"(\d{6,})(\.undone)?\.jsonl")
TRIES = 100
"""How often the files are listed again because one was taken back while it was read."""


class Update(NamedTuple):
    """One update of a run, as its header has it."""

    number: int
    events: int
    added: str
    """When it was added, in UTC."""
    source: str
    """The file that it was read from, or in words what it was."""
    first: str
    last: str
    """The first and the last time of its events."""


class UpdateLog:
    """The updates of a run folder."""

    def __init__(self, run: Path, timeline: Timeline) -> None:
        self.folder, self._timeline = run / FOLDER, timeline

    def stamp(self) -> tuple[str, ...]:
        """Return the names of the updates that hold: equal for equal updates, because files never change.

        Raise `RunError` if one is missing.
        """
        for _ in range(TRIES):
            last = len(self._listed())  # before the files are: there may be one more by then, and never one less
            files = self._files()
            if [number for number, _ in files] == list(range(1, max(last, len(files)) + 1)):
                return tuple(path.name for _, path in files if not path.name.endswith(".undone.jsonl"))
        raise RunError(self._what_is_missing({number for number, _ in files}, last))

    def read(self) -> list[tuple[Update, NewEvents]]:
        """Return the updates that hold, in their order; raise `RunError` if one is damaged."""
        for _ in range(TRIES):
            try:
                listed = self._listed()
                return [self._read(self.folder / name, listed) for name in self.stamp()]
            except FileNotFoundError:  # it was taken back just now
                continue
        raise RunError(f"{self.folder}: changes all the time; wait until nothing is written there any more")

    def append(self, events: NewEvents, source: str) -> Update:
        """Write an update, whole or not at all, and return it; the folder must be held."""
        number = max((number for number, _ in self._files()), default=0) + 1
        times = np.concatenate([events.start, events.end])
        times = times[times != NO_TICK]
        span = [tick_text(int(tick), self._timeline.unit) for tick in (times.min(), times.max())]
        update = Update(number, len(events), datetime.now(UTC).isoformat(timespec="seconds"), source, *span)
        body = "".join(f"{line}\n" for line in self._lines(events)).encode()
        header = {"format": FORMAT, **update._asdict()}
        head = json.dumps(header | {"sha256": digest(header, body)}, ensure_ascii=False).encode() + b"\n"
        write_bytes(self.folder / f"{number:06}.jsonl", head + body)
        return update

    def undo(self) -> Update | None:
        """Take back the last update that holds, and return it; the folder must be held."""
        names = self.stamp()
        if not names:
            return None
        path = self.folder / names[-1]
        found, _ = self._read(path, self._listed())
        rename(path, path.with_name(f"{path.stem}.undone.jsonl"))
        return found

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the updates: one process writes at a time, others wait. Readers are never kept waiting."""
        make_folder(self.folder)
        with ExitStack() as stack:
            with suppress(ImportError, OSError):  # Windows has no such locks, and neither have some network disks
                stack.enter_context(hold(self.folder))
            yield
            listed = self._listed()
            more = [_sha256_in(path) for _, path in self._files()[len(listed) :]]
            if more:  # also where whoever wrote the last one was killed right after it
                write_json(self.folder / LIST, {"sha256": [*listed, *more]})

    def _listed(self) -> list[str]:
        """Return the sha256 of each update, by their numbers; none if none is listed yet."""
        file = self.folder / LIST
        try:
            found = read_json(file)["sha256"]
            if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
                raise ValueError("it does not list the updates")
        except FileNotFoundError:
            return []
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise RunError(
                f"{file}: damaged: {error}; if every update is there, remove it: the next update writes it again"
            ) from None
        return found

    def _what_is_missing(self, numbers: set[int], last: int) -> str:
        missing = [number for number in range(1, max(last, *numbers, 0) + 1) if number not in numbers]
        if not missing:
            return f"{self.folder}: has two updates of one number; move one of them elsewhere"
        return (
            f"{self.folder / f'{missing[0]:06}.jsonl'}: missing, and there was an update of that number; restore it "
            f"from a copy of the run, or do without it: put an empty file {missing[0]:06}.undone.jsonl in its place"
        )

    def _files(self) -> list[tuple[int, Path]]:
        try:
            names = [(match, name) for name in os.listdir(self.folder) if (match := _NAME.fullmatch(name))]
        except FileNotFoundError:
            return []
        return sorted((int(match[1]), self.folder / name) for match, name in names)

    def _lines(self, events: NewEvents) -> Iterator[str]:
        every = np.unique(np.concatenate([events.start, events.end, events.known])).tolist()
        text = {tick: None if tick == NO_TICK else tick_text(tick, self._timeline.unit) for tick in every}
        times = (column.tolist() for column in (events.start, events.end, events.known))
        names = (events.subject, events.predicate, events.object)
        # each name and each time is encoded once: that is several times faster than row by row
        coded = {name: _json(name) for column in names for name in dict.fromkeys(column)}
        when = {tick: _json(shown) for tick, shown in text.items()}
        for subject, predicate, object_, *ticks in zip(*names, *times, strict=True):
            yield f"[{', '.join([coded[subject], coded[predicate], coded[object_], *(when[t] for t in ticks)])}]"

    def _read(self, path: Path, listed: list[str]) -> tuple[Update, NewEvents]:
        try:
            head, _, body = read_bytes(path).partition(b"\n")
            header = parse_json(head)
            if header["format"] != FORMAT:
                raise ValueError(f"it has the format {header['format']!r}, not {FORMAT}: another version wrote it")
            sha256, number = header.pop("sha256"), int(path.stem)
            if sha256 != digest(header, body):
                raise ValueError("it is not what its header has the sha256 of")
            wanted = listed[number - 1] if number <= len(listed) else sha256  # not listed yet
            if sha256 != wanted or header["number"] != number:
                raise ValueError(f"it is another update than {LIST} has under its number")
            update = Update(*(header[name] for name in Update._fields))
            rows = parse_json(b"[" + b",".join(body.splitlines()) + b"]")
            return update, self._events(rows)
        except FileNotFoundError:
            raise
        except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise RunError(
                f"{path}: damaged: {error}; put the file back, or take the update out by renaming it to "
                f"{path.stem}.undone.jsonl"
            ) from None

    def _events(self, rows: list[list[Any]]) -> NewEvents:
        subject, predicate, object_, *times = zip(*rows, strict=True)
        start, end, known = map(self._ticks, times)
        return NewEvents(subject, predicate, object_, start, end, known)

    def _ticks(self, texts: tuple[str | None, ...]) -> Ids:
        distinct = list(dict.fromkeys(texts))
        ticks = ticks_of(parse_times([text or "" for text in distinct]), self._timeline.unit)
        place = {text: i for i, text in enumerate(distinct)}
        return np.asarray(ticks[[place[text] for text in texts]])


def digest(header: dict[str, Any], body: bytes) -> str:
    """Return the sha256 of an update: of the rest of its header, and of its events."""
    return hashlib.sha256(json.dumps(header, ensure_ascii=False).encode() + b"\n" + body).hexdigest()


def _sha256_in(path: Path) -> str:
    """Return the sha256 that the header of an update has; an empty text where a file only holds its place."""
    try:
        return str(parse_json(read_bytes(path).partition(b"\n")[0])["sha256"])
    except (OSError, KeyError, TypeError, ValueError):
        return ""


def _json(value: str | None) -> str:
    return json.dumps(value, ensure_ascii=False)
