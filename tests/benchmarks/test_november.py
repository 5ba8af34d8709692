"""The walk through November: its files, its keys, its days, and its page."""

import csv
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from benchmarks.november import Said, keys_of, write_files

import foretime as ft
from benchmarks import november
from foretime.config import Config, DataConfig, override
from foretime.data.graph import read_graph
from foretime.data.synthetic import generate_world
from foretime.inference.agenda.history import Triples
from foretime.runs.life import train

SETTINGS = {
    "model.name": "rules", "evidence.use": True, "evidence.past_only": True, "rules.support": 2,
    "evidence.splits": ["train", "valid"], "training.epochs": 1, "training.batch_size": 200,
}  # fmt: skip


def test_every_event_is_in_one_file_by_its_day(tmp_path: Path):
    data = tmp_path / "icews14"
    data.mkdir()
    rows = {
        "train": [("A", "Visit, host", "B", "2014-11-02"), ("A", "Meet", "B", "2014-10-31")],
        "valid": [("C", "Meet", 'B "the other"', "2014-11-30")],
        "test": [("B", "Meet", "A", "2014-01-05"), ("B", "Meet", "A", "2014-12-01")],
    }
    for split, events in rows.items():
        (data / f"{split}.txt").write_text("".join("\t".join(row) + "\n" for row in events), encoding="utf-8")
    days = write_files(data, tmp_path / "walk")
    assert (tmp_path / "walk" / "until-october.tsv").read_text(encoding="utf-8").splitlines() == [
        "B\tMeet\tA\t2014-01-05",
        "A\tMeet\tB\t2014-10-31",
    ]
    assert [days[0].name, days[-1].name, len(days)] == ["2014-11-01", "2014-11-30", 30]
    found = [row for day in days for row in list(csv.reader(day.file.open(encoding="utf-8", newline="")))[1:]]
    assert found == [["A", "Visit, host", "B", "2014-11-02"], ["C", "Meet", 'B "the other"', "2014-11-30"]]


def test_keys_of_events_differ_and_events_come_by_falling_score():
    triples = Triples(np.array([0, 1, 0, 2]), np.array([0, 0, 1, 0]), np.array([1, 0, 0, 5]))
    assert len(set(keys_of(triples).tolist())) == 4
    said = Said.of(triples, np.array([0.1, 0.9, 0.5, 0.9]), np.array([0.1, 0.9, 0.5, 0.9]))
    assert said.keys.tolist() == keys_of(triples)[[1, 3, 2, 0]].tolist()
    assert said.probability.tolist() == [0.9, 0.9, 0.5, 0.1]


def test_the_updated_run_knows_the_day_before_and_the_other_one_does_not(
    small_config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Three days after the data of a small world: an event that is let in on the first is expected on the second."""
    graph = read_graph(generate_world(1500).write(tmp_path / "world"), DataConfig(split="time", test_share=0.0))
    trained = train(graph, override(small_config, SETTINGS), tmp_path / "run").path
    ft.open_run(trained).forecast(steps=1, top=1)
    copytree(trained, tmp_path / "living")
    subject, predicate, other = (names.name(0) for names in (graph.entities, graph.predicates, graph.entities))
    monkeypatch.setattr(november, "SUBJECT", subject)
    monkeypatch.setattr(november, "QUESTION", predicate)
    days = []
    for step in range(3):
        name = graph.timeline.label(len(graph.timeline) + step)
        day = november.Day(name, tmp_path / f"{name}.csv")
        rows = [(subject, predicate, other, name), (f"stranger {step}", predicate, other, name)]
        with day.file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([november.HEADER, *rows])
        days.append(day)
    found = november.walk(trained, tmp_path / "living", days)
    assert [(day["events"], day["new_entities"], day["by"]) for day in found["days"]] == [(2, 1, "python")] * 3
    assert [day["new"] for day in found["days"]] == [2, 1, 1], "the first event is new on the first day alone"
    second = found["days"][1]["precision"][subject]
    assert second["recency"]["@10"] == 0.1
    assert second["updated"]["@10"] >= second["not updated"]["@10"]
    assert len(ft.open_run(trained).updates) == 0
    assert len(ft.open_run(tmp_path / "living").updates) == 3
    assert found["reliability"]["updated, whole graph"]["events"] > 0
