"""The events that reasons name, found again among the facts, and those that are known to have made planted ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from foretime.data.facts import UNKNOWN, Facts
from foretime.data.graph import Graph
from foretime.data.synthetic.world import PLANTED_FILE
from foretime.errors import DataError, QuestionError
from foretime.files import parse_json, read_text
from foretime.inference.changes import BETWEEN_ENDS
from foretime.inference.explanation.reasons import ShownReason

EventLabels = tuple[str, str, str, str]
"""Subject, predicate, object and time of an event."""


class EventRows:
    """Finds the rows of events among facts, by the labels that a reason names them with."""

    def __init__(self, facts: Facts, graph: Graph) -> None:
        self._graph, self._facts = graph, facts
        self._rows: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        columns = (facts.subject, facts.predicate, facts.object)
        for row, ids in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            self._rows[ids].append(row)

    def find(self, events: Iterable[EventLabels]) -> list[int]:
        """Return the rows of events, each once, in the order of the events."""
        return list(dict.fromkeys(row for event in events for row in self._find(*event)))

    def _find(self, subject: str, predicate: str, object_: str, time: str) -> Iterator[int]:
        graph, facts = self._graph, self._facts
        ids = graph.entities.id(subject), graph.predicates.id(predicate), graph.entities.id(object_)
        ends = [UNKNOWN if end in ("", "?") else graph.timeline.step(end) for end in time.split(BETWEEN_ENDS)]
        for row in self._rows.get(ids, ()):
            own = (int(facts.start[row]), int(facts.end[row]))
            if tuple(ends) == own or (len(ends) == 1 and ends[0] in own):
                yield row


def supporting(reasons: Sequence[ShownReason]) -> list[ShownReason]:
    """Return the reasons that speak for an answer and name events, in their order."""
    return [reason for reason in reasons if reason.contribution > 0 and reason.events]


def events_of(reasons: Iterable[ShownReason]) -> list[EventLabels]:
    """Return the events that reasons name, each once, in their order."""
    return list(dict.fromkeys(tuple(event[1:5]) for reason in reasons for event in reason.events))  # type: ignore[misc]


def read_planted(path: Path, rows: EventRows) -> dict[EventLabels, set[EventLabels]]:
    """Return for each planted event of a file those that made it, of groundings that the rows have whole."""
    made: dict[EventLabels, set[EventLabels]] = defaultdict(set)
    for number, line in enumerate(_lines(path), 1):
        try:
            found = parse_json(line)
            event, body = tuple(found["event"]), [tuple(one) for one in found["made_by"]]
            whole = all(rows.find([one]) for one in body)
        except (ValueError, KeyError, TypeError, QuestionError) as error:
            raise DataError(f"{path}:{number}: not a planted event of this graph: {error}") from None
        if whole:
            made[event] |= set(body)
    return dict(made)


def _lines(path: Path) -> list[str]:
    """Return the lines of a text file."""
    try:
        return read_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}; name the {PLANTED_FILE} of a generated world") from None


def planted_file(data: str) -> Path | None:
    """Return the file of planted events beside the data of a run, if it is there."""
    path = Path(data) / PLANTED_FILE
    return path if data and path.is_file() else None
