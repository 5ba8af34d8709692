"""What a graph holds, in numbers, and what about it deserves a second look."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foretime.data.attributes import ALIASES
from foretime.data.facts import UNKNOWN, Facts, Ids, concatenate
from foretime.data.graph import Graph
from foretime.data.splitting import SPLITS
from foretime.data.times import INTEGER
from foretime.tables import FrameLibrary, Table, plural

FREQUENT = 10
"""Predicates that a summary lists."""
SHOWN_VALUES = 10
"""Values of an attribute that a summary prints."""
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
    """Facts with an entity that neither train nor the background shows."""
    unseen_predicate: dict[str, int]
    untrimmed_names: list[str]
    """Names that begin or end with white space; they are kept as they are."""
    frequent_predicates: dict[str, int]
    """The most frequent predicates, with their facts in all splits."""
    guesses: list[str] = field(default_factory=list)
    """What was guessed when the graph was read, and how many bad rows were skipped."""
    doubts: list[str] = field(default_factory=list)
    """What deserved a second look when it was read."""
    alike_names: list[list[str]] = field(default_factory=list)
    """Names that look the same: they differ by their Unicode form, zero-width characters or a byte order mark."""
    bad_rows: int = 0
    """Rows that were skipped, because they could not be read."""
    bad_kinds: list[str] = field(default_factory=list)
    """One line for each kind of these, with a count and places."""
    background: int = 0
    """Facts without a time."""
    only_in_background: int = 0
    """Entities that no fact with a time has."""
    in_background: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPLITS, 0))
    """Facts that stand in the background too, without their time."""
    attributes: dict[str, dict[str, int]] = field(default_factory=dict)
    """How many entities have each value of an attribute, the most frequent first; aliases are only counted."""
    described: dict[str, int] = field(default_factory=dict)
    """How many entities have any value of an attribute."""

    @property
    def looks_like_years(self) -> bool:
        """Whether the times are plain integers that may well be years."""
        first, last = YEARS
        return self.granularity == INTEGER and first <= int(self.first_time) and int(self.last_time) <= last

    @property
    def verdict(self) -> str:
        """How many facts can be read, and how many warnings there are, in one line."""
        facts = plural(sum(self.facts.values()), "fact")
        beside = f" and {self.background:,} without a time" if self.background else ""
        warnings = len(self.warnings())
        return f"{self.name}: {facts}{beside} can be read, {plural(warnings, 'warning') if warnings else 'no warnings'}"

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
        half_known = {split: self.in_background[split] for split in SPLITS[1:]}
        found = []
        for split in SPLITS:
            counted = [(text, plural(counts[split], "fact")) for text, counts in faults.items() if counts[split]]
            found += [f"{split}: {some} {text}" for text, some in counted]
            found += [] if self.facts[split] else [f"{split}: no facts"]
            if half_known.get(split):
                known = plural(half_known[split], "fact")
                found.append(f"{split}: {known} known without the time: the answer is background")
        if self.reversed_intervals:
            found.append(f"{plural(self.reversed_intervals, 'fact')} starting after the end; kept as written")
        if names := self.untrimmed_names:
            some, many = ", ".join(repr(name) for name in names[:3]), "s" if len(names) > 1 else ""
            found.append(f"{len(names)} name{many} with white space at an end, kept as written: {some}")
        if alike := self.alike_names:
            some = "; ".join(" and ".join(map(ascii, names)) for names in alike[:3])
            found.append(f"{len(alike)} names written in several ways that look the same, kept apart: {some}")
        return found + self._reading_warnings()

    def _reading_warnings(self) -> list[str]:
        """Return what about the reading may be wrong."""
        found = [f"skipped: {kind}" for kind in self.bad_kinds]
        found += self.doubts
        if self.predicates == 1 and sum(self.facts.values()) > 1:
            found.append("one predicate only: is another column the predicate? --columns says which is which")
        if self.first_time == self.last_time and sum(self.facts.values()) > 1:
            found.append(
                f"one time only, {self.first_time}: is another column the time, or the granularity too coarse?"
            )
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
        if self.background:
            only = f", {self.only_in_background:,} entities only there" if self.only_in_background else ""
            rows.append(("background", f"{plural(self.background, 'fact')} without a time{only}"))
        if any(self.self_loops.values()):
            rows.append(("subject = object", _by_split(self.self_loops)))
        rows += [(attribute, self._values(attribute)) for attribute in self.described]
        return rows + [("read as", guess) for guess in self.guesses]

    def _values(self, attribute: str) -> str:
        """Return how many entities have an attribute, and its most frequent values."""
        some = f"{self.described[attribute]:,} entities have any"
        counts = self.attributes.get(attribute, {})
        if not counts:
            return some
        shown = [f"{value} {count:,}" for value, count in list(counts.items())[:SHOWN_VALUES]]
        more = f", and {len(counts) - SHOWN_VALUES:,} more" if len(counts) > SHOWN_VALUES else ""
        return f"{some}: {', '.join(shown)}{more}"

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
    every, timeline, train, background = graph.facts(), graph.timeline, graph.train, graph.background
    shown = np.zeros(len(graph.entities), dtype=bool)
    shown[every.subject] = shown[every.object] = True
    known = np.zeros(len(graph.entities), dtype=bool)
    known[background.subject] = known[background.object] = True
    attributes = graph.attributes
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
        unseen_entity=by_split(
            lambda facts: (
                ((facts.subject >= entities) & ~known[facts.subject])
                | ((facts.object >= entities) & ~known[facts.object])
            )
        ),
        unseen_predicate=by_split(lambda facts: facts.predicate >= predicates),
        untrimmed_names=[name for name in (*graph.entities.names, *graph.predicates.names) if name != name.strip()],
        frequent_predicates={
            graph.predicates.name(i): int(uses[i]) for i in np.argsort(-uses, kind="stable")[:FREQUENT]
        },
        guesses=list(graph.notes),
        doubts=list(graph.doubts),
        alike_names=alike_names([*graph.entities.names, *graph.predicates.names]),
        bad_rows=len(graph.bad_rows),
        bad_kinds=list(graph.bad_rows.kinds),
        background=len(background),
        only_in_background=int((~shown).sum()),
        in_background=_in_background(graph),
        attributes={one: attributes.counts(one, graph.entities) for one in attributes if one != ALIASES},
        described={one: attributes.count(one, graph.entities) for one in attributes},
    )


_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad"))


def alike_names(names: Iterable[str]) -> list[list[str]]:
    """Return groups of names that differ only by their Unicode form or by characters that nobody sees."""
    groups: dict[str, dict[str, None]] = {}
    plain: dict[str, None] = {}
    for name in names:
        if name.isascii():
            plain[name] = None
        else:
            groups.setdefault(unicodedata.normalize("NFC", name.translate(_INVISIBLE)), {})[name] = None
    for key, group in groups.items():
        if key in plain:
            group[key] = None
    return [list(group) for group in groups.values() if len(group) > 1]


def _in_background(graph: Graph) -> dict[str, int]:
    """Return how many facts of each split stand in the background too, without their time."""
    if not len(graph.background):
        return dict.fromkeys(SPLITS, 0)
    width = len(graph.entities)
    named = concatenate([graph.background, *(graph.facts(split) for split in SPLITS)])
    # two steps, as three ids together may be more than a number holds
    codes = _codes(_codes(named.subject * width + named.object) * len(graph.predicates) + named.predicate)
    background, *parts = np.split(codes, np.cumsum([len(graph.background), len(graph.train), len(graph.valid)]))
    return {split: int(np.isin(part, background).sum()) for split, part in zip(SPLITS, parts, strict=True)}


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
