"""The verbs of the command line on small graphs, as a shell would call them."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from altered_runs import unfinished
from foretime.config import read_config
from foretime.runs.folder import RunFolder


def test_train_takes_flags_and_settings_and_leaves_a_finished_run(foretime, events: Path, tmp_path: Path):
    outcome = foretime(
        "train", events, "--out", tmp_path / "run", "--model", "tntcomplex", "--rank", 3, "--epochs", 2,
        "--batch-size", 50, "--learning-rate", 0.2, "--seed", 7, "--granularity", "week",
        "--set", "training.valid_every=1", "--set", "training.optimizer=adam", "--set", "training.threads=1",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    config, report = RunFolder(tmp_path / "run").config(), RunFolder(tmp_path / "run").report()
    assert (config.model.name, config.model.options["rank"], config.data.path) == ("tntcomplex", 3, str(events))
    training = config.training
    assert (training.epochs, training.batch_size, training.learning_rate, training.seed) == (2, 50, 0.2, 7)
    assert (training.valid_every, training.optimizer, config.data.granularity) == (1, "adam", "week")
    assert f"{report['test']['all']['mrr']:.4f}" in outcome.out
    assert f"foretime predict {tmp_path / 'run'}" in outcome.err
    assert "10 time steps" in outcome.err


def test_a_configuration_is_taken_and_flags_replace_it(foretime, events: Path, tmp_path: Path, quick):
    file = tmp_path / "mine.toml"
    file.write_text(f'[data]\npath = "{events}"\n[model]\nname = "complex"\ninit_scale = 0.2\n[training]\nseed = 5\n')
    outcome = foretime("train", "--config", file, "--out", tmp_path / "run", "--seed", 6, *quick)
    assert outcome.code == 0, outcome.err
    config = read_config(tmp_path / "run" / "config.toml")
    assert (config.model.name, config.model.options, config.training.seed) == (
        "complex",
        {"rank": 4, "init_scale": 0.2},
        6,
    )


def test_runs_are_named_after_data_and_model_where_no_folder_is_given(
    foretime, events: Path, tmp_path: Path, monkeypatch, quick
):
    monkeypatch.chdir(tmp_path)
    for name in ("events-complex", "events-complex-2"):
        outcome = foretime("train", events, "--model", "complex", *quick)
        assert outcome.code == 0, outcome.err
        assert (tmp_path / "runs" / name / "report.json").exists()


def test_no_test_leaves_test_out_until_it_is_wanted(foretime, events: Path, tmp_path: Path, quick):
    run = tmp_path / "run"
    outcome = foretime("train", events, "--out", run, "--no-test", *quick)
    assert outcome.code == 0, outcome.err
    assert "test has not been ranked" in outcome.out
    assert "test" not in RunFolder(run).report()
    again = foretime("train", "--resume", run)
    assert again.code == 0, again.err
    assert "test was ranked once" in again.out
    assert RunFolder(run).report()["test"]["all"]["questions"] > 0


def test_brackets_in_names_are_printed_as_they_are(foretime, events: Path, tmp_path: Path, quick):
    data = tmp_path / "[b]odd[b].tsv"
    data.write_text(events.read_text())
    outcome = foretime("train", data, "--out", tmp_path / "[red]run", *quick)
    assert outcome.code == 0, outcome.err
    assert f"training balanced in {tmp_path}/[red]run" in outcome.err
    assert "lcge on [b]odd[b]: best epoch" in outcome.out


def test_tensorboard_scalars_are_written(foretime, events: Path, tmp_path: Path, quick):
    two = ("--set", "training.ensemble_size=2")
    outcome = foretime("train", events, "--out", tmp_path / "run", "--tensorboard", *quick, *two)
    assert outcome.code == 0, outcome.err
    said = [line for line in outcome.err.splitlines() if line.startswith("member")]
    assert said[:2] == ["member 1 of 2", "member 2 of 2"]
    assert [line.partition("  event_loss")[0] for line in said[2:]] == ["member 2: epoch   1", "member 2: epoch   2"]
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    scalars = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    assert [event.step for event in scalars.Scalars("valid_mrr")] == [1, 2]
    assert "event_loss" in scalars.Tags()["scalars"]


def test_tensorboard_has_the_runs_own_curve_alone_also_after_a_resumption(
    foretime, events: Path, tmp_path: Path, quick
):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = tmp_path / "run"
    assert foretime("train", events, "--out", run, *quick, "--set", "training.ensemble_size=2").code == 0
    for file in (RunFolder(run).report_file, RunFolder(run).member(1).last_file):
        file.unlink()
    assert foretime("train", "--resume", run, "--tensorboard").code == 0
    assert EventAccumulator(str(run / "tensorboard")).Reload().Tags()["scalars"] == []


def test_evaluate_gives_the_figures_of_the_report(foretime, small_run: Path):
    outcome = foretime("evaluate", small_run, "--json")
    assert json.loads(outcome.out) == json.loads(json.dumps(RunFolder(small_run).report()["test"]))
    table = foretime("evaluate", small_run, "--split", "valid", "--predicates", 1)
    assert f"{RunFolder(small_run).report()['valid']['all']['mrr']:.4f}" in table.out
    assert "entities seen in train" in table.out


@pytest.mark.parametrize("name", ["exact", "valid-at", "points"])
def test_evaluate_takes_a_filter(foretime, small_run: Path, name: str):
    report = json.loads(foretime("evaluate", small_run, "--filter", name, "--json").out)
    assert report["filter"] == name
    # for events at single times all filters are the same
    assert report["all"] == RunFolder(small_run).report()["test"]["all"]


def test_predict_answers_as_json_and_as_a_table(foretime, small_run: Path):
    question = ("--subject", "state 1", "--predicate", "praises", "--time", "2020-03-01")
    answers = json.loads(foretime("predict", small_run, *question, "--json", "--top", 3).out)
    assert [answer["rank"] for answer in answers] == [1, 2, 3]
    table = foretime("predict", small_run, *question, "--top", 3)
    assert table.code == 0
    assert "(state 1, praises, ?, 2020-03-01)" in table.out
    assert all(answer["name"] in table.out for answer in answers)


def test_predict_asks_for_every_slot(foretime, small_run: Path):
    slots = {"--subject": "state 1", "--predicate": "praises", "--object": "state 2", "--time": "2020-03-01"}
    for left_out, wanted in {"--subject": "state", "--object": "state", "--predicate": "", "--time": "2020-"}.items():
        words = [word for name, value in slots.items() if name != left_out for word in (name, value)]
        outcome = foretime("predict", small_run, *words, "--json", "-n", 2, "--already-known", "hide")
        assert outcome.code == 0, outcome.err
        answers = json.loads(outcome.out)
        assert len(answers) == 2
        assert all(answer["name"].startswith(wanted) for answer in answers)
        assert all(answer["already_known"] in (None, "test") for answer in answers)


def test_a_model_without_time_says_so_when_it_is_asked_when(foretime, events: Path, tmp_path: Path, quick):
    run = tmp_path / "run"
    assert foretime("train", events, "--out", run, "--model", "complex", *quick).code == 0
    names = ("--subject", "land 1", "--predicate", "visits", "-n", 1)
    when = foretime("predict", run, *names, "--object", "land 2", "--json")
    assert "this model knows no time: all steps are equally likely" in when.err
    assert len(json.loads(when.out)) == 1
    assert foretime("predict", run, *names, "--time", "2021-01-05").err == ""


def test_the_table_of_a_report_fits_80_columns(foretime, small_run: Path):
    printed = foretime("evaluate", small_run, "--predicates", 0).out.splitlines()
    assert "ECE" in printed[1]
    assert max(len(line) for line in printed if line.startswith(("│", "┃"))) <= 80


def test_predict_answers_a_file(foretime, small_run: Path, tmp_path: Path):
    (tmp_path / "q.tsv").write_text("subject\tpredicate\ttime\nstate 1\tpraises\t2020-03-01\n")
    outcome = foretime("predict", small_run, "--questions", tmp_path / "q.tsv", "--out", tmp_path / "a.jsonl", "-n", 2)
    assert outcome.code == 0, outcome.err
    assert "1 questions answered in" in outcome.err
    assert [json.loads(line)["rank"] for line in (tmp_path / "a.jsonl").read_text().splitlines()] == [1, 2]


def test_the_demo_works_from_nothing_and_shows_it_again_without_training(foretime, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = foretime("demo", "demo", "--events", 1000)
    assert first.code == 0, first.err
    run = tmp_path / "demo" / "run"
    for words in (
        "1. a world of 1,000 events",
        "2. LCGE, grounded rules and a re-ranker are trained",
        "3. what it reached",
        "4. a question",
        "try next",
    ):
        assert words in first.err
    stamps = {path: path.stat().st_mtime_ns for path in run.iterdir()}
    again = foretime("demo", "demo")
    assert again.code == 0, again.err
    assert "2. LCGE, grounded rules and a re-ranker are trained" not in again.err
    assert "the run in demo/run is shown again; name another folder for a new one" in again.err
    assert again.out == first.out
    assert {path: path.stat().st_mtime_ns for path in run.iterdir()} == stamps
    assert foretime("demo", "demo", "--events", 1000, "--seed", 0).out == first.out
    for flags in (("--events", 2000), ("--seed", 1)):
        other = foretime("demo", "demo", *flags)
        assert (other.code, other.out) == (2, "")
        assert "demo/run was made with --events 1000 --seed 0; leave the flags out to see it again, or" in other.err


def test_the_commands_that_the_demo_proposes_work(foretime, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    foretime("demo", "demo", "--events", 1000, "--seed", 1)
    proposed = foretime("demo", "demo").err.split("try next:\n")[1].splitlines()
    commands = [shlex.split(line) for line in proposed]
    assert len(commands) >= 5
    for command in commands[:5]:
        outcome = foretime(*command[1:])
        assert outcome.code == 0, (command, outcome.err)


def test_a_reader_that_has_seen_enough_gets_no_traceback(small_run: Path):
    process = subprocess.Popen(
        [sys.executable, "-m", "foretime", "evaluate", str(small_run), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    error = process.stderr.read().decode()
    assert process.wait() in (0, 1)
    assert error == ""


def test_without_valid_facts_no_figure_of_valid_is_printed(foretime, events: Path, tmp_path: Path, quick):
    outcome = foretime("train", events, "--out", tmp_path / "run", *quick, "--set", "data.valid_share=0")
    assert outcome.code == 0, outcome.err
    assert "epoch   2  event_loss" in outcome.err
    assert "valid MRR" not in outcome.err + outcome.out


def test_a_run_that_is_not_finished_says_so_with_its_answers(foretime, small_run: Path, tmp_path: Path):
    run = Path(shutil.copytree(small_run, tmp_path / "run"))
    question = ("--subject", "state 1", "--predicate", "praises", "--time", "2020-03-01", "-n", 1)
    assert "not finished" not in foretime("predict", run, *question).err
    unfinished(run)
    for verb in ("predict", "explain"):
        assert "the run is not finished: these are its weights so far" in foretime(verb, run, *question).err
