"""Statements of RDF joined with their times, when all of them are on the shelf."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from foretime.data.linked import rdf_vocabulary as words
from foretime.data.linked.dates import UnreadableTimeError
from foretime.data.linked.rdf_intake import LITERAL, NODE, PART, QUOTED, SOMETHING, TYPE_TAKEN, RdfChoices
from foretime.data.linked.rdf_times import NodeTimes, TimeFinder, graph_name_time
from foretime.data.linked.shelf import Shelf
from foretime.data.linked.statements import AmbiguousTimesError, HeldSpan, LeftOut, LinkedFact, spans_of
from foretime.data.linked.wikidata_entities import (
    AMBIGUOUS,
    BAD_TIME,
    DEPRECATED,
    NOT_ASKED_FOR,
    TIMELESS,
    UNKNOWN_VALUE,
)

INCOMPLETE = "a statement without its subject or its predicate"
SEVERAL = "a statement with several subjects"
BLANK = "the subject or the object is a blank node"
NOTE = "says something else of a statement"
DATED = "the same statement is there with its time"
NESTED = "a statement about a statement"
SET_ASIDE = frozenset({PART, LITERAL, TYPE_TAKEN, NOTE, DATED, NOT_ASKED_FOR})
"""Reasons for which statements are counted, and not written out one by one."""

_FROM_MARKS = """
insert into statement select o.file, o.row, o.line, o.node, s.value, coalesce(p.value, ''), o.value, o.kind, ''
from mark as o left join mark as s on s.node = o.node and s.role = 'subject'
left join mark as p on p.node = o.node and p.role = 'predicate' where o.role = 'object'
"""
_INDEXES = (
    "create index mark_node on mark(node)",
    _FROM_MARKS,
    "create index statement_node on statement(node)",
    "create index type_entity on type(entity)",
    "create table dated(subject text, predicate text, object text)",
)
_STATEMENTS = """
select distinct file, row, line, node, subject, predicate, object, kind, graph from statement order by row, predicate
"""
_TRIPLES = """
select file, row, line, subject, predicate, object, graph,
    exists(select 1 from statement where node = triple.subject) or
    exists(select 1 from statement where node = triple.object),
    exists(select 1 from dated where dated.subject = triple.subject and dated.predicate = triple.predicate
        and dated.object = triple.object)
from triple order by row
"""
_NAMED_MARKS = """
select mark.file, mark.row, mark.line, mark.node, mark.value,
    exists(select 1 from statement where node = mark.node) or exists(select 1 from triple where graph = mark.node)
