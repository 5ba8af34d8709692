"""Tuning on a small graph: compared on valid alone, pruned by the curve, and resumed after an interruption."""

import csv
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interruptions import StopAfter

pytest.importorskip("optuna")

from optuna.study import Study

from foretime.config import Config, config_text, override, read_config
from foretime.data.facts import empty_facts
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError, Interrupted, RunError
from foretime.experiments.tuning import TunePlan, read_plan, tune
from foretime.experiments.tuning.journal import load_study
from foretime.experiments.tuning.search import TRIES
from foretime.experiments.tuning.trials import TrialTrainer
from foretime.files import hold
from foretime.runs.folder import RunFolder
from foretime.training.callbacks import Callback
from foretime.training.settings import changed_config, complete_config
from foretime.training.trainer import Trainer

ROOT = Path(__file__).parents[3]
RANGES = "model.rank = { choices = [4, 6] }\npenalties.event_n3 = { low = 0.001, high = 0.1, log = true }\n"


class Killed(BaseException):
    """The process is killed at this point."""


def kill(*_arguments: Any, **_named: Any) -> None:
    raise Killed


@pytest.fixture
def tuned(small_config: Config, tmp_path: Path):
    """Writes a configuration and its ranges, and returns the plan."""

    def write(ranges: str = RANGES, settings: str = "trials = 3", **changes: Any) -> TunePlan:
        changes = {"data.path": "events.tsv", "training.epochs": 2, "training.valid_every": 1} | changes
        config = complete_config(override(small_config, changes))
        (tmp_path / "base.toml").write_text(config_text(config), encoding="utf-8")
        text = f'[tune]\nconfig = "base.toml"\n{settings}\n[ranges]\n{ranges}'
        (tmp_path / "tune.toml").write_text(text, encoding="utf-8")
        return read_plan(tmp_path / "tune.toml")

    return write


