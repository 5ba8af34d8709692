"""Every source is reachable by its name: on the command line, in Python and in the documents."""

import json
from pathlib import Path

import pytest
from samples import gdelt, tabbed
from typer.testing import CliRunner

import foretime
from foretime.cli.data import data_app
from foretime.cli.importing import OPTIONS, SOURCES

ROOT = Path(__file__).parents[3]
FIELDS = {name: set(source.options.model_fields) for name, source in foretime.IMPORTERS.items()}


def test_the_command_line_knows_every_source():
    assert set(foretime.IMPORTERS) <= set(SOURCES)


def test_every_option_is_a_flag_and_every_flag_an_option():
    assert set().union(*FIELDS.values()) == set(OPTIONS.flags)


@pytest.mark.parametrize("source", foretime.IMPORTERS)
def test_every_source_has_a_function_and_its_options_are_documented(source: str):
    assert foretime.__dict__.get(f"import_{source}") or getattr(foretime, f"import_{source}")
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    assert f"foretime data import {source}" in page
    for name, field in foretime.IMPORTERS[source].options.model_fields.items():
        assert field.description, f"{source}.{name} has no docstring"
        assert f"`{name}`" in page, f"{name} is not in docs/sources.md"


def test_the_command_imports_says_what_it_recognised_and_gives_json(tmp_path: Path):
    path = tmp_path / "a.CSV"
    path.write_text(tabbed(gdelt(), gdelt(Actor1Name="")))
    out = tmp_path / "graph"
    result = CliRunner().invoke(data_app, ["import", str(path), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "recognised as GDELT events (gdelt)" in result.stderr
    assert f"{out}: 1 fact, 2 entities, 1 predicate" in result.stdout.replace("\n", "")
    flags = ["--predicate", "code", "--all-events", "--json"]
    result = CliRunner().invoke(data_app, ["import", "gdelt", str(path), "--out", str(out), *flags])
    report = json.loads(result.stdout)
    assert (report["options"]["predicate"], report["options"]["root_only"]) == ("code", False)
    assert report["dropped"][0]["rows"] == 1


def test_a_folder_may_be_called_like_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("gdelt").mkdir()
    Path("gdelt/a.CSV").write_text(tabbed(gdelt()))
    for words in (["gdelt"], ["gdelt", "gdelt"]):
        result = CliRunner().invoke(data_app, ["import", *words, "--out", "graph", "--json"])
        assert json.loads(result.stdout)["facts"] == 1, words


def test_a_misspelt_source_is_no_file_that_is_missing(tmp_path: Path):
    (tmp_path / "a.CSV").write_text(tabbed(gdelt()))
    words = ["import", "icewz", str(tmp_path / "a.CSV"), "--out", str(tmp_path / "graph")]
    result = CliRunner().invoke(data_app, words)
    assert "unknown source 'icewz'; did you mean 'icews'?" in str(result.exception)


def test_a_flag_of_another_source_is_refused(tmp_path: Path):
    path = tmp_path / "a.CSV"
    path.write_text(tabbed(gdelt()))
    result = CliRunner().invoke(
        data_app, ["import", "gdelt", str(path), "--out", str(tmp_path / "g"), "--direction", "both"]
    )
    assert "import gdelt: unknown key direction" in str(result.exception)
