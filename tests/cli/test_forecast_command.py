"""`foretime forecast`: flags, tables, files and errors."""

import csv
import json
from pathlib import Path

SMALL = ("--model", "rules", "--epochs", 2, "--set", "training.threads=1", "--set", "data.split=time")


def test_what_comes_next_as_a_table_as_json_and_as_a_file(foretime, events: Path, tmp_path: Path):
    run, file = tmp_path / "run", tmp_path / "next.csv"
    trained = foretime("train", events, "--out", run, "--past-only", *SMALL)
    assert trained.code == 0, trained.err
    shown = foretime("forecast", run, "--days", 3, "--top", 2, "--why", 1)
    assert shown.code == 0, shown.err
    assert "most likely" in shown.out
    asked = ("forecast", run, "--subject", "land 1", "--steps", 3, "--top", 2)
    found = json.loads(foretime(*asked, "--json", "--why", 1).out)
    assert found["steps"] == 3
    assert {event["subject"] for event in found["events"]} == {"land 1"}
    for event in found["events"]:  # the reasons are those of the object, whatever the probability of the event is
        given = f'If land 1 has "{event["predicate"]}" with anyone then, {event["object"]}: '
        assert event["sentences"][0].startswith(given)
        assert event["sentences"][0].removeprefix(given)[0].islower()
    assert foretime(*asked, "--csv", file).code == 0
    with file.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["probability"]) for row in rows] == [event["probability"] for event in found["events"]]
    both = foretime("forecast", run, "--days", 3, "--steps", 3)
    assert both.code == 2
    assert "give one of them" in both.err


def test_a_run_that_sees_the_future_is_refused(foretime, events: Path, quick, tmp_path: Path):
    run = tmp_path / "run"
    assert foretime("train", events, "--out", run, "--evidence", "--model", "complex", *quick).code == 0
    refused = foretime("forecast", run)
    assert refused.code == 2
    assert "foretime train GRAPH --forecast" in refused.err
