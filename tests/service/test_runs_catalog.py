"""Runs that fail, change and vanish: what is kept, what is tried again, and what is reported meanwhile."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from live_service import Live, wait_for

from altered_runs import unfinished
from foretime.service import catalog, folders
from foretime.service.app import Service
from foretime.service.problems import Problem
from foretime.service.runs import list_runs
from foretime.service.served import ServedRun
from foretime.service.settings import Settings

QUESTION = {"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}


@pytest.fixture
def served(runs_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(runs_folder / "small", tmp_path / "runs" / "small")
    return tmp_path / "runs"


@pytest.fixture
def watching(live_with, served: Path) -> Live:
    """A service that looks at its folder all the time."""
    return live_with([served], look_again=0.05)


def looks(live: Live) -> None:
    """Wait until the folder has been looked at twice more."""
    catalog, count = live.service.catalog, [0]
    look = catalog.look

    async def counted() -> None:
        await look()
        count[0] += 1

    catalog.look = counted  # type: ignore[method-assign]
    wait_for(lambda: count[0] >= 2)
    catalog.look = look  # type: ignore[method-assign]


def names(live: Live) -> tuple[list[str], list[str]]:
    found = live.found("/runs")
    return [run["name"] for run in found["runs"]], [problem["run"] for problem in found["problems"]]


def test_before_the_first_look_nobody_hears_that_there_are_no_runs(served: Path):
    service = Service([served], Settings())
    with pytest.raises(Problem) as refused:
        list_runs(service.catalog)
    assert (refused.value.status, refused.value.code, refused.value.headers) == (503, "not_ready", {"Retry-After": "1"})


def test_a_run_that_could_not_be_loaded_is_tried_again(watching: Live, served: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(catalog, "FIRST_RETRY", 0.1)
    failures: list[str] = []

    def fail_twice(name: str, path: Path, device: str | None) -> ServedRun:
        if len(failures) < 2:
            failures.append(name)
            raise MemoryError
        return ServedRun(name, path, device)

    monkeypatch.setattr(catalog, "ServedRun", fail_twice)
    shutil.copytree(served / "small", served / "other")
    wait_for(lambda: "other" in watching.service.catalog.runs)
    assert failures == ["other", "other"]
    assert names(watching) == (["other", "small"], [])


def test_tries_are_further_and_further_apart():
    tried = catalog._Tried(Path("run"), ())
    waited = []
    for _ in range(9):
        tried.wait()
        waited.append(tried.seconds)
    assert waited == [5, 10, 20, 40, 80, 160, 320, 600, 600]


def test_a_file_that_comes_late_loads_the_run_at_once(watching: Live, served: Path):
    shutil.copytree(served / "small", served / "copied", ignore=lambda *_: ["graph.json"])
    wait_for(lambda: "copied" in watching.service.catalog.problems)
    assert names(watching) == (["small"], ["copied"])
    shutil.copy(served / "small" / "graph.json", served / "copied" / "graph.json")
    wait_for(lambda: "copied" in watching.service.catalog.runs)
    assert names(watching) == (["copied", "small"], [])


def test_a_run_that_cannot_be_loaded_again_is_served_as_it_was(watching: Live, served: Path):
    before = watching.found("/runs/small")["loaded"]
    (served / "small" / "report.json").write_text("{")
    wait_for(lambda: watching.service.catalog._tried["small"].seconds > 0)
    assert names(watching) == (["small"], [])
    assert watching.found("/runs/small")["loaded"] == before
    assert watching.get("/runs/small/complete", **QUESTION).status_code == 200


def test_a_report_that_cannot_be_read_is_a_run_that_is_not_loaded(watching: Live, served: Path):
    shutil.copytree(served / "small", served / "odd")
    report = (served / "odd" / "report.json").read_text()
    (served / "odd" / "report.json").write_text(report.replace('"valid": {', '"valid": [], "not valid": {'))
    wait_for(lambda: "odd" in watching.service.catalog.problems or "odd" in watching.service.catalog.runs)
    looks(watching)
    assert names(watching) == (["small"], ["odd"])


def test_a_folder_that_cannot_be_listed_for_a_moment_loses_no_run(
    watching: Live, served: Path, monkeypatch: pytest.MonkeyPatch
):
    listing = Path.iterdir

    def fail(path: Path) -> object:
        if path == served:
            raise OSError(5, "Input/output error")
        return listing(path)

    before = watching.service.catalog["small"]
    with monkeypatch.context() as broken:
        broken.setattr(Path, "iterdir", fail)
        shutil.rmtree(served / "small")
        looks(watching)
        assert watching.service.catalog["small"] is before
    looks(watching)
    assert names(watching) == ([], [])


def test_a_run_that_cannot_be_read_does_not_hide_those_beside_it(
    watching: Live, served: Path, monkeypatch: pytest.MonkeyPatch
):
    stamp = folders._stamp

    def fail(path: Path, finished: bool) -> object:
        if path.name == "small":
            raise PermissionError(13, "Permission denied")
        return stamp(path, finished)

    monkeypatch.setattr(folders, "_stamp", fail)
    shutil.copytree(served / "small", served / "other")
    wait_for(lambda: "other" in watching.service.catalog.runs)
    looks(watching)
    assert names(watching) == (["other", "small"], [])


def test_a_run_without_a_report_says_that_nothing_is_calibrated(live_with, served: Path):
    assert live_with([served]).found("/runs/small/complete", **QUESTION)["note"] is None
    unfinished(served / "small")
    live = live_with([served / "small"])
    assert "not calibrated" in live.found("/runs/small/complete", **QUESTION)["note"]


def test_weights_of_a_member_belong_to_what_a_run_is(small_run: Path, tmp_path: Path):
    run = tmp_path / "mean"
    shutil.copytree(small_run, run)
    (run / "member-1").mkdir()
    before = folders.find_runs([run]).runs["mean"]
    (run / "member-1" / "last.safetensors").write_bytes(b"of its first epoch")
    after = folders.find_runs([run]).runs["mean"]
    assert before != after
    assert folders.find_runs([run]).runs["mean"] == after


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such names")
def test_a_folder_whose_name_is_not_utf8_hides_no_other(live_with, served: Path):
    shutil.copytree(served / "small", served / os.fsdecode(b"odd\xff"))
    live = live_with([served])
    assert names(live) == (["small"], ["odd?"]), "weights cannot be read from such a place"
    assert "cannot be loaded" in live.get("/runs/odd%3F").json()["error"]["message"]


def test_a_run_is_still_the_same_after_an_update_and_not_after_a_change(small_run: Path, tmp_path: Path):
    run = tmp_path / "run"
    shutil.copytree(small_run, run)
    stamp = folders.find_runs([run]).runs["run"][run]
    assert folders.is_still(run, stamp)
    (run / "updates").mkdir(exist_ok=True)
    (run / "updates" / "000001.jsonl").write_text("{}\n")
    assert folders.is_still(run, stamp)
    os.utime(run / "config.toml", ns=(0, 0))
    assert not folders.is_still(run, stamp)
    shutil.rmtree(run)
    assert not folders.is_still(run, stamp)
