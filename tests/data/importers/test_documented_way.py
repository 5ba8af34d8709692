"""What docs/sources.md shows is what the imports of its sample files print."""

import importlib.util
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import foretime
from foretime.cli import output
from foretime.cli.data import data_app

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    spec = importlib.util.spec_from_file_location("make_samples", DOCS / "make_samples.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.write_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "import icews icews --out icews-graph",
        "import gdelt gdelt --out gdelt-graph --date report",
    ],
)
def test_the_page_shows_what_an_import_prints(samples: Path, monkeypatch: pytest.MonkeyPatch, command: str):
    monkeypatch.setattr(output, "console", Console(highlight=False, width=80))
    printed = CliRunner().invoke(data_app, command.split()).stdout.splitlines()
    page = (DOCS / "sources.md").read_text(encoding="utf-8")
    _, _, after = page.partition(f"$ foretime data {command}\n")
    assert after, f"no example of `foretime data {command}`"
    shown = after.partition("\n```")[0].partition("\n$ ")[0].splitlines()
    assert [line.rstrip() for line in shown] == [line.rstrip() for line in printed]


def test_the_example_in_python_gives_what_the_page_says(samples: Path):
    report = foretime.import_gdelt(["gdelt"], "gdelt-graph", date="report")
    dropped = {each.reason: each.rows for each in report.dropped}
    said = f"{report.read} {report.kept} {report.merged} {dropped}"
    assert f"\n{said}\n" in (DOCS / "sources.md").read_text(encoding="utf-8")
    graph = foretime.load("gdelt-graph", split="time")
    assert len(graph.facts()) == report.facts == 1000
