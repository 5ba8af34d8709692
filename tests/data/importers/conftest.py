from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet
import pytest

import foretime
from foretime import ImportReport


class Imported(NamedTuple):
    """What an import has written, read by the plainest means."""

    report: ImportReport
    folder: Path

    @property
    def facts(self) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in pyarrow.parquet.read_table(self.folder / "events.parquet").to_pylist()]

    @property
    def times(self) -> list[str]:
        return [fact[3] for fact in self.facts]

    @property
    def entities(self) -> dict[str, dict[str, str]]:
        header, *lines = (self.folder / "entities.tsv").read_text(encoding="utf-8").splitlines()
        names = header.split("\t")
        rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines]
        return {row.pop("name"): row for row in rows}

    @property
    def dropped(self) -> dict[str, int]:
        return {each.reason: each.rows for each in self.report.dropped}

    @property
    def dropped_rows(self) -> list[list[str]]:
        lines = (self.folder / "dropped.tsv").read_text(encoding="utf-8").splitlines()
        return [line.split("\t", 3) for line in lines[1:]]


Import = Callable[..., Imported]


@pytest.fixture
def imported(write: Callable[[str, str | bytes], Path], tmp_path: Path) -> Import:
    """Import one file of a source, check that every row is accounted for, and return what was written."""

    def run(source: str | None, name: str, content: str | bytes, **options: Any) -> Imported:
        report = foretime.import_events(source, write(name, content), tmp_path / "graph", **options)
        result = Imported(report, tmp_path / "graph")
        assert report.read == report.kept + report.merged + sum(result.dropped.values()), "rows are lost"
        assert len(result.dropped_rows) == sum(result.dropped.values()), "dropped.tsv has other rows than the report"
        return result

    return run
