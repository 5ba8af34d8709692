"""The table of an audit as Markdown, and its place in a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foretime.errors import DataError
from foretime.evaluation.metrics import METRICS
from foretime.files import write_text

MARKS = "<!-- audit:begin -->", "<!-- audit:end -->"


def audit_table(audit: dict[str, Any]) -> str:
    """Return the audit, as `Audit.to_dict` gives it, as a Markdown table with a sentence before it."""
    lines = [
        f"The {audit['split']} split of {audit['data']} ({audit['questions']:,} questions), the run `{audit['run']}`, "
        f"λ = {audit['commonsense_weight']:g}:",
        "",
        f"| counted | {' | '.join(metric.label for metric in METRICS.values())} | candidates in the first place |",
        "| --- |" + " --- |" * (len(METRICS) + 1),
    ]
    for count in audit["counts"].values():
        lines.append(f"| {count['about']} | {_cells(count)} | {count['firsts']:.1f} |")
    printed = audit["printed"]
    if printed:
        lines.append(f"| printed in the paper | {_cells(printed, 3)} | |")
    return "\n".join(lines)


def _cells(values: dict[str, Any], digits: int | None = None) -> str:
    texts = ((metric, values.get(name)) for name, metric in METRICS.items())
    return " | ".join("" if value is None else f"{value:.{digits or metric.digits}f}" for metric, value in texts)


def put_between_marks(page: Path, audit: dict[str, Any]) -> None:
    """Write the table of an audit into a page, between its two marks."""
    before, after = around_marks(page)
    write_text(page, f"{before}{MARKS[0]}\n\n{audit_table(audit)}\n\n{MARKS[1]}{after}")


def around_marks(page: Path) -> tuple[str, str]:
    """Return what a page has before and after the place of the table; a page without one is a `DataError`."""
    if not page.is_file():
        raise DataError(f"{page}: no such page; name one that has a place for the table")
    try:
        text = page.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{page}: not a page in UTF-8 ({error}); save it as such, or name another one") from None
    if text.count(MARKS[0]) != 1 or text.count(MARKS[1]) != 1 or text.index(MARKS[0]) > text.index(MARKS[1]):
        raise DataError(f"{page}: has no place for the table; write the lines {MARKS[0]} and {MARKS[1]} where it goes")
    return text.split(MARKS[0])[0], text.split(MARKS[1])[1]
