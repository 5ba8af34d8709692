"""Questions by their names, with the rank that each of two runs gives to the true answer."""

from __future__ import annotations

from dataclasses import dataclass

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph
from foretime.evaluation.filters import FilterName
from foretime.evaluation.metrics import Floats


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
    ranks: Floats
    notes: tuple[str, ...] = ()
    """Reasons not to take these ranks as those of unseen facts by a finished run."""


@dataclass(frozen=True)
class RankedQuestion:
    """A fact whose subject or object was asked for, and its rank by two runs; `target` says which of the two."""

    target: str
    subject: str
    predicate: str
    object: str
    time: str
    first_rank: float
    second_rank: float

    @property
    def question(self) -> str:
        """The question in one line, `?` in the place of the answer."""
        shown = {"subject": self.subject, "object": self.object} | {self.target: "?"}
        return f"({shown['subject']}, {self.predicate}, {shown['object']}, {self.time})"

    @property
    def answer(self) -> str:
        """The true answer."""
        return self.object if self.target == "object" else self.subject


def name_questions(first: RankedRun, second: RankedRun, rows: Ids) -> list[RankedQuestion]:
    """Return the questions in the given rows, in that order."""
    graph, questions = first.graph, first.questions.take(rows)
    names, predicates = graph.entities.name, len(graph.predicates)
    found = []
    for row, subject, predicate, object_, start, end in zip(rows, *questions.columns(), strict=True):
        inverted = predicate >= predicates
        found.append(
            RankedQuestion(
                target="subject" if inverted else "object",
                subject=names(int(object_ if inverted else subject)),
                predicate=graph.predicates.name(int(predicate) % predicates),
                object=names(int(subject if inverted else object_)),
                time=_time(graph, int(start), int(end)),
                first_rank=float(first.ranks[row]),
                second_rank=float(second.ranks[row]),
            )
        )
    return found


def _time(graph: Graph, start: int, end: int) -> str:
    if start == end:
        return graph.timeline.label(start)
    return " to ".join("?" if step == UNKNOWN else graph.timeline.label(step) for step in (start, end))
