"""What a graph holds, in numbers, and what about it deserves a second look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph
from foretime.data.splitting import SPLITS
from foretime.data.times import INTEGER
from foretime.tables import FrameLibrary, Table

FREQUENT = 10
"""Predicates that a summary lists."""
YEARS = (1000, 2100)
"""Integers between these look like years."""


@dataclass(frozen=True)
class Summary:
    """A graph in numbers. Counts by split are in the order train, valid, test."""

    name: str
    facts: dict[str, int]
    entities: int
    predicates: int
    entities_in_train: int
    predicates_in_train: int
    granularity: str
    steps: int
    first_time: str
    last_time: str
    events_per_step: dict[str, float]
    """The fewest, the median and the most events at a step of the timeline, over all splits."""
    intervals: int
    """Facts with two different ends, or one that is not known."""
    without_start: int
    without_end: int
    reversed_intervals: int
    """Facts that start after they end."""
    self_loops: dict[str, int]
    duplicates: dict[str, int]
    """Facts that stand in their split already, at the same step of the timeline."""
    leaked: dict[str, int]
    """Facts that stand in an earlier split too, at the same step of the timeline."""
    unseen_entity: dict[str, int]
    """Facts with an entity that train never shows."""
    unseen_predicate: dict[str, int]
    untrimmed_names: list[str]
    """Names that begin or end with white space; they are kept as they are."""
    frequent_predicates: dict[str, int]
    """The most frequent predicates, with their facts in all splits."""
    guesses: list[str] = field(default_factory=list)
    """What was guessed when the graph was read."""

    @property
    def looks_like_years(self) -> bool:
        """Whether the times are plain integers that may well be years."""
        first, last = YEARS
        return self.granularity == INTEGER and first <= int(self.first_time) and int(self.last_time) <= last

    def warnings(self) -> list[str]:
        """Return what may be wrong with the data, one sentence each."""
        exact = self.granularity == INTEGER
        how = "" if exact else f" (times compared by the {self.granularity.partition(':')[0].removesuffix('s')})"
        faults = {
            f"repeated{how}": self.duplicates,
            f"in an earlier split too{how}: answers that training or selection has seen": self.leaked,
            "about an entity that train never shows: it can only be guessed": self.unseen_entity,
            "with a predicate that train never shows: it can only be guessed": self.unseen_predicate,
        }
        found = []
        for split in SPLITS:
            found += [f"{split}: {_facts(counts[split])} {text}" for text, counts in faults.items() if counts[split]]
            found += [] if self.facts[split] else [f"{split}: no facts"]
        if self.reversed_intervals:
            found.append(f"{_facts(self.reversed_intervals)} starting after the end; kept as written")
        if names := self.untrimmed_names:
            some, many = ", ".join(repr(name) for name in names[:3]), "s" if len(names) > 1 else ""
            found.append(f"{len(names)} name{many} with white space at an end, kept as written: {some}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything, warnings included, as JSON can hold it."""
        return asdict(self) | {"warnings": self.warnings()}

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return a frame with a row for each split: its facts, and how many of them deserve a second look."""
        columns = ("facts", "duplicates", "leaked", "unseen_entity", "unseen_predicate", "self_loops")
        rows = tuple((split, *(getattr(self, name)[split] for name in columns)) for split in SPLITS)
        return Table(("split", *columns), rows).to_frame(library)

    def rows(self) -> list[tuple[str, str]]:
        """Return what there is to say, as labels and texts; lines that would say nothing are left out."""
        spread = self.events_per_step
        unit = "" if self.granularity == INTEGER else f" of {self.granularity}"  # integers are steps of nothing else
        rows = [
            ("facts", _by_split(self.facts)),
            ("entities", f"{self.entities:,} ({self.entities_in_train:,} in train)"),
            ("predicates", f"{self.predicates:,} ({self.predicates_in_train:,} in train)"),
            ("times", f"{self.first_time} to {self.last_time}: {self.steps:,} steps{unit}"),
            ("events at a step", f"{spread['min']:,} to {spread['max']:,}, median {spread['median']:,g}"),
        ]
        if self.intervals:
            ends = f"{self.without_start:,} without start, {self.without_end:,} without end"
            rows.append(("intervals", f"{self.intervals:,} ({ends}, {self.reversed_intervals:,} reversed)"))
        if any(self.self_loops.values()):
            rows.append(("subject = object", _by_split(self.self_loops)))
        return rows + [("guessed", guess) for guess in self.guesses]

    def __str__(self) -> str:
        lines = [f"{label:<18}{text}" for label, text in self.rows()]
        return "\n".join([self.name, *lines, *(f"warning: {warning}" for warning in self.warnings())])

    def _repr_html_(self) -> str:
        warnings = [("warning", warning) for warning in self.warnings()]
        return Table(("graph", self.name), (*self.rows(), *warnings)).to_html()


def _by_split(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {split}" for split, count in counts.items())


def summarise(graph: Graph) -> Summary:
    """Return the numbers of a graph."""
    every, timeline, train = graph.facts(), graph.timeline, graph.train
    # ids are given in the order of train, so what it never shows has the highest ones
    entities = int(max(train.subject.max(initial=-1), train.object.max(initial=-1))) + 1
    predicates = int(train.predicate.max(initial=-1)) + 1
    duplicates, leaked = _repeated(graph)
    busy = np.bincount(every.events().time, minlength=len(timeline))
    uses = np.bincount(every.predicate, minlength=len(graph.predicates))

    def by_split(count: Callable[[Facts], NDArray[np.bool_]]) -> dict[str, int]:
        return {split: int(count(graph.facts(split)).sum()) for split in SPLITS}

    return Summary(
        name=graph.name,
        facts={split: len(graph.facts(split)) for split in SPLITS},
        entities=len(graph.entities),
        predicates=len(graph.predicates),
        entities_in_train=entities,
        predicates_in_train=predicates,
        granularity=timeline.granularity,
        steps=len(timeline),
        first_time=timeline.label(0),
        last_time=timeline.label(len(timeline) - 1),
        events_per_step={"min": int(busy.min()), "median": float(np.median(busy)), "max": int(busy.max())},
        intervals=int((every.start != every.end).sum()),
        without_start=int((every.start == UNKNOWN).sum()),
        without_end=int((every.end == UNKNOWN).sum()),
        reversed_intervals=int(((every.start > every.end) & (every.end != UNKNOWN)).sum()),
        self_loops=by_split(lambda facts: facts.subject == facts.object),
        duplicates=duplicates,
        leaked=leaked,
        unseen_entity=by_split(lambda facts: np.maximum(facts.subject, facts.object) >= entities),
        unseen_predicate=by_split(lambda facts: facts.predicate >= predicates),
        untrimmed_names=[name for name in (*graph.entities.names, *graph.predicates.names) if name != name.strip()],
        frequent_predicates={
            graph.predicates.name(i): int(uses[i]) for i in np.argsort(-uses, kind="stable")[:FREQUENT]
        },
        guesses=list(graph.notes),
    )


def _repeated(graph: Graph) -> tuple[dict[str, int], dict[str, int]]:
    """Return for each split the facts that stand in it already, and those that stand in an earlier split."""
    facts, steps = graph.facts(), len(graph.timeline) + 1
    pairs = facts.subject * len(graph.entities) + facts.object
    times = (facts.predicate * steps + facts.start + 1) * steps + facts.end + 1  # predicates · 10¹² at the most
    codes = _codes(_codes(pairs) * len(facts) + _codes(times))  # each below the number of facts, equal for equal facts
    earlier = np.zeros(len(codes), dtype=bool)
    duplicates, leaked = {}, {}
    borders = np.cumsum([len(graph.train), len(graph.valid)])
    for split, part in zip(SPLITS, np.split(codes, borders), strict=True):
        here = np.zeros_like(earlier)
        here[part] = True
        duplicates[split] = len(part) - int(here.sum())
        leaked[split] = int(earlier[part].sum())
        earlier |= here
    return duplicates, leaked


def _codes(values: Ids) -> Ids:
    """Return a number for each value, counted from 0; by hashing, which is much faster than `np.unique`."""
    codes: Ids = pa.array(values).dictionary_encode().indices.to_numpy().astype(np.int64)
    return codes


def _facts(count: int) -> str:
    return f"{count:,} fact{'' if count == 1 else 's'}"
