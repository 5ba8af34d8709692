"""`foretime update`, and `--as-of` where questions are asked."""

import json
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def run(evidence_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(evidence_run, tmp_path / "run"))


@pytest.fixture
def asked(run: Path) -> dict[str, str]:
    from foretime.data.graph import Graph

    graph = Graph.load(run)
    subject, predicate, object_, time = next(iter(graph.rows("test")))
    return {"subject": subject, "predicate": predicate, "object": object_, "time": time}


def test_new_events_are_added_listed_known_and_taken_back(foretime, run: Path, tmp_path: Path, asked):
    file = tmp_path / "new.csv"
    row = f"{asked['subject']},{asked['predicate']},Atlantis,2030-01-05"
    file.write_text(f"subject,predicate,object,time,seen\n{row},2030-01-07\n")
    done = foretime("update", run, file, "--known-column", "seen")
    assert (done.code, done.out) == (
        0,
        "update 1: 1 new events, 0 already there, 1 new entities, 0 new predicates; the timeline ends 2030-01-05\n",
    )
    assert foretime("update", run, file).out == "nothing new: all 1 events are there already\n"
    listed = json.loads(foretime("update", run, "--list", "--json").out)
    assert [(one["number"], one["events"], one["source"]) for one in listed] == [(1, 1, "new.csv")]
    question = ("-s", asked["subject"], "-p", asked["predicate"], "-t", "2030-01-05")
    found = foretime("predict", run, *question, "--json", "-n", 500)
    assert "1 event was added by 1 update, until 2030-01-05" in found.err
    known = {one["name"]: one["already_known"] for one in json.loads(found.out)}
    assert known["Atlantis"] == "update"
    for day, by, there in (
        ("2030-01-06", "happened", True),
        ("2030-01-06", "known", False),
        ("2030-01-08", "known", True),
    ):
        found = foretime("predict", run, *question, "--json", "-n", 500, "--as-of", day, "--by", by)
        known = {one["name"]: one["already_known"] for one in json.loads(found.out)}
        assert known.get("Atlantis") == ("update" if there else None), (day, by)  # a name from later is no candidate
        assert f"as of {day}: " in found.err
    why = foretime("explain", run, *question, "-o", "Atlantis")
    assert "no embedding for Atlantis" in why.out
    assert "taken back: 1 events" in foretime("update", run, "--undo").out
    assert foretime("update", run, "--undo").out == f"{run} has no update to take back\n"
    assert foretime("update", run, "--list").out == ""


def test_a_new_name_that_is_nearly_an_old_one_is_a_warning(foretime, run: Path, tmp_path: Path, asked):
    file = tmp_path / "new.tsv"
    file.write_text(f"{asked['subject'].upper()}\t{asked['predicate']}\tAtlantis\t2030-01-05\n", encoding="utf-8")
    done = foretime("update", run, file)
    assert done.code == 0
    assert "2 new entities" in done.out, "another spelling is another name"
    assert f"warning: the new name {asked['subject'].upper()!r} is nearly {asked['subject']!r}" in done.err
    assert "Atlantis" not in done.err


def test_flags_that_do_not_go_together_are_refused(foretime, run: Path, asked):
    for words in ((), ("--undo", "--list")):
        assert "one of these" in foretime("update", run, *words).err
    question = ("-s", asked["subject"], "-p", asked["predicate"], "-t", asked["time"])
    assert "give one of them" in foretime("predict", run, *question, "--as-of", "2024-01-01", "--past-only").err
    assert "give --as-of DAY too" in foretime("explain", run, *question, "--by", "known").err
    assert "is not a time" in foretime("predict", run, *question, "--as-of", "soon").err


def test_bad_rows_are_skipped_said_and_written_if_that_is_asked_for(
    foretime, run: Path, tmp_path: Path, asked, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "new.tsv"
    row = f"{asked['subject']}\t{asked['predicate']}\tAtlantis"
    file.write_text(f"{row}\t2030-01-05\n{row}\tsoon\n", encoding="utf-8")
    stopped = foretime("update", run, file)
    assert (stopped.code, "leave it out with --bad-rows skip" in stopped.err) == (2, True)
    done = foretime("update", run, file, "--bad-rows", "skip")
    assert (done.code, done.out[:26]) == (0, "update 1: 1 new events, 0 ")
    assert "1 bad row was skipped, 1 good one read; they are in update.bad_rows.jsonl" in done.err
    assert "warning: " in done.err
    assert "new.tsv:2: the time 'soon' is not a time" in done.err
    assert json.loads((tmp_path / "update.bad_rows.jsonl").read_text())["row"] == f"{row}\tsoon"
