"""Edge lists of the Temporal Graph Benchmark (`tkgl-…`): `timestamp,head,tail,relation_type`, without quotes.

Times are integers and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foretime.config import Section
from foretime.data.importers.base import EventSource, Head, ImportBatch
from foretime.data.importers.delimited import read_rows
from foretime.data.importers.headers import header_layout, header_names
from foretime.data.importers.inputs import InputFile
from foretime.data.importers.recognising import names_all
from foretime.data.importers.rows import Rows, convert, is_absent, name_of

_ROLES = {"subject": "head", "predicate": "relation_type", "object": "tail"}
_TIMES = ("timestamp", "ts")


class TgbOptions(Section):
    """What can be chosen when edge lists of the Temporal Graph Benchmark are imported."""

    merge: bool = True
    """Whether the same fact at one time is kept only once."""


def _read(files: Sequence[InputFile], options: TgbOptions) -> Iterator[ImportBatch]:
    for file in files:
        time = next((name for name in _TIMES if name in header_names(file, ",")), _TIMES[0])
        for rows in read_rows(file, header_layout(file, (time, *_ROLES.values()), delimiter=",")):
            yield _batch(rows, time)


def _batch(rows: Rows, time: str) -> ImportBatch:
    step = convert(rows[time], lambda text: text if text.removeprefix("-").isdecimal() else None)
    rows.drop(is_absent(step), "the time is no integer")
    facts = {role: convert(rows[name], name_of) for role, name in _ROLES.items()}
    for role, column in facts.items():
        rows.drop(is_absent(column), f"the {role} is empty")
    return rows.batch([facts | {"time": step}])


def _recognise(head: Head) -> bool:
    return any(names_all(head, ",", (time, *_ROLES.values())) for time in _TIMES)


TGB = EventSource(
    "tgb", "an edge list of the Temporal Graph Benchmark", TgbOptions, (".csv",), _read, _recognise, False
)
