"""`foretime data import`: events as their publishers give them, turned into a graph."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

import foretime as ft
from foretime.cli.options import AsJson, FlagGroup, takes
from foretime.cli.output import error_console, note, print_json, say, show

SOURCES = ("icews", "polecat", "gdelt", "acled", "wikidata", "rdf", "renet", "tgb")
"""What the first word may be; a test compares it with the sources that there are."""
_SECONDS = 10.0  # between two lines of progress where there is no terminal


def _choice(choices: str, text: str) -> Any:
    return Annotated[str | None, typer.Option(metavar=choices, help=text, show_default=False)]


OPTIONS = FlagGroup(
    "options",
    {
        "predicate": _choice(
            "WORD",
            "icews, gdelt: text (default) or code; polecat: type (default) or mode; acled: sub-event (default) or "
            "event; wikidata: the property of a query result that has no variable for it.",
        ),
        "level": _choice("full|base|root", "gdelt: the full code of an event (default), its base or its root."),
        "root_only": Annotated[
            bool | None,
            typer.Option("--root-only/--all-events", help="gdelt: root events only (default), or all of them."),
        ],
        "date": _choice(
            "event|report", "gdelt, polecat: the time is the day of the event (default) or that of its report."
        ),
        "unnamed": _choice(
            "drop|code|country",
            "Rows with an actor without a name are dropped (default), or a stand-in is taken: gdelt: code; "
            "icews, polecat, acled: country.",
        ),
        "direction": _choice(
            "one|both", "acled: a fact from actor1 to actor2 (default), or both ways: they have no direction."
        ),
        "precise_only": Annotated[
            bool | None,
            typer.Option("--precise-only", help="acled: drop rows whose date is precise to the week or month only."),
        ],
        "date_order": _choice("day-first|month-first", "acled: what 04/10/2024 is; such rows are dropped without it."),
        "deleted": _choice("FILE", "acled: a list of events that were deleted since."),
        "property": _choice("NAMES", "wikidata, rdf: only these properties, such as P39,P54."),
        "language": _choice("CODE", "wikidata, rdf: the language of the names; en by default."),
        "timeless": _choice("keep|drop", "wikidata, rdf: statements without a time are facts without one (default)."),
        "precision": _choice("guess|day|year", "wikidata, rdf: what a time without its precision is taken for."),
        "ranks": _choice("NAMES", "wikidata: the ranks that are taken; preferred,normal by default."),
        "points": _choice("NAMES", "wikidata: qualifiers that give a point in time, such as P585,P577,P574."),
        "columns": _choice("ROLES", "wikidata: the variables of a query result, as in subject=person,object=club."),
        "start_property": _choice("NAMES", "rdf: further properties that give the start of a statement."),
        "end_property": _choice("NAMES", "rdf: further properties that give its end."),
        "time_property": _choice("NAMES", "rdf: further properties that give its time."),
        "subject_property": _choice("NAMES", "rdf: further properties from a statement node to its subject."),
        "object_property": _choice("NAMES", "rdf: further properties from a statement node to its object."),
        "graph_time": _choice("auto|name|no", "rdf: whether named graphs date what they state."),
        "event_time": Annotated[
            bool | None,
            typer.Option("--event-time/--no-event-time", help="rdf: facts about an event have its time (default)."),
        ],
        "names": _choice(
            "auto|as-is",
            "wikidata, rdf: labels (default), or ids; renet: auto (default) replaces ids by names in entity2id.txt.",
        ),
        "merge": Annotated[
            bool | None,
            typer.Option(
                "--merge/--no-merge", help="Keep the same fact at one time once (default), or as often as it comes."
            ),
        ],
    },
)
"""The flags of all sources, each with the sources that have it; one that a source does not have is an error."""


@takes(OPTIONS)
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[SOURCE] FILES...",
            help="icews, polecat, gdelt, acled, wikidata, rdf, renet or tgb, and files, folders or archives of it. "
            "Without a source it is seen from the files.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write; foretime reads it as a graph.", show_default=False)],
    as_json: AsJson = False,
    *,
    options: dict[str, Any],
) -> None:
    """Turn event files of a public source into a graph, and account for every row."""
    # a lone word is the path of files: a folder may well be called gdelt
    first = str(files[0])
    source = first if len(files) > 1 and (first in SOURCES or _is_word(files[0])) else None
    with _Progress() as progress:
        report = ft.import_events(source, files[1:] if source else files, out, progress=progress, **options)
    if report.recognised:
        note(f"recognised as {report.title} ({report.source})")
    if as_json:
        print_json(report.to_dict())
        return
    show(report.table())
    if report.skipped:
        many = "1 other file was" if len(report.skipped) == 1 else f"{len(report.skipped):,} other files were"
        say(f"{many} left out, such as {report.skipped[0]}")
    if report.dropped:
        say(f"{out / 'dropped.tsv'}: every row that was dropped")
    say(report.summary)


def _is_word(path: Path) -> bool:
    """Return whether the first of several arguments must be a misspelt source: no file, and nothing like one."""
    return path.parent == Path() and not path.suffix and not path.exists()


class _Progress:
    """Shows the bytes that are done: as a bar in a terminal, as a line now and then elsewhere."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=error_console, transient=True, disable=not error_console.is_terminal)
        self._task = self._bar.add_task("", total=None)
        self._last = time.monotonic()

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, file: str, done: int, total: int) -> None:
        self._bar.update(self._task, description=Path(file).name, completed=done, total=total)
        if not error_console.is_terminal and time.monotonic() - self._last >= _SECONDS:
            self._last = time.monotonic()
            note(f"{file}: {done / max(total, 1):.0%} of all files")
