"""What docs/sources.md shows of Wikidata is what the import of its sample prints."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from foretime.cli import output
from foretime.cli.data import data_app

DOCS = Path(__file__).parents[3] / "docs"
COMMAND = "import wikidata wikidata-sample.json.gz --property P54 --out players"


def test_the_page_shows_what_the_import_of_the_made_up_dump_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("make_wikidata_sample", DOCS / "make_wikidata_sample.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.write_sample(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output, "console", Console(highlight=False, width=80))
    printed = CliRunner().invoke(data_app, COMMAND.split()).stdout.splitlines()
    _, _, after = (DOCS / "sources.md").read_text(encoding="utf-8").partition(f"$ foretime data {COMMAND}\n")
    shown = after.partition("\n```")[0].partition("\n$ ")[0].splitlines()
    assert [line.rstrip() for line in shown] == [line.rstrip() for line in printed]
