"""Importers: events as their publishers give them, turned into a folder that `foretime.load` reads.

A source is a module here and a line in `IMPORTERS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foretime.config import check_section
from foretime.data.importers.acled import ACLED
from foretime.data.importers.base import EventSource
from foretime.data.importers.gdelt import GDELT
from foretime.data.importers.icews import ICEWS
from foretime.data.importers.inputs import Progress, find_inputs
from foretime.data.importers.polecat import POLECAT
from foretime.data.importers.rdf import RDF
from foretime.data.importers.recognising import recognise_path, recognise_source, refuse_other
from foretime.data.importers.renet import RENET
from foretime.data.importers.report import ImportReport
from foretime.data.importers.running import run_import
from foretime.data.importers.tgb import TGB
from foretime.data.importers.wikidata import WIKIDATA
from foretime.errors import ConfigError, DataError, suggestion

SOURCES: tuple[EventSource, ...] = (ICEWS, POLECAT, GDELT, ACLED, WIKIDATA, RDF, RENET, TGB)
IMPORTERS: dict[str, EventSource] = {source.name: source for source in SOURCES}
"""Every source by its name."""

Files = str | Path | Sequence[str | Path]


def import_events(
    source: str | None, files: Files, out: str | Path, *, progress: Progress | None = None, **options: Any
) -> ImportReport:
    """Write the events of files of a source into the folder `out`, and return what became of every row.

    `source` is a name of `IMPORTERS`, or None if it should be seen from the files. `files` are files, folders and
    archives. `options` are those of the source. `progress` is called with a file, the bytes done and the bytes of all
    files. Raises `DataError` for files that cannot be read and `ConfigError` for an unknown source or option.

        report = ft.import_events("gdelt", ["20150218230000.export.CSV.zip"], "gdelt-graph")
        graph = ft.load("gdelt-graph")
    """
    paths = [Path(file) for file in ([files] if isinstance(files, str | Path) else files)]
    if not paths:
        raise ConfigError("no files to import; name files, folders or archives")
    if source is not None and source not in IMPORTERS:
        raise ConfigError(f"unknown source {source!r}{suggestion(source, IMPORTERS) or '; one of ' + _listed()}")
    chosen = recognise_source(paths, SOURCES) if source is None else IMPORTERS[source]
    checked = check_section(chosen.options, options, f"import {chosen.name}: ")
    inputs = find_inputs(paths, chosen.suffixes)
    if source is not None:
        refuse_other(chosen, inputs.files, SOURCES)
    return run_import(chosen, inputs, Path(out), checked, source is None, progress)


def refuse_foreign(path: Path) -> None:
    """Raise `DataError` if a file or folder is unmistakably of a source that has to be imported first."""
    source = recognise_path(path, [source for source in SOURCES if source.foreign])
    if source is not None:
        raise DataError(
            f"{path}: these are {source.title}; import them with `foretime data import {source.name} {path} "
            "--out GRAPH` and read GRAPH, or say which column is which with --columns"
        )


def import_icews(files: Files, out: str | Path, **options: Any) -> ImportReport:
    """Import files of ICEWS: `predicate` is `text` or `code`, `unnamed` is `drop` or `country`; `merge`.

    See `import_events`, and docs/sources.md for the options.
    """
    return import_events(ICEWS.name, files, out, **options)


def import_polecat(files: Files, out: str | Path, **options: Any) -> ImportReport:
    """Import files of POLECAT: `predicate` is `type` or `mode`, `date` is `event` or `report`; `unnamed`, `merge`.

    See `import_events`, and docs/sources.md for the options.
    """
    return import_events(POLECAT.name, files, out, **options)


def import_gdelt(files: Files, out: str | Path, **options: Any) -> ImportReport:
    """Import files of GDELT: `predicate` is `text` or `code`, `level` is `full`, `base` or `root`, `root_only`,
    `date` is `event` or `report`; `unnamed`, `merge`.

    See `import_events`, and docs/sources.md for the options.
    """
    return import_events(GDELT.name, files, out, **options)


def import_acled(files: Files, out: str | Path, **options: Any) -> ImportReport:
    """Import files of ACLED: `predicate` is `event` or `sub-event`, `direction` is `one` or `both`, `precise_only`,
    `date_order` is `day-first` or `month-first`, `deleted` names a list of deletions; `unnamed`, `merge`.

    See `import_events`, and docs/sources.md for the options.
    """
    return import_events(ACLED.name, files, out, **options)


def import_wikidata(files: Files, out: str | Path, **options: Any) -> ImportReport:
    """Import a JSON dump of Wikidata, or results of its query service: `property`, `language`, `ranks`, `points`,
    `timeless` is `keep` or `drop`; of results also `columns`, `predicate` and `precision`; `names`, `merge`.

    See `import_events`, and docs/sources.md for the options.
    """
    return import_events(WIKIDATA.name, files, out, **options)


def import_rdf(files: Files, out: str | Path, **options: Any) -> ImportReport:
    """Import N-Triples, N-Quads, Turtle or TriG: `property`, `language`, `start_property`, `end_property`,
    `time_property`, `subject_property`, `object_property`, `graph_time`, `event_time`, `timeless`, `precision`;
    `names`, `merge`.

    See `import_events`, and docs/sources.md for the options. It needs the extra `rdf`.
    """
    return import_events(RDF.name, files, out, **options)


def import_renet(files: Files, out: str | Path, **options: Any) -> ImportReport:
    """Import a folder in RE-Net's layout: `names` is `auto` or `as-is`; `merge`. See `import_events`."""
    return import_events(RENET.name, files, out, **options)


def import_tgb(files: Files, out: str | Path, **options: Any) -> ImportReport:
    """Import edge lists of the Temporal Graph Benchmark; `merge`. See `import_events`."""
    return import_events(TGB.name, files, out, **options)


def _listed() -> str:
    return ", ".join(IMPORTERS)
