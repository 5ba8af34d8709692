"""Blocks of a page that a benchmark writes: what stands between two comments is replaced, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from foretime.files import write_text

DOCS = Path(__file__).parents[1] / "docs"


def fill(page: Path, blocks: dict[str, Sequence[str]]) -> None:
    """Replace the lines of each named block of a page; a block that is missing there is a `ValueError`."""
    text = page.read_text(encoding="utf-8")
    for name, lines in blocks.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        if begin not in text or end not in text:
            raise ValueError(f"{page} has no block {name!r}; write {begin} and {end} where it is to stand")
        head, rest = text.split(begin)
        text = "\n".join([f"{head}{begin}", "", *lines, "", f"{end}{rest.split(end)[1]}"])
    write_text(page, text)