from mark where named order by row
"""


_REMEMBERED = 100_000  # graphs and events whose times are not looked up again


class JoinedRow(NamedTuple):
    """What a statement that waited on the shelf became."""

    file: int
    row: int
    line: int
    found: LinkedFact | LeftOut


class Join:
    """Goes over the shelf when everything was taken."""

    def __init__(self, shelf: Shelf, choices: RdfChoices) -> None:
        self._shelf = shelf
        self._database: sqlite3.Connection = shelf.database
        self._choices = choices
        self._finder = TimeFinder(shelf.database, choices.precision)
        self._graph_spans: Callable[[str], list[HeldSpan]] = lru_cache(maxsize=_REMEMBERED)(self._find_graph_spans)
        self._event_times: Callable[[str], NodeTimes] = lru_cache(maxsize=_REMEMBERED)(self._find_event_times)
        shelf.settle()
        for step in _INDEXES:
            self._database.execute(step)

    def rows(self) -> Iterator[JoinedRow]:
        """Yield what each statement becomes; one that has several times or properties becomes several facts."""
        for file, row, line, *statement in self._database.execute(_STATEMENTS):
            for found in self._statement(*statement):
                yield JoinedRow(file, row, line, found)
        self._shelf.settle()
        self._database.execute("create index dated_all on dated(subject, predicate, object)")
        self._database.execute("create index triple_graph on triple(graph)")
        for file, row, line, *triple in self._database.execute(_TRIPLES):
            for found in self._triple(*triple):
                yield JoinedRow(file, row, line, found)
        for file, row, line, node, value, used in self._database.execute(_NAMED_MARKS):
            yield JoinedRow(file, row, line, LeftOut(PART if used else LITERAL, f"{node} {value}"))

    def _statement(
        self, node: str, subject: str | None, predicate: str, object_: str, kind: str, graph: str
    ) -> Iterator[LinkedFact | LeftOut]:
        marks = self._finder.marks(node)
        predicate = predicate or self._type_of(node)
        shown = f"{subject} {predicate} {object_}"
        reason = self._reason_against(subject, predicate, object_, kind)
        if len({mark.value for mark in marks if mark.role == "subject"}) > 1:
            reason = SEVERAL
        elif not reason and any(mark.role == "rank" and mark.value.endswith("DeprecatedRank") for mark in marks):
            reason = DEPRECATED
        if reason or subject is None:
            yield LeftOut(reason or INCOMPLETE, shown)
            return
        if predicate == words.ENTITY + "P31":
            self._shelf.add_types(subject, [object_])
            yield LeftOut(TYPE_TAKEN, shown)
            return
        for found in self._dated(subject, predicate, object_, lambda: self._finder.times(marks), graph):
            if isinstance(found, LinkedFact) and found.start:
                self._shelf.insert("dated", (subject, predicate, object_))
            yield found

    def _triple(
        self, subject: str, predicate: str, object_: str, graph: str, note: int, dated: int
    ) -> Iterator[LinkedFact | LeftOut]:
        shown = f"{subject} {predicate} {object_}"
        reason = NOTE if note else self._reason_against(subject, predicate, object_, NODE)
        if reason:
            yield LeftOut(reason, shown)
            return
        for found in self._dated(subject, predicate, object_, lambda: self._event_times(subject), graph):
            timeless = not isinstance(found, LinkedFact) or not found.start
            yield LeftOut(DATED, shown) if dated and timeless else found

    def _reason_against(self, subject: str | None, predicate: str, object_: str, kind: str) -> str:
        """Return why a statement becomes no fact, whatever its time, or an empty text."""
        if not subject or not predicate:
            return INCOMPLETE
        asked = self._choices.properties
        if asked and predicate not in asked and words.local_name(predicate) not in asked:
            return NOT_ASKED_FOR
        if kind in (QUOTED, SOMETHING):
            return NESTED if kind == QUOTED else UNKNOWN_VALUE
        if kind != NODE:
            return LITERAL
        return BLANK if subject.startswith("_:") or object_.startswith("_:") else ""

    def _dated(
        self, subject: str, predicate: str, object_: str, times: Callable[[], NodeTimes], graph: str
    ) -> Iterator[LinkedFact | LeftOut]:
        shown = f"{subject} {predicate} {object_}"
        try:
            spans = spans_of(*times())
            if not spans[0].start and graph:
                spans = self._graph_spans(graph) or spans
        except (UnreadableTimeError, AmbiguousTimesError) as error:
            reason = BAD_TIME if isinstance(error, UnreadableTimeError) else AMBIGUOUS
            yield LeftOut(reason, f"{shown}: {error}")
            return
        for span in spans:
            timeless = not span.start and not self._choices.timeless
            yield LeftOut(TIMELESS, shown) if timeless else LinkedFact(subject, predicate, object_, *span)

    def _find_event_times(self, subject: str) -> NodeTimes:
        """Return the time of an event, which is that of the facts about it."""
        if not self._choices.event_time:
            return NodeTimes()
        return self._finder.times(mark for mark in self._finder.marks(subject) if not mark.named)

    def _find_graph_spans(self, graph: str) -> list[HeldSpan]:
        """Return when what a graph states holds: by what is said of the graph, or by its name."""
        if self._choices.graph_time == "no":
            return []
        found = self._finder.times(self._finder.marks(graph))
        if any(found):
            return spans_of(*found)
        named = graph_name_time(graph, self._choices.graph_time)
        return spans_of((), (), (named,)) if named else []

    def _type_of(self, node: str) -> str:
        """Return the type of a node, which is the property of a statement that names none."""
        found = self._database.execute("select type from type where entity = ? limit 1", (node,)).fetchone()
        return str(found[0]) if found else ""
