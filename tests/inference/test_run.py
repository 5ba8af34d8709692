"""The public interface: a run trains, resumes, predicts, explains and evaluates; every example of a docstring runs."""

import ast
import doctest
import importlib
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import foretime as ft
from foretime.errors import ConfigError, DataError, QuestionError, RunError

ASKED = {"subject": "state 0", "predicate": "visits", "time": "2020-05-05"}
QUICK = {"model.rank": 4, "training.epochs": 1, "training.batch_size": 200, "training.threads": 1}


@pytest.fixture(scope="module")
def run(small_run: Path) -> ft.Run:
    return ft.open_run(small_run)


MODULES = ("answers", "run", "explanation.explanation")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_are_right(name: str, small_run: Path, tmp_path: Path, monkeypatch):
    module = importlib.import_module(f"foretime.inference.{name}")
    shutil.copytree(small_run, tmp_path / "runs" / "small")
    monkeypatch.chdir(tmp_path)
    run, flags = ft.open_run("runs/small"), doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    names = {"ft": ft, "run": run, "graph": run.graph, "Question": ft.Question, "Path": Path}
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=flags)
    tried = [runner.run(test) for test in finder.find(module, extraglobs=names) if test.examples]
    assert tried
    assert runner.failures == 0


def test_a_run_says_what_it_is_and_how_good(run: ft.Run):
    mrr = run.report["test"]["all"]["mrr"]
    assert repr(run) == (
        f"Run {run.path}: lcge on events, valid MRR {run.report['valid']['all']['mrr']:.4f}, test MRR {mrr:.4f}"
    )
    assert [(row["split"], row["model"]) for row in run.metrics] == [("valid", None), ("test", None)]
    assert list(run.metrics)[1]["mrr"] == mrr
    assert [row["epoch"] for row in run.history] == [1, 2, 3, 4, 5, 6]
    assert "<table>" in run._repr_html_()
    assert "lcge on events" in run._repr_html_()
    assert (run.config.model.rank, run.rules) == (8, None)
    assert run.graph is run.graph is run.predictor.graph


def test_answers_are_a_sequence_and_a_table(run: ft.Run):
    answers = run.predict(**ASKED, top=5)
    assert (answers.target, answers.question) == ("object", ft.Question(**ASKED))
    assert len(answers) == 5
    assert isinstance(answers[1], ft.Answer)
    assert [answer.rank for answer in answers[1:3]] == [2, 3]
    assert answers[:5] == answers == run.predict_many([ft.Question(**ASKED)], top=5)[0]
    frame = answers.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == ["rank", "name", "probability", "score", "event", "commonsense", "already_known"]
    assert list(frame["name"]) == [answer.name for answer in answers]
    assert str(answers).startswith("(state 0, visits, ?, 2020-05-05)\nrank  name ")
    assert answers._repr_html_().count("<tr>") == 6
    shown = answers.to_dict()
    assert (shown["question"], shown["slot"]) == (ASKED, "object")
    assert shown["answers"] == [answer.to_dict() for answer in answers]


def test_an_answer_explains_itself_and_is_still_a_plain_value(run: ft.Run):
    answer = run.predict(**ASKED)[1]
    explanation = answer.explain()
    assert (explanation.answer, explanation.rank) == (answer.name, 2)
    assert explanation == run.explain(**ASKED, object=answer.name)
    alone = replace(answer, source=None)
    assert (alone, repr(alone), alone.to_dict()) == (answer, repr(answer), answer.to_dict())
    with pytest.raises(QuestionError, match="does not come from a run"):
        alone.explain()


def test_a_competitor_may_be_named_at_once_or_later(run: ft.Run):
    best = run.explain(**ASKED)
    assert best.against("state 2") == run.explain(**ASKED, competitor="state 2")
    assert str(best.against("state 2")).startswith(f"why {best.answer} and not state 2: ")
    with pytest.raises(QuestionError, match="is the answer itself"):
        best.against(best.answer)
    with pytest.raises(QuestionError, match="unknown entity 'stat 2'; did you mean 'state 2'"):
        best.against("stat 2")


def test_a_year_or_a_date_is_as_good_as_its_text(run: ft.Run):
    from datetime import date

    answers = run.predict(**{**ASKED, "time": date(2020, 5, 5)})
    assert list(answers) == list(run.predict(**ASKED))
    assert answers.to_dict()["question"] == ASKED


