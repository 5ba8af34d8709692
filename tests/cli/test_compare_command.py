"""`foretime compare` as a shell would call it."""

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def other_run(small_graph, small_config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from foretime.config import override
    from foretime.runs.life import train

    config = override(small_config, {"model.name": "complex", "training.epochs": 1})
    return train(small_graph, config, tmp_path_factory.mktemp("runs") / "other").path


def test_compare_prints_intervals_predicates_and_questions(foretime, other_run: Path, small_run: Path, tmp_path: Path):
    words = ("compare", other_run, small_run, "--top", 2, "--resamples", 100)
    shown = foretime(*words)
    assert shown.code == 0, shown.err
    for text in ("valid of events, 120 questions, filter exact", "H@10", "subjects", "praises", "winner"):
        assert text in shown.out
    outcome = foretime(*words, "--split", "test", "--json", "--out", tmp_path / "new" / "questions.csv")
    found = json.loads(outcome.out)
    assert f"{found['questions']} questions written to" in outcome.err
    assert len((tmp_path / "new" / "questions.csv").read_text(encoding="utf-8").splitlines()) == found["questions"] + 1
    assert found["split"] == "test"
    assert found["metrics"]["mrr"]["difference"] > 0
    assert len(found["second_wins"]) == 2


def test_compare_refuses_what_cannot_be_compared(foretime, small_run: Path, evidence_run: Path, tmp_path: Path):
    other = foretime("compare", small_run, evidence_run)
    assert (other.code, other.out) == (2, "")
    assert "the runs have different graphs and cannot be compared" in other.err
    ending = foretime("compare", small_run, small_run, "--out", tmp_path / "q.xls")
    assert ending.code == 2
    assert "q.xls: questions are written as .csv; name such a file" in ending.err
    assert "none: no such run folder" in foretime("compare", small_run, tmp_path / "none").err
