"""RDF: N-Triples, N-Quads, Turtle and TriG, with time attached in the ways that are in use.

A row is a statement (a triple or a quad). Statement nodes are joined with their times in a file on disk, when all of
the input was read; see `docs/sources.md` for the ways in which time is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import PurePath
from typing import Literal

from foretime.config import Section
from foretime.data.importers.base import EventSource, Head, ImportBatch
from foretime.data.importers.inputs import InputFile, blocks
from foretime.data.importers.linked import PIECE, LeftRows, WordList, shelf_batches, take_row
from foretime.data.linked.naming import local_name
from foretime.data.linked.query_cells import WITHOUT_PRECISION
from foretime.data.linked.rdf_files import (
    FORMATS,
    LINE_FORMATS,
    PlacedQuad,
    format_of,
    line_quads,
    oxigraph,
    stream_quads,
)
from foretime.data.linked.rdf_intake import Intake, RdfChoices
from foretime.data.linked.rdf_join import SET_ASIDE, Join
from foretime.data.linked.rdf_vocabulary import marks_with
from foretime.data.linked.shelf import open_shelf
from foretime.data.linked.statements import LeftOut

_QUADS = 50_000


class RdfOptions(Section):
    """What can be chosen when RDF is imported."""

    language: str = "en"
    """The language of the names; labels without a language where it has none."""
    property: WordList = ()
    """The properties that are taken, by IRI or by local name; all by default."""
    start_property: WordList = ()
    """Further properties, by IRI or by local name, that give the start of a statement."""
    end_property: WordList = ()
    """Further properties that give the end of a statement."""
    time_property: WordList = ()
    """Further properties that give the time of a statement."""
    subject_property: WordList = ()
    """Further properties that lead from a statement node to its subject, as `rdf:subject` does."""
    object_property: WordList = ()
    """Further properties that lead from a statement node to its object; it is then called as the type of the node."""
    graph_time: Literal["auto", "name", "no"] = "auto"
    """`auto` dates what a named graph states by what is said of the graph, or by a name that ends in a date such as
    `2014-05-13`; `name` also by `20140513` and `2014`; `no` by neither."""
    event_time: bool = True
    """Whether the time of an event, of OWL-Time or SEM, is that of the facts about it."""
    timeless: Literal["keep", "drop"] = "keep"
    """Whether statements without a time are kept, as facts without a time."""
    precision: Literal["guess", "day", "year"] = "guess"
    """What a time of Wikidata without its precision is taken for: no more than it may mean, a day, or a year."""
    names: Literal["auto", "as-is"] = "auto"
    """`auto` names things by their labels, or by the last part of their IRI; `as-is` keeps the IRIs."""
    merge: bool = True
    """Whether the same fact at one time is kept only once."""


def _choices(options: RdfOptions) -> RdfChoices:
    times = {"start": options.start_property, "end": options.end_property, "time": options.time_property}
    return RdfChoices(
        language=options.language,
        properties=frozenset(options.property),
        marks=marks_with({"subject": options.subject_property, "object": options.object_property}),
        times=marks_with(times),
        graph_time=options.graph_time,
        event_time=options.event_time,
        precision=WITHOUT_PRECISION[options.precision],
        timeless=options.timeless == "keep",
        labels=options.names == "auto",
    )


def _read(files: Sequence[InputFile], options: RdfOptions) -> Iterator[ImportBatch]:
    oxigraph()
    choices = _choices(options)
    with open_shelf(local_name if choices.labels else str) as shelf:
        intake = Intake(shelf, choices)
        for number, file in enumerate(files):
            for piece in _pieces(file):
                left = LeftRows(file.label, SET_ASIDE)
                for placed in piece:
                    if not isinstance(placed, PlacedQuad):
                        left.add(*placed)
                    elif reason := intake.take(number, placed):
                        left.count(reason)
                yield left.batch()
        joined = groupby(Join(shelf, choices).rows(), key=lambda found: found.row)
        while some := list(islice(((row, list(found)) for row, found in joined), _QUADS)):
            by_file = {number: LeftRows(file.label, SET_ASIDE) for number, file in enumerate(files)}
            for row, found in some:
                first = found[0]
                take_row(shelf, first.file, row, first.line, [each.found for each in found], by_file[first.file])
            yield from (left.batch() for left in by_file.values())
        yield from shelf_batches(shelf, files)


def _pieces(file: InputFile) -> Iterator[Iterator[PlacedQuad | tuple[int, LeftOut]]]:
    form = format_of(file.name)
    if form in LINE_FORMATS:
        for block in blocks(file, PIECE):
            yield line_quads(block.content, block.line, form)
        return
    with file.open() as stream:
        quads = stream_quads(stream, form, file.label)
        while some := list(islice(quads, _QUADS)):
            yield iter(some)


def _recognise(head: Head) -> bool:
    return PurePath(head.name).suffix.lower() in FORMATS


RDF = EventSource("rdf", "RDF", RdfOptions, tuple(FORMATS), _read, _recognise)