def test_training_by_a_configuration_settings_or_a_model(run: ft.Run, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "complex.toml"
    file.write_text('[model]\nname = "complex"\nrank = 6\n')
    rows = run.graph.facts("train")
    frame = pd.DataFrame(
        {
            "subject": [run.graph.entities.name(i) for i in rows.subject],
            "predicate": [run.graph.predicates.name(i) for i in rows.predicate],
            "object": [run.graph.entities.name(i) for i in rows.object],
            "time": [run.graph.timeline.label(i) for i in rows.start],
        }
    )
    found = ft.train(frame, config=file, settings=QUICK, test=False)
    assert (found.config.model.name, found.config.model.rank) == ("complex", 4)
    assert "test" not in found.report
    assert found.path.parent == Path("runs")
    other = ft.train(run.graph, model="distmult", folder="runs/mine", settings=QUICK)
    assert (other.config.model.name, other.path) == ("distmult", Path("runs/mine"))
    assert sorted(one.path.name for one in ft.find_runs()) == sorted(["mine", found.path.name])
    longer = ft.resume(other, epochs=2)
    assert len(longer.history) == 2
    assert ft.find_runs("runs/mine")[0].path == Path("runs/mine")


class Heard(ft.Callback):
    """Keeps what is announced and warned of."""

    def __init__(self) -> None:
        self.announced: list[str] = []
        self.warned: list[str] = []

    def announce(self, text: str) -> None:
        self.announced.append(text)

    def warn(self, text: str) -> None:
        self.warned.append(text)


@pytest.mark.parametrize(("preset", "model"), [("quick", "rules"), (None, "lcge")])
def test_a_preset_names_the_folder_and_chooses_the_settings(run: ft.Run, tmp_path: Path, monkeypatch, preset, model):
    monkeypatch.chdir(tmp_path)
    heard, settings = Heard(), QUICK | {"evidence.epochs": 1, "reranker.trees": 5}
    trained = ft.train(run.graph, preset=preset, settings=settings, callback=heard, test=False, tensorboard=True)
    folder = f"events-{preset or 'balanced'}"
    assert trained.path == Path("runs") / folder
    assert (trained.config.model.name, trained.config.evidence.use, len(trained.history)) == (model, True, 1)
    outline, *others = heard.announced
    assert outline == f"events: {len(run.graph.train):,} training facts, 12 entities, 3 predicates, 299 time steps"
    assert f"training {preset or 'balanced'} in runs/{folder}" in others
    assert others.count("mining temporal rules") == 1  # for the penalty and for the paths alike
    assert list(trained.path.rglob("events.out.tfevents.*"))


def test_a_warning_reaches_the_callback(run: ft.Run, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("foretime.training.precision.has_bfloat16", lambda _: False)
    heard, settings = Heard(), QUICK | {"training.precision": "bfloat16"}
    ft.train(run.graph, model="distmult", folder=tmp_path / "run", settings=settings, callback=heard, test=False)
    assert [text.split(":")[0] for text in heard.warned] == ["this processor has no instructions for bfloat16"]


def test_the_folder_of_a_run_is_the_first_free_one(tmp_path: Path, monkeypatch):
    from foretime.inference.run import free_folder

    monkeypatch.chdir(tmp_path)
    assert free_folder("icews14", "quick") == Path("runs/icews14-quick")
    for folder in ("icews14-quick", "icews14-quick-2"):
        (tmp_path / "runs" / folder).mkdir(parents=True)
    assert free_folder("icews14", "quick") == Path("runs/icews14-quick-3")
    assert free_folder("", "lcge") == Path("runs/graph-lcge")


def test_what_cannot_be_trained_or_opened_is_an_error(run: ft.Run, tmp_path: Path):
    with pytest.raises(ConfigError, match="either a preset or a configuration"):
        ft.train(run.graph, preset="quick", config=run.config)
    with pytest.raises(ConfigError, match="unknown preset 'quik'; the presets are quick, balanced, best"):
        ft.train(run.graph, preset="quik")
    with pytest.raises(ConfigError, match="name a graph"):
        ft.train()
    with pytest.raises(ConfigError, match=r"unknown key training\.epoch"):
        ft.train(run.graph, settings={"training.epoch": 3})
    with pytest.raises(RunError, match="already holds a run"):
        ft.train(run.graph, folder=run.path)
    with pytest.raises(RunError, match="no such folder"):
        ft.find_runs(tmp_path / "none")
    with pytest.raises(RunError, match="no such run folder"):
        ft.open_run(tmp_path / "none")
    with pytest.raises(DataError, match="tset"):
        run.evaluate("tset")


def test_a_run_that_is_not_finished_says_so(run: ft.Run, tmp_path: Path):
    from foretime.runs.life import create_run

    begun = ft.open_run(create_run(run.graph, run.config, tmp_path / "begun").path)
    assert repr(begun) == f"Run {begun.path}: lcge on events, not finished"
    assert len(begun.history) == 0
    with pytest.raises(RunError, match="not finished"):
        begun.metrics  # noqa: B018


def test_public_names_are_those_that_a_type_checker_sees():
    tree = ast.parse(Path(ft.__file__).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname: line.module for line in checked.body for alias in line.names}
    assert seen == ft._HOMES
    assert ft.__all__ == sorted(seen)
    for name, home in seen.items():
        assert getattr(ft, name) is getattr(importlib.import_module(home), name)


def test_dir_shows_public_names_alone_whatever_was_loaded():
    script = "import foretime as ft; first = dir(ft); ft.train; print(set(first) - set(ft.__all__), dir(ft) == first)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'__version__'} True"
