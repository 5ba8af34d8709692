"""What SECURITY.md claims: the formats of a run, the limits of the service, and what a run names is not read."""

import re
from pathlib import Path

import pytest

import foretime as ft
from foretime.config import Config
from foretime.runs.folder import RunFolder
from foretime.service import settings
from foretime.service.server import SHORTEST_TOKEN
from foretime.service.settings import Settings

PAGE = (Path(__file__).parents[1] / "SECURITY.md").read_text(encoding="utf-8")
FORMATS = {
    ".toml": "TOML",
    ".json": "JSON",
    ".jsonl": "JSON Lines",
    ".parquet": "Parquet",
    ".safetensors": "safetensors",
    ".txt": "text",
}
QUESTION = {"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}


def test_every_file_of_a_run_has_a_format_that_the_page_names(evidence_run: Path, small_run: Path):
    for run in (evidence_run, small_run):
        found = {path.suffix for path in run.rglob("*") if path.is_file() and not path.name.startswith(".")}
        assert found
        assert found <= set(FORMATS), found
    assert [name for name in FORMATS.values() if name not in PAGE] == []


def test_the_limits_are_those_of_the_service():
    chosen = Settings()
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE))
    assert rows["connections of one address"].startswith(f"{chosen.connections} ")
    assert rows["connections of all"] == str(settings.MOST_CONNECTIONS)
    sizes = [settings.HEAD_BYTES, settings.URL_BYTES, settings.BODY_BYTES]
    assert rows["head, URL, body of a request"] == ", ".join(f"{size // 1024} KiB" for size in sizes)
    assert settings.HEAD_SECONDS == settings.BODY_SECONDS == 10
    assert rows["time for the head, and for the body"] == "10 seconds each"
    assert (
        rows["time without a next request, and without reading an answer"] == f"{settings.KEEP_ALIVE_SECONDS} seconds"
    )
    assert rows["requests under way"] == str(settings.REQUESTS_AT_ONCE)
    assert rows["questions that wait"].startswith(f"{chosen.queue} ")
    assert rows["time until a question is answered or given up"].startswith(f"{chosen.deadline:g} seconds")
    assert f"{chosen.load_seconds:g} seconds and {chosen.load_memory:g} GiB" in PAGE
    assert f"at least {SHORTEST_TOKEN} characters" in PAGE


def test_a_run_that_names_a_database_elsewhere_is_opened_and_asked_without_it(
    small_run: Path, monkeypatch: pytest.MonkeyPatch
):
    before = ft.open_run(small_run).predict(**QUESTION, top=1)[0].name
    own = RunFolder.config

    def elsewhere(folder: RunFolder) -> Config:
        config = own(folder)
        data = config.data.model_copy(update={"path": "postgresql://nobody@127.0.0.1:1/nothing"})
        return config.model_copy(update={"data": data})

    monkeypatch.setattr(RunFolder, "config", elsewhere)
    run = ft.open_run(small_run)
    assert run.config.data.path.startswith("postgresql:")
    assert run.predict(**QUESTION, top=1)[0].name == before
