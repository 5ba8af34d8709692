"""Questions by their names, with the rank that each of two runs gives to the true answer."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.filters import FilterName
from foretime.files import write_text


@dataclass(frozen=True)
class RankedRun:
    """Every question of a split with its rank: `questions`, `fact` and `ranks` are aligned, (questions,)."""

    name: str
    graph: Graph
    split: str
    filter: FilterName
    questions: Facts
    fact: Ids
    """The row of the fact that asks the question."""
    ranks: NDArray[np.float64]
    notes: tuple[str, ...] = ()
    """What is to be known of these ranks."""


@dataclass(frozen=True)
class Asked:
    """A fact of which one end was asked for: `open` names that slot, which stands in its column all the same."""

    open: str
    subject: str
    predicate: str
    object: str
    time: str
    first_rank: float
    second_rank: float

    @property
    def question(self) -> str:
        """The question in one line, `?` in the place of the slot asked for."""
        shown = {"subject": self.subject, "object": self.object} | {self.open: "?"}
        return f"({shown['subject']}, {self.predicate}, {shown['object']}, {self.time})"

    @property
    def answer(self) -> str:
        """The true answer."""
        return self.object if self.open == "object" else self.subject


def asked(first: RankedRun, second: RankedRun, rows: Ids) -> list[Asked]:
    """Return the questions in the given rows, in that order."""
    graph, questions = first.graph, first.questions.take(rows)
    names, predicates = graph.entities.name, len(graph.predicates)
    found = []
    for row, subject, predicate, object_, start, end in zip(rows, *questions.columns(), strict=True):
        turned = predicate >= predicates
        ends = (object_, subject) if turned else (subject, object_)
        found.append(
            Asked(
                open="subject" if turned else "object",
                subject=names(int(ends[0])),
                predicate=graph.predicates.name(int(predicate) % predicates),
                object=names(int(ends[1])),
                time=_time(graph, int(start), int(end)),
                first_rank=float(first.ranks[row]),
                second_rank=float(second.ranks[row]),
            )
        )
    return found


def write_asked(path: Path, first: RankedRun, second: RankedRun) -> int:
    """Write every question with both ranks as CSV, and return how many there are."""
    rows = asked(first, second, np.arange(len(first.questions)))
    text = StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Asked)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    write_text(path, text.getvalue())
    return len(rows)


def _time(graph: Graph, start: int, end: int) -> str:
    if start == end:
        return graph.timeline.label(start)
    return " to ".join("?" if step == UNKNOWN else graph.timeline.label(step) for step in (start, end))
