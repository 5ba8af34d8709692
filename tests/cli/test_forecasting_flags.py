"""The flags of evidence, of forecasting and of the second stage."""

import json
from pathlib import Path

import pytest

from foretime.runs.folder import RunFolder

SMALL = ("--model", "rules", "--epochs", 2, "--set", "training.threads=1", "--set", "data.split=time")


def config_of(path: Path):
    return RunFolder.open(path).config()


def test_past_only_forecasts_from_training_to_reasons(foretime, events: Path, tmp_path: Path):
    run = tmp_path / "run"
    trained = foretime("train", events, "--out", run, "--past-only", *SMALL)
    assert trained.code == 0, trained.err
    evidence = config_of(run).evidence
    assert (evidence.use, evidence.past_only) == (True, True)
    ask = ("-s", "land 1", "-p", "visits", "-t", "2021-03-20")
    predicted = foretime("predict", run, *ask, "--json", "--why", 1)
    assert predicted.code == 0, predicted.err
    best = json.loads(predicted.out)[0]
    explained = foretime("explain", run, *ask, "--json")
    assert explained.code == 0, explained.err
    assert json.loads(explained.out)["answer"] == best["name"]
    questions, answers = tmp_path / "questions.tsv", tmp_path / "answers.tsv"
    questions.write_text("subject\tpredicate\tobject\ttime\nland 1\tvisits\t?\t2021-03-20\n", encoding="utf-8")
    assert foretime("predict", run, "--questions", questions, "--out", answers, "--top", 1).code == 0
    assert best["name"] in answers.read_text(encoding="utf-8")


def test_without_past_only_a_later_day_is_refused_with_the_remedy(foretime, events: Path, quick, tmp_path: Path):
    run = tmp_path / "run"
    assert foretime("train", events, "--out", run, "--evidence", "--model", "complex", *quick).code == 0
    evidence = config_of(run).evidence
    assert (evidence.use, evidence.past_only) == (True, False)
    for command in ("predict", "explain"):
        asked = foretime(command, run, "-s", "land 1", "-p", "visits", "-t", "2021-03-20")
        assert asked.code == 2
        assert "--past-only" in asked.err


@pytest.mark.parametrize("flag", ["evidence", "reranker"])
def test_a_flag_wins_over_the_configuration(foretime, events: Path, quick, tmp_path: Path, flag: str):
    file, run = tmp_path / "config.toml", tmp_path / "run"
    file.write_text(f"[{flag}]\nuse = true\n", encoding="utf-8")
    assert foretime("train", events, "-c", file, "-o", run, f"--no-{flag}", "--model", "complex", *quick).code == 0
    config = config_of(run)
    assert not config.evidence.use
    assert not config.reranker.use


def test_reranker_adds_the_second_stage(foretime, events: Path, quick, tmp_path: Path):
    run = tmp_path / "run"
    flags = ("--reranker", "--set", "reranker.trees=3", "--model", "complex")
    trained = foretime("train", events, "--out", run, *flags, *quick)
    assert trained.code == 0, trained.err
    assert config_of(run).reranker.use


def test_past_only_without_evidence_is_an_error(foretime, events: Path, tmp_path: Path):
    refused = foretime("train", events, "--out", tmp_path / "run", "--past-only", "--no-evidence")
    assert refused.code == 2
    assert "leave out --no-evidence" in refused.err
    assert not (tmp_path / "run").exists()


def test_the_help_names_every_model_and_the_new_flags(foretime):
    printed = foretime("train", "--help").out
    for word in ("rules", "--past-only", "--evidence", "--no-evidence", "--reranker"):
        assert word in printed


def test_a_run_is_evaluated_under_both_protocols_and_its_rankings_are_written(foretime, events: Path, tmp_path: Path):
    run, rankings = tmp_path / "run", tmp_path / "rankings.txt"
    splits = ("--set", 'evidence.splits=["train", "valid", "test"]')
    trained = foretime("train", events, "--out", run, "--past-only", *splits, *SMALL)
    assert trained.code == 0, trained.err
    assert "single-step: a question sees every event before its time" in trained.out
    far = foretime("evaluate", run, "--protocol", "multi-step", "--rankings", rankings, "--json")
    assert far.code == 0, far.err
    found = json.loads(far.out)
    assert found["protocol"] == "multi-step"
    assert sum(one["questions"] for one in found["horizons"].values()) == found["all"]["questions"]
    assert len(rankings.read_text(encoding="utf-8").splitlines()) == 2 * found["all"]["questions"]
    refused = foretime("evaluate", run, "--protocol", "completion")
    assert refused.code == 2
    assert "without --past-only" in refused.err


def test_a_file_is_cut_at_given_times(foretime, events: Path, tmp_path: Path):
    made = foretime(
        "data", "split", events, tmp_path / "out", "--valid-from", "2021-01-20", "--test-from", "2021-02-01"
    )
    assert made.code == 0, made.err
    wrong = foretime("data", "split", events, tmp_path / "other", "--valid-from", "2031-01-20")
    assert wrong.code == 2
    assert "no fact is left for valid" in wrong.err
