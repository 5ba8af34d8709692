"""A backtest rolls a run through the past: each window is asked single-step, with fixed and with retrained weights."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import foretime as ft
from foretime.config import Config, ModelConfig, override
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError, QuestionError, RunError
from foretime.runs.life import train
from foretime.runs.manifest import write_whole
from foretime.runs.windows import graph_before

FAST = {"training.epochs": 1, "reranker.trees": 3}


@pytest.fixture(scope="module")
def run(small_graph: Graph, small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> ft.Run:
    folder = tmp_path_factory.mktemp("backtest")
    settings = {"training.epochs": 2, "evidence.past_only": True, "evidence.families": ["recurrence", "contact"]}
    settings |= {"reranker.use": True, "reranker.fit": "refit", "reranker.cut": "time", "reranker.folds": 4}
    settings |= {"reranker.trees": 5, "reranker.top": 8}
    config = override(small_config.model_copy(update={"model": ModelConfig(name="rules")}), settings)
    return ft.Run(train(small_graph.split(by="time"), config, folder / "run").path)


@pytest.fixture(scope="module")
def days(run: ft.Run) -> tuple[str, str]:
    """The first and the last day of test."""
    label, steps = run.graph.timeline.label, run.graph.test.start
    return label(int(steps.min())), label(int(steps.max()))


def test_one_window_over_test_is_the_single_step_evaluation_of_test(run: ft.Run, days):
    wanted = run.evaluate("test", protocol="single-step")
    (window,) = run.backtest(*days, every=1000).windows
    assert window.fixed.metrics == wanted.all
    assert window.events == len(run.graph.test)
    assert window.pairs_seen == pytest.approx(1 - wanted.kinds["never"].questions / wanted.all.questions)


def test_windows_divide_the_questions_and_forget_nothing(run: ft.Run, days):
    whole, parts = (run.backtest(*days, every=every).windows for every in (1000, 7))
    assert len(parts) > 2
    assert sum(window.events for window in parts) == whole[0].events
    for name in ("mrr", "hits@1", "hits@10"):
        mean = sum(w.fixed.metrics[name] * w.events for w in parts if w.events) / whole[0].events
        assert mean == pytest.approx(whole[0].fixed.metrics[name])


def test_what_comes_later_changes_no_window(run: ft.Run, days, tmp_path: Path):
    """Events on the last day and after it: all windows before that day have the same figures."""
    other = ft.Run(Path(shutil.copytree(run.path, tmp_path / "run")))
    last = days[1]
    other.update([(f"state {n}", "visits", f"state {n + 2}", last) for n in range(8)])
    before, after = (one.backtest(*days, every=1) for one in (run, other))
    assert before.windows[-1].events < after.windows[-1].events
    assert before.windows[:-1] == after.windows[:-1]


def test_coverage_is_that_of_a_slow_count(run: ft.Run, days):
    rows = [(s, o, t) for s, _, o, t in run.graph.rows()]
    asked = [(s, o, t) for s, o, t in rows if days[0] <= t <= days[1]]
    both = asked + [(o, s, t) for s, o, t in asked]
    pairs = np.mean([any({s, o} == {a, b} and u < t for a, b, u in rows) for s, o, t in both])
    known = np.mean([any(o in (a, b) and u < t for a, b, u in rows) for _, o, t in both])
    (window,) = run.backtest(*days, every=1000).windows
    assert (window.pairs_seen, window.entities_known) == pytest.approx((pairs, known))


def test_new_names_of_updates_are_asked_about_and_were_not_known(run: ft.Run, tmp_path: Path):
    other = ft.Run(Path(shutil.copytree(run.path, tmp_path / "run")))
    other.update([("state 1", "visits", "Atlantis", "2020-12-01"), ("state 1", "visits", "Atlantis", "2020-12-20")])
    found = other.backtest("2020-12-01", "2020-12-24", every=10)
    assert [window.events for window in found.windows] == [1, 1]
    assert [window.entities_known for window in found.windows] == [0.5, 1.0]
    assert found.notes == ("the data ends 2020-12-20: nothing is asked about later times",)
    found = other.backtest("2020-12-01", "2020-12-20", every=5)
    assert found.windows[1].fixed is None
    assert found.windows[1].to_dict()["fixed"] is None
    assert "nothing happened in 2 of 4 windows, the first from 2020-12-06" in found.notes


def test_a_backtest_that_ranks_test_leaves_a_trace_in_the_report(run: ft.Run, days, tmp_path: Path):
    copy = Path(shutil.copytree(run.path, tmp_path / "run", ignore=shutil.ignore_patterns("backtests.jsonl")))
    write_whole(copy, (copy / "report.json").read_bytes())
    other = ft.Run(copy)
    label, valid = run.graph.timeline.label, run.graph.valid.start
    before = other.report
    assert not any(
        "facts of test" in note for note in other.backtest(label(int(valid.min())), label(int(valid.max()))).notes
    )
    assert other.report == before, "valid may be looked at"
    found = other.backtest(*days)
    assert any(note.startswith(f"{len(run.graph.test)} facts of test are ranked here") for note in found.notes)
    assert [one["test_facts"] for one in other.report["backtests"]] == [len(run.graph.test)]
    assert f"a backtest has ranked facts of it since, the last from {days[0]} to {days[1]}" in other.summary
    other.backtest(*days)
    assert "2 backtests have ranked facts of it since" in ft.open_run(other.path).report["test_note"]


def test_what_cannot_be_rolled_is_an_error_or_a_note(run: ft.Run, small_run: Path, days):
    with pytest.raises(ConfigError, match="single-step is a protocol of forecasts"):
        ft.open_run(small_run).backtest("2020-05-01", "2020-06-01")
    with pytest.raises(DataError, match="nothing happened from 2031-01-01 to 2031-02-01; the times of the data are"):
        run.backtest("2031-01-01", "2031-02-01")
    with pytest.raises(QuestionError, match="is before"):
        run.backtest(days[1], days[0])
    with pytest.raises(QuestionError, match="not a time"):
        run.backtest("soon", days[1])
    with pytest.raises(ConfigError, match="one step at least"):
        run.backtest(*days, every=0)
    (note,) = run.backtest("2020-05-01", "2020-05-20").notes
    assert "windows before that are no forecasts" in note
    with pytest.raises(DataError, match="none to be calibrated on; begin later"):
        run.backtest("2020-05-01", "2020-05-20", retrain=1)
    with pytest.raises(ConfigError, match="retrain is 0"):
        run.backtest(*days, retrain=0)


def test_retrained_copies_stand_beside_the_fixed_weights_and_are_found_again(run: ft.Run, days, tmp_path: Path):
    found = run.backtest(*days, every=10, retrain=2, out=tmp_path / "copies", settings=FAST)
    fixed = run.backtest(*days, every=10)
    assert [window.fixed for window in found.windows] == [window.fixed for window in fixed.windows]
    assert all(window.retrained for window in found.windows if window.events)
    copies = sorted((tmp_path / "copies").iterdir())
    assert len(copies) == -(-len(found.windows) // 2)
    assert {window.retrained_before for window in found.windows} == {copy.name[len("before-") :] for copy in copies}
    first = ft.open_run(copies[0])
    border = run.graph.timeline.step(days[0])
    assert max(first.graph.facts().start) < border
    assert len(first.graph.test) == 0
    assert first.report["warm_start"]["path"] == str(run.path)
    assert len(found.comparison) == sum(window.retrained is not None for window in found.windows)
    written = {copy: (copy / "report.json").stat().st_mtime_ns for copy in copies}
    again = run.backtest(*days, every=10, retrain=2, out=tmp_path / "copies", settings=FAST)
    assert again.to_dict() == found.to_dict()
    assert written == {copy: (copy / "report.json").stat().st_mtime_ns for copy in copies}
    with pytest.raises(RunError, match="holds another run than this backtest would train"):
        run.backtest(*days, every=10, retrain=2, out=tmp_path / "copies", settings={**FAST, "training.seed": 9})


def test_a_copy_knows_nothing_of_the_window_and_after(run: ft.Run, days):
    graph = run.graph
    first = graph.timeline.step(days[0])
    cut = graph_before(graph, first, first - 10)
    assert len(cut.facts()) == int((graph.facts().start < first).sum())
    assert cut.train.start.max() < first - 10 <= cut.valid.start.min()


def test_tables_csv_json_and_plot(run: ft.Run, days, tmp_path: Path):
    found = run.backtest(*days, every=10)
    assert found.table().heads()[:4] == ["from", "to", "events", "questions"]
    assert "weights" not in found.table().columns
    assert json.loads(json.dumps(found.to_dict()))["windows"][0]["fixed"]["mrr"] == found.windows[0].fixed.metrics.mrr
    assert found.table().to_csv().startswith("first,last,events,questions,mrr,hits@1,hits@3,hits@10,ece,pairs_seen,")
    pytest.importorskip("matplotlib")
    found.plot(tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()