def test_the_best_by_valid_is_written_and_nothing_else_is_ranked(
    tuned, small_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from foretime.training import trainer

    asked, questions_of = [], trainer.questions_of
    monkeypatch.setattr(trainer, "questions_of", lambda facts, *rest: asked.append(facts) or questions_of(facts, *rest))
    plan = tuned()
    found = tune(plan, graph=small_graph, folder=tmp_path / "out")
    assert len(asked) == 6
    assert all(facts is small_graph.valid for facts in asked)
    assert [own.state for own in found] == ["finished"] * 3
    assert [own.valid_mrr for own in found] == sorted((own.valid_mrr for own in found), reverse=True)
    for own in found:
        assert own.settings["model.rank"] in (4, 6)
        assert 0.001 <= own.settings["penalties.event_n3"] <= 0.1
    best = read_config(tmp_path / "out" / "best.toml")
    assert best == changed_config(plan.base, found[0].settings)
    assert f"valid: {found[0].valid_mrr:.4f} (trial {found[0].trial})" in (tmp_path / "out" / "best.toml").read_text()
    with (tmp_path / "out" / "trials.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["trial"]) for row in rows] == [own.trial for own in found]
    assert float(rows[0]["penalties.event_n3"]) == found[0].settings["penalties.event_n3"]
    assert not list((tmp_path / "out").rglob("report.json"))
    assert {path.name for path in (tmp_path / "out" / "trials").glob("*/*")} == {"config.toml", "trace.jsonl"}


def test_trials_are_a_table_and_go_where_the_plan_says(
    tuned, small_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plan = tuned()
    monkeypatch.chdir(tmp_path)
    found = tune(str(plan.path), graph=small_graph, trials=1)
    assert (found.folder, len(found), found.best) == (Path("runs/tune-tune"), 1, found[0])
    frame = found.to_frame()
    assert list(frame) == [
        "trial", "state", "valid_mrr", "epochs", "seconds", "model.rank", "penalties.event_n3", "note",
    ]  # fmt: skip
    assert frame.loc[0, "penalties.event_n3"] == found[0].settings["penalties.event_n3"]
    assert f"{found[0].valid_mrr:.4f}" in str(found)
    assert found.table(0).rows == ()
    assert found.to_dicts()[0]["settings"] == found[0].settings


def test_an_interrupted_trial_is_proposed_again_and_resumed(tuned, small_graph: Graph, tmp_path: Path):
    plan, reported = tuned(settings="trials = 2", **{"training.epochs": 4}), []
    with pytest.raises(Interrupted, match=r"stopped; resume with foretime tune .*tune\.toml --out .*out"):
        tune(plan, graph=small_graph, folder=tmp_path / "out", callback=StopAfter(25), report=reported.append)
    (folder,) = (tmp_path / "out" / "trials").iterdir()
    before = RunFolder(folder).trace()
    assert 0 < len(before) < 4
    found = tune(plan, graph=small_graph, folder=tmp_path / "out", report=reported.append)
    assert len(found) == 2
    first = reported[0].partition(": ")[2]
    assert reported[1].partition(": ")[2] == first  # the same settings
    assert RunFolder(folder).trace()[: len(before)] == before
    assert tune(plan, graph=small_graph, folder=tmp_path / "out") == found  # nothing is left to do


def test_a_trial_that_is_stopped_again_and_again_is_proposed_each_time(tuned, small_graph: Graph, tmp_path: Path):
    plan, reported = tuned(settings="trials = 1"), []
    for _ in range(TRIES + 3):
        with pytest.raises(Interrupted):
            tune(plan, graph=small_graph, folder=tmp_path / "out", callback=StopAfter(1), report=reported.append)
    found = tune(plan, graph=small_graph, folder=tmp_path / "out", report=reported.append)
    assert len({line.partition(": ")[2] for line in reported[:-1]}) == 1  # the same settings
    assert [own.state for own in found] == ["finished"]


def test_settings_at_which_the_process_crashes_again_and_again_are_told_and_left(
    tuned, small_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plan, reported = tuned("model.rank = { choices = [4] }\n", "trials = 2"), []
    for _ in range(TRIES):
        with pytest.raises(Interrupted):  # a stop that was asked for is no crash
            tune(plan, graph=small_graph, folder=tmp_path / "out", callback=StopAfter(1))
        monkeypatch.setattr(TrialTrainer, "train", kill)
        with pytest.raises(Killed):
            tune(plan, graph=small_graph, folder=tmp_path / "out")
        monkeypatch.undo()
    found = tune(plan, graph=small_graph, folder=tmp_path / "out", report=reported.append)
    assert [own.state for own in found] == ["failed", "failed"]
    assert f"failed, the process has crashed or was killed {TRIES} times while it tried these settings" in reported[1]
    assert "not tried again; is there enough memory for them?" in (tmp_path / "out" / "trials.csv").read_text("utf-8")
    assert not list((tmp_path / "out").rglob("*.safetensors"))


def killed_before(act: Callable[..., Any]) -> Callable[..., Any]:
    return kill


def killed_after(act: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *rest, **named: kill(act(*rest, **named))


@pytest.mark.parametrize("killed", [killed_before, killed_after])
@pytest.mark.parametrize("act", ["ask", "enqueue_trial", "tell"])
def test_an_interrupted_trial_is_proposed_once_whenever_the_next_process_is_killed(
    tuned, small_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str, killed: Any
):
    plan, reported = tuned(settings="trials = 2"), []
    with pytest.raises(Interrupted):
        tune(plan, graph=small_graph, folder=tmp_path / "out", callback=StopAfter(1), report=reported.append)
    monkeypatch.setattr(Study, act, killed(getattr(Study, act)))
    with pytest.raises(Killed):
        tune(plan, graph=small_graph, folder=tmp_path / "out")
    monkeypatch.undo()
    tune(plan, graph=small_graph, folder=tmp_path / "out", report=reported.append)
    begun = [line.partition(": ")[2] for line in reported if "model.rank" in line]
    assert begun[0] == begun[1] != begun[2]
    assert len(begun) == 3


def test_what_a_killed_process_has_not_written_is_written_by_the_next(
    tuned, small_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plan, out = tuned(settings="trials = 1"), tmp_path / "out"
    monkeypatch.setattr(TrialTrainer, "forget", kill)  # what comes first when a trial is over
    with pytest.raises(Killed):
        tune(plan, graph=small_graph, folder=out)
    monkeypatch.undo()
    assert not (out / "best.toml").exists()
    (own,) = tune(plan, graph=small_graph, folder=out)
    assert read_config(out / "best.toml") == changed_config(plan.base, own.settings)
    assert f"0,finished,{own.valid_mrr}" in (out / "trials.csv").read_text("utf-8")
    assert {path.name for path in (out / "trials").glob("*/*")} == {"config.toml", "trace.jsonl"}
    (out / "best.toml").write_text("# stale\n", encoding="utf-8")
    (out / "trials.csv").unlink()
    tune(plan, graph=small_graph, folder=out)
    assert read_config(out / "best.toml") == changed_config(plan.base, own.settings)
    assert (out / "trials.csv").exists()


class PruneAt:
    """A pruner that gives up after an epoch."""

    def __init__(self, epoch: int) -> None:
        self.epoch, self.heard = epoch, []

    def report(self, value: float, step: int) -> None:
        self.heard.append((step, value))

    def should_prune(self) -> bool:
        return self.heard[-1][0] >= self.epoch


@pytest.mark.parametrize(("epoch", "epochs", "pruned"), [(2, 2, True), (4, 4, False), (9, 4, False)])
def test_a_trial_stops_when_its_curve_is_pruned(
    small_graph: Graph, small_config: Config, tmp_path: Path, epoch: int, epochs: int, pruned: bool
):
    config = override(small_config, {"training.epochs": 4, "training.valid_every": 1})
    pruner, trials = PruneAt(epoch), TrialTrainer(small_graph, tmp_path)
    outcome = trials.train(config, "one", pruner, Callback())
    assert (outcome.epochs, outcome.pruned) == (epochs, pruned)
    curve = [(line["epoch"], line["valid_mrr"]) for line in RunFolder(tmp_path / "one").trace()]
    assert pruner.heard == curve
    assert outcome.mrr == max(mrr for _, mrr in curve)


def curve_of(run: RunFolder) -> list[tuple[int, float]]:
    return [(line["epoch"], line["valid_mrr"]) for line in run.trace()]


def test_a_trial_that_is_over_is_trained_again_where_nobody_knows_of_it(
    small_graph: Graph, small_config: Config, tmp_path: Path
):
    changes = {"training.epochs": 4, "training.valid_every": 1, "penalties.event_rules": 1.0}
    changes |= {"rules.static_support": 1, "rules.confidence": 0.0, "rules.head_coverage": 0.0}
    config, run = changed_config(small_config, changes), RunFolder(tmp_path / "one")
    trials = TrialTrainer(small_graph, tmp_path)
    before = trials.train(config, "one", PruneAt(2), Callback())
    assert run.rules_file.exists()
    guidance = [line["event_rules"] for line in run.trace()]
    trials.forget("one")
    pruner = PruneAt(2)
    after = trials.train(config, "one", pruner, Callback())
    assert (after.mrr, after.epochs, after.pruned) == (before.mrr, 2, True)
    assert pruner.heard == curve_of(run)
    assert [line["event_rules"] for line in run.trace()] == guidance != [0.0, 0.0]


@pytest.mark.parametrize("epoch", [1, 2])
def test_an_epoch_that_no_checkpoint_has_is_trained_again_before_pruning(
    small_graph: Graph, small_config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epoch: int
):
    config = override(small_config, {"training.epochs": 4, "training.valid_every": 1})
    trials, run = TrialTrainer(small_graph, tmp_path), RunFolder(tmp_path / "one")
    save, saved = Trainer._save_last, []
    monkeypatch.setattr(
        Trainer, "_save_last", lambda self: kill() if len(saved) == epoch - 1 else saved.append(save(self))
    )
    with pytest.raises(Killed):
        trials.train(config, "one", PruneAt(9), Callback())
    monkeypatch.undo()
    assert len(run.trace()) == epoch
    pruner = PruneAt(epoch)
    outcome = trials.train(config, "one", pruner, Callback())
    assert (outcome.epochs, outcome.pruned) == (epoch, True)
    assert pruner.heard == curve_of(run)
    assert outcome.mrr == max(mrr for _, mrr in pruner.heard)


def test_a_curve_that_is_pruned_when_it_is_heard_again_is_not_trained_on(
    small_graph: Graph, small_config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = override(small_config, {"training.epochs": 4, "training.valid_every": 1})
    before = TrialTrainer(small_graph, tmp_path).train(config, "one", PruneAt(2), Callback())
    monkeypatch.setattr(Trainer, "_step", kill)
    assert TrialTrainer(small_graph, tmp_path).train(config, "one", PruneAt(2), Callback()) == before


def test_trials_below_the_median_are_pruned_and_again_without_a_journal(tuned, small_graph: Graph, tmp_path: Path):
    ranges = "training.learning_rate = { low = 0.00001, high = 0.5, log = true }\n"
    plan = tuned(ranges, "trials = 7\nstartup_trials = 2", **{"training.epochs": 3})
    found = tune(plan, graph=small_graph, folder=tmp_path / "out")
    states = [own.state for own in found]
    assert {"finished", "pruned"} == set(states)
    assert states == sorted(states)
    assert all(own.epochs < 3 for own in found if own.state == "pruned")
    (tmp_path / "out" / "journal.log").unlink()
    again = tune(plan, graph=small_graph, folder=tmp_path / "out")
    assert [(own.trial, own.state, own.valid_mrr, own.epochs) for own in again] == [
        (own.trial, own.state, own.valid_mrr, own.epochs) for own in found
    ]


def test_the_same_settings_are_trained_once(tuned, small_graph: Graph, tmp_path: Path):
    found = tune(tuned("model.rank = { choices = [4] }\n"), graph=small_graph, folder=tmp_path / "out")
    assert len({(own.valid_mrr, own.seconds) for own in found}) == 1
    assert len(list((tmp_path / "out" / "trials").iterdir())) == 1


def test_a_trial_that_cannot_be_trained_is_noted(tuned, small_graph: Graph, tmp_path: Path):
    ranges = "training.learning_rate = { choices = [1e30] }\n"
    found = tune(tuned(ranges, "trials = 1"), graph=small_graph, folder=tmp_path / "out")
    assert [(own.state, own.valid_mrr) for own in found] == [("failed", None)]
    assert "learning_rate" in found[0].note
    assert not (tmp_path / "out" / "best.toml").exists()


def test_settings_that_fit_no_memory_or_are_wrong_together_are_noted(
    tuned, small_graph: Graph, tmp_path: Path, monkeypatch
):
    def no_memory(*arguments: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("foretime.experiments.tuning.trials.TrialTrainer.train", no_memory)
    found = tune(tuned(), graph=small_graph, folder=tmp_path / "study")
    assert {(own.state, own.note) for own in found} == {("failed", "out of memory")}
    together = 'training.softmax = { choices = ["joint"] }\ntraining.loss = { choices = ["margin"] }\n'
    found = tune(tuned(together, "trials = 1"), graph=small_graph, folder=tmp_path / "other")
    assert found[0].state == "failed"
    assert "training.loss" in found[0].note


def test_settings_that_failed_are_not_trained_again(tuned, small_graph: Graph, tmp_path: Path, monkeypatch):
    begun, train, reported = [], TrialTrainer.train, []
    monkeypatch.setattr(TrialTrainer, "train", lambda self, *rest: begun.append(rest) or train(self, *rest))
    ranges = "training.learning_rate = { choices = [1e30] }\n"
    found = tune(tuned(ranges, "trials = 2"), graph=small_graph, folder=tmp_path / "out", report=reported.append)
    assert len(begun) == 1
    assert [own.state for own in found] == ["failed", "failed"]
    assert found[0].note == found[1].note
    assert reported[-1].endswith("2 made, none has finished")


def test_two_processes_do_not_make_trials_in_one_folder(tuned, small_graph: Graph, tmp_path: Path):
    plan, out = tuned(), tmp_path / "out"
    out.mkdir()
    with hold(out), pytest.raises(RunError, match="out: another process makes trials there; wait for it, or name"):
        tune(plan, graph=small_graph, folder=out)
    assert not list(out.iterdir())


@pytest.mark.parametrize("cut", [1, 20, 200, 400])
def test_a_journal_that_was_cut_off_is_resumed(tuned, small_graph: Graph, tmp_path: Path, cut: int):
    plan, journal = tuned("model.rank = { choices = [4] }\n", "trials = 1"), tmp_path / "out" / "journal.log"
    before = tune(plan, graph=small_graph, folder=tmp_path / "out")
    journal.write_bytes(journal.read_bytes()[:-cut])
    after = tune(plan, graph=small_graph, folder=tmp_path / "out")
    assert [(own.state, own.valid_mrr) for own in after] == [(own.state, own.valid_mrr) for own in before]
    journal.write_bytes(b"no journal\n" + journal.read_bytes())
    with pytest.raises(RunError, match=r"journal\.log: damaged journal .*; restore the file, or name another --out"):
        tune(plan, graph=small_graph, folder=tmp_path / "out")


@pytest.mark.parametrize("line", ["no journal", "[]", "7", '"text"', "{}", '{"op_code": 99}', '{"op_code": 4}'])
@pytest.mark.parametrize("place", [1, 3, 5])
def test_a_damaged_line_of_a_journal_is_named(tmp_path: Path, line: str, place: int):
    study, journal = load_study(tmp_path / "journal.log"), tmp_path / "journal.log"
    for name in "abc":
        study.set_user_attr(name, 1)
    lines = journal.read_text(encoding="utf-8").splitlines()
    lines.insert(place - 1, line)
    journal.write_text("\n".join(lines) + "\n", encoding="utf-8")
    reported = f"journal.log: damaged journal (line {place}: {line!r}); restore the file, or name another --out"
    with pytest.raises(RunError, match=re.escape(reported)):
        load_study(journal)


def test_a_long_line_of_a_journal_is_shown_in_part(tmp_path: Path):
    (tmp_path / "journal.log").write_text(f'"{"x" * 500}"\n', encoding="utf-8")
    with pytest.raises(RunError, match=r"damaged journal \(line 1: '\"x{79}…'\); restore"):
        load_study(tmp_path / "journal.log")


def test_a_limit_of_seconds_begins_no_other_trial(tuned, small_graph: Graph, tmp_path: Path):
    assert len(tune(tuned(), graph=small_graph, folder=tmp_path / "out", seconds=1e-9)) <= 1


def test_a_folder_with_other_ranges_and_a_graph_without_valid_are_refused(tuned, small_graph: Graph, tmp_path: Path):
    from dataclasses import replace

    tune(tuned(settings="trials = 1"), graph=small_graph, folder=tmp_path / "out")
    with pytest.raises(ConfigError, match="holds trials of another configuration or of other ranges; name another"):
        tune(tuned("model.rank = { choices = [4] }\n"), graph=small_graph, folder=tmp_path / "out")
    fewer = replace(small_graph, train=small_graph.train.take(np.arange(100)))
    with pytest.raises(ConfigError, match="holds trials on another graph: the data have changed; name another --out"):
        tune(tuned(settings="trials = 2"), graph=fewer, folder=tmp_path / "out")
    with pytest.raises(DataError, match="has no valid facts, by which settings are chosen; foretime data split"):
        tune(tuned(), graph=replace(small_graph, valid=empty_facts()), folder=tmp_path / "other")


def test_without_optuna_the_remedy_is_told(tuned, small_graph: Graph, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r"Optuna is not installed; pip install 'foretime\[tune\]'"):
        tune(tuned(), graph=small_graph, folder=tmp_path / "out")


FAULTS = {
    "model.rnk = { choices = [4] }": r"tune\.toml: ranges\.model\.rnk: unknown key model\.rnk",
    "modl.rank = { choices = [4] }": r"ranges\.modl\.rank: unknown section 'modl'; did you mean 'model'\?",
    "model.rank = { choices = [0] }": r"model\.rank = 0: should be greater",
    "model.rank = { low = 4 }": r"ranges\.model\.rank: give low and high, or choices",
    "model.rank = { low = 4, high = 4 }": r"ranges\.model\.rank: low = 4 should be less than high = 4",
    "model.rank = { low = 4, choices = [3] }": r"ranges\.model\.rank: give either choices, or low and high",
    "model.rank = { lo = 4, high = 5 }": r"unknown key ranges\.model\.rank\.lo",
    "model.rank = { low = 4.0, high = 16.0 }": r"ranges\.model\.rank: model\.rank = 7\.8.*integer",
    "rules.file = { choices = ['all.txt'] }": r"cannot be tuned: a file of rules may have been mined from the facts",
    "penalties.event_n3 = { low = 0.0, high = 1.0, log = true }": r"ranges\.penalties\.event_n3: log needs low above 0",
    "penalties.n3 = { low = 0.1, high = 1.0 }": r"unknown key penalties\.n3",
    "data.granularity = { choices = ['day'] }": r"ranges\.data\.granularity: cannot be tuned: it would change what",
    "training.seed = { low = 0, high = 9 }": r"ranges\.training\.seed: cannot be tuned: the best seed is luck; take",
    "reranker.trees = { low = 10, high = 90 }": r"cannot be tuned: trials are compared by the base model alone",
    "": r"tune\.toml: ranges = ",
}
NUMBERS = r"should be a number, without quotes"
VALUES = r"should be one value: a number, a text, true or false"
FAULTS_TOLD_ONCE = {
    "model.rank = { low = nan, high = 4.0 }": r"ranges\.model\.rank\.low = nan: should be a finite number",
    "model.rank = { low = 4, high = inf }": r"ranges\.model\.rank\.high = inf: should be a finite number",
    f"model.rank = {{ low = 4, high = 1{'0' * 400} }}": r"ranges\.model\.rank\.high = 10+…: should be a finite number",
    "model.rank = { low = '4', high = 8 }": rf"ranges\.model\.rank\.low = '4': {NUMBERS}",
    "model.rank = { low = true, high = 8 }": rf"ranges\.model\.rank\.low = True: {NUMBERS}",
    "model.rank = { low = [4], high = 8 }": rf"ranges\.model\.rank\.low = \[4\]: {NUMBERS}",
    "model.rank = { choices = [[4], 8] }": rf"ranges\.model\.rank\.choices\.0 = \[4\]: {VALUES}",
    "model.rank = { choices = [4, { x = 1 }] }": rf"ranges\.model\.rank\.choices\.1 = {{'x': 1}}: {VALUES}",
    "model.rank = { choices = [nan] }": r"ranges\.model\.rank\.choices\.0 = nan: should be a finite number",
    "'model.rank' = { choices = [4] }": r'ranges\."model\.rank": in quotes it is one name; '
    r"write model\.rank = { … } without them",
    "rank = { low = 4, high = 8 }": r"ranges\.rank: names no section; write section\.rank = { … }, as in model\.rank",
}


@pytest.mark.parametrize("ranges", FAULTS)
def test_a_broken_range_is_named_with_its_place_and_the_remedy(tuned, ranges: str):
    with pytest.raises(ConfigError, match=FAULTS[ranges]):
        tuned(ranges + "\n")


@pytest.mark.parametrize("ranges", FAULTS_TOLD_ONCE)
def test_a_wrong_value_or_name_of_a_range_is_told_in_one_line(tuned, ranges: str):
    with pytest.raises(ConfigError, match=rf"^\S+tune\.toml: {FAULTS_TOLD_ONCE[ranges]}\Z"):
        tuned(ranges + "\n")


def test_a_seed_is_one_that_a_search_can_have(tuned, small_graph: Graph, tmp_path: Path):
    with pytest.raises(
        ConfigError, match=r"tune\.toml: tune\.seed = 4294967296: should be less than or equal to 42949"
    ):
        tuned(settings="seed = 4294967296")
    ranges, settings = "training.learning_rate = { choices = [1e30] }\n", "trials = {}\nseed = 4294967295"
    tune(tuned(ranges, settings.format(1)), graph=small_graph, folder=tmp_path / "out")
    assert len(tune(tuned(ranges, settings.format(2)), graph=small_graph, folder=tmp_path / "out")) == 2


def test_other_faults_of_the_file(tuned, tmp_path: Path):
    with pytest.raises(ConfigError, match=r"none\.toml: no such file; write one with \[tune\] and \[ranges\]"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "bare.toml").write_text("[model]\nname = 'lcge'\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bare\.toml: has no \[tune\]; write config = … there"):
        read_plan(tmp_path / "bare.toml")
    with pytest.raises(ConfigError, match=r"tune\.toml: rules\.splits has valid, by which trials are compared"):
        tuned(**{"rules.splits": ["train", "valid"]})
    with pytest.raises(ConfigError, match=r"base\.toml: names no graph; write data\.path"):
        tuned(**{"data.path": ""})


@pytest.mark.parametrize("path", sorted((ROOT / "configs" / "tune").glob("*.toml")), ids=lambda path: path.name)
def test_the_committed_ranges_fit_their_configurations(path: Path):
    plan = read_plan(path)
    assert plan.ranges
    assert plan.warmup_epochs <= plan.base.training.epochs
