"""An import from its files to its folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from foretime.config import Section
from foretime.data.importers.base import EventSource, ImportBatch
from foretime.data.importers.collecting import AttributeCounts, Collector, FactTable
from foretime.data.importers.inputs import Inputs, Progress
from foretime.data.importers.report import DroppedRows, ImportReport
from foretime.data.importers.writing import (
    DROPPED,
    ENTITIES,
    REPORT,
    DroppedFile,
    new_folder,
    write_entities,
    write_facts,
)
from foretime.errors import DataError
from foretime.files import write_json
from foretime.tables import plural

_NAMED = 3  # files that a message names


class ImportTotals:
    """What an import has met so far: facts by table, attributes, and counts."""

    def __init__(self, merge: bool) -> None:
        self.merge = merge
        self.tables: dict[str, Collector] = {}
        self.attributes = AttributeCounts()
        self.files: dict[str, int] = {}
        self.notes: dict[str, int] = {}
        self.set_aside: dict[str, int] = {}

    def add(self, batch: ImportBatch) -> None:
        """Take a batch."""
        self.files[batch.file] = self.files.get(batch.file, 0) + batch.read
        self.tables.setdefault(batch.table, Collector(self.merge)).add(batch)
        self.attributes.add(batch.attributes)
        for counts, more in ((self.notes, batch.notes), (self.set_aside, batch.set_aside)):
            for words, count in more.items():
                counts[words] = counts.get(words, 0) + count

    def facts(self) -> dict[str, FactTable]:
        """Return the facts of every table that has any."""
        settled = {name: collector.facts() for name, collector in self.tables.items()}
        return {name: table for name, table in settled.items() if len(table)}


def run_import(
    source: EventSource, inputs: Inputs, out: Path, options: Section, recognised: bool, progress: Progress | None
) -> ImportReport:
    """Read the files and write the folder; return what became of every row."""
    totals = ImportTotals(bool(getattr(options, "merge", True)))
    totals.files |= {file.label: 0 for file in inputs.files}  # a file that holds nothing is in the report too
    with new_folder(out) as folder:
        with DroppedFile(folder / DROPPED) as dropped:
            files = inputs.files if progress is None else inputs.watched(progress).files
            for batch in source.read(files, options):
                totals.add(batch)
                dropped.add(batch)
        reasons = dropped.reasons()
        tables = totals.facts()
        if not tables:
            raise DataError(_no_facts(source.title, totals, reasons))
        for name, table in tables.items():
            write_facts(table, folder / f"{name}.parquet")
        entities = list(dict.fromkeys(text for table in tables.values() for text in _used(table, "subject", "object")))
        write_entities(entities, totals.attributes, folder / ENTITIES)
        report = ImportReport(
            source=source.name,
            title=source.title,
            recognised=recognised,
            out=str(out),
            options=options.model_dump(mode="json"),
            files=totals.files,
            sizes={file.label: file.size for file in inputs.files},
            skipped=inputs.skipped,
            read=sum(totals.files.values()),
            kept=sum(table.kept for table in totals.tables.values()),
            merged=sum(table.merged for table in totals.tables.values()),
            dropped=reasons,
            set_aside=totals.set_aside,
            notes=totals.notes,
            facts=sum(map(len, tables.values())),
            entities=len(entities),
            predicates=len({text for table in tables.values() for text in _used(table, "predicate")}),
        )
        _check(report)
        write_json(folder / REPORT, report.to_dict())
    return report


def _no_facts(title: str, totals: ImportTotals, dropped: Sequence[DroppedRows]) -> str:
    """Return why an import has given nothing: one line for each reason, with its first place."""
    files = list(totals.files)
    more = f" and {plural(len(files) - _NAMED, 'more file')}" if len(files) > _NAMED else ""
    named = f"{', '.join(files[:_NAMED])}{more}"
    if not any(totals.files.values()):
        return f"{named}: no rows, but perhaps a header; is the download complete?"
    why = [f"{plural(each.rows, 'row')}: {each.reason} ({each.places[0]})" for each in dropped]
    why += [f"{plural(rows, 'row')}: {reason}" for reason, rows in totals.set_aside.items()]
    return "\n  ".join([f"{named}: no row gives a fact of {title}", *why])


def _used(table: FactTable, *roles: str) -> Iterator[str]:
    """Yield the texts of some roles, each once, in the order in which they first came."""
    texts = table.columns[roles[0]][0]
    used = {int(code) for role in roles for code in set(table.columns[role][1].tolist())}
    yield from (texts[code] for code in sorted(used))


def _check(report: ImportReport) -> None:
    """Hold the promise that no row is lost without a word."""
    left = sum(each.rows for each in report.dropped) + sum(report.set_aside.values())
    accounted = report.kept + report.merged + left
    if accounted != report.read:
        raise AssertionError(f"{report.read} rows were read and {accounted} are accounted for")
