"""Old configurations and run folders: refused with the new names, rewritten, and read as before."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from altered_runs import sealed
from foretime.config import Config, override, read_config
from foretime.errors import ConfigError, RunError
from foretime.inference.predictor import Predictor
from foretime.reranker.slots.trees import load_trees
from foretime.reranker.trees import Reranker
from foretime.runs import upgrade as upgrading
from foretime.runs.evaluation import evaluate_split
from foretime.runs.finish import calibrations_in
from foretime.runs.folder import RunFolder
from foretime.runs.life import resume
from foretime.runs.loading import load_scorer
from foretime.runs.manifest import read_manifest, write_changing
from foretime.runs.protocols import ask
from foretime.runs.upgrade import upgrade

OLD_RUN = Path(__file__).with_name("old_run")
"""A finished run as the version before `[reranker]` wrote it: intervals, ends apart, a combiner."""
OLD_CONFIG = """\
# what I use at home
[training]
epochs = 7  # enough
members = 2
ends = "apart"

[combiner]  # a second stage
use = true
parts = 3
column_share = 0.25
"""
NEW_CONFIG = """\
# what I use at home
[training]
epochs = 7  # enough
ensemble_size = 2
boundary_relations = "separate"

[reranker]  # a second stage
use = true
fitted_folds = 3
feature_share = 0.25
"""


@pytest.fixture
def old_run(tmp_path: Path) -> RunFolder:
    return RunFolder(shutil.copytree(OLD_RUN, tmp_path / "run"))


def test_an_old_configuration_is_refused_with_its_new_names_and_rewritten_with_its_comments(tmp_path: Path):
    path = tmp_path / "old.toml"
    path.write_text(OLD_CONFIG)
    with pytest.raises(ConfigError, match=r"\[combiner\] is now called \[reranker\].*; foretime upgrade .*old\.toml"):
        read_config(path)
    assert "old.toml: training.ends is now called training.boundary_relations" in upgrade(path)
    assert path.read_text() == NEW_CONFIG
    assert upgrade(path) == []
    assert read_config(path).reranker.fitted_folds == 3


def test_a_configuration_in_another_style_keeps_its_values(tmp_path: Path):
    path = tmp_path / "old.toml"
    path.write_text('combiner = {use = true, parts = 3}\ntraining.ends = "alike"\n')
    upgrade(path)
    config = read_config(path)
    assert (config.reranker.fitted_folds, config.training.boundary_relations) == (3, "shared")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("combiner.use", "reranker.use"),
        ("combiner.parts", "reranker.fitted_folds"),
        ("training.members", "training.ensemble_size"),
    ],
)
def test_an_old_setting_is_refused_with_its_new_name(old: str, new: str):
    with pytest.raises(ConfigError, match=rf"^set: {old} is now called {new}$"):
        override(Config(), {old: 1}, "set: ")


def test_an_old_run_gives_the_same_ranks_after_its_upgrade(old_run: RunFolder):
    with pytest.raises(ConfigError, match=r"foretime upgrade .*run/config\.toml rewrites it"):
        Predictor.open(old_run)
    notes = upgrade(old_run.config_file)
    assert {"report.json: keys and metrics have their new names", "combiner.txt: now reranker.safetensors"} <= set(
        notes
    )
    assert upgrade(old_run.path) == []
    config, graph, report = old_run.config(), old_run.graph(), old_run.report()
    assert (config.training.boundary_relations, report["ensemble_size"], report["reranker"]) == ("separate", 1, "fold")
    scorer = load_scorer(old_run, config, graph)
    now = evaluate_split(
        ask(scorer, graph, config.evidence, "test"), graph, "test", "exact", calibrations_in(report)
    ).to_dict()
    for group, was in ((now, report["test"]), (now["base_model"], report["test"]["base_model"])):
        assert group["all"]["mrr"] == was["all"]["mrr"]
        assert list(group["mrr_interval"]) == was["mrr_interval"]
    assert set(report["test"]["all"]) == {"questions", "mrr", "hits@1", "hits@3", "hits@10"}
    before = old_run.report_file.read_bytes()
    resume(old_run.path)  # it is finished
    assert old_run.report_file.read_bytes() == before


def without_the_newest_key(run: RunFolder) -> Config:
    """Cut a key from the configuration of a run, as if an earlier version had made it; return what it was."""
    wanted, lines = run.config(), run.config_file.read_text(encoding="utf-8").splitlines(keepends=True)
    run.config_file.write_text("".join(line for line in lines if not line.startswith("epoch_limit")), encoding="utf-8")
    return wanted


@pytest.fixture
def earlier(small_run: Path, tmp_path: Path) -> tuple[RunFolder, Config]:
    """A finished run of an earlier version, and the configuration that this version needs."""
    run = RunFolder(shutil.copytree(small_run, tmp_path / "run"))
    wanted = without_the_newest_key(run)
    sealed(run.path)
    return run, wanted


def test_a_run_with_a_manifest_gets_the_keys_that_came_after_it(earlier: tuple[RunFolder, Config]):
    run, wanted = earlier
    with pytest.raises(ConfigError, match=r"training\.epoch_limit.*foretime upgrade"):
        Predictor.open(run)
    assert [note for note in upgrade(run.path) if "training.epoch_limit" in note]
    assert RunFolder.open(run.path).config() == wanted
    assert upgrade(run.path) == []


def test_keys_are_added_though_a_resumption_has_something_to_make_again(earlier: tuple[RunFolder, Config]):
    run, wanted = earlier
    run.report_file.unlink()
    assert upgrade(run.path)
    assert run.config() == wanted
    with pytest.raises(RunError, match=r"report\.json: missing"):
        run.check()
    resume(run.path)
    assert RunFolder.open(run.path).report()["data"]


@pytest.mark.parametrize("changing", ["", "--epochs 9"])
def test_keys_are_added_to_a_run_that_a_command_was_changing(earlier: tuple[RunFolder, Config], changing: str):
    run, wanted = earlier
    roles = {"report"} if changing == "" else {"config", "weights", "members", "report"}
    write_changing(run.path, changing, roles)
    assert upgrade(run.path)
    assert run.config() == wanted
    assert read_manifest(run.path).changing == changing
    assert upgrade(run.path) == []


def test_a_damaged_file_that_is_not_listed_leaves_the_manifest_as_it_was(earlier: tuple[RunFolder, Config]):
    run, wanted = earlier
    run.last_file.write_bytes(b"damaged")
    assert upgrade(run.path)
    assert RunFolder.open(run.path).config() == wanted


@pytest.mark.parametrize("writes", [1, 2])
def test_an_upgrade_that_is_stopped_is_finished_by_the_next(
    earlier: tuple[RunFolder, Config], monkeypatch: pytest.MonkeyPatch, writes: int
):
    run, wanted = earlier
    done = 0

    def stopped(write: Callable[..., None]) -> Callable[..., None]:
        def act(*given: object) -> None:
            nonlocal done
            if done == writes:
                raise KeyboardInterrupt
            done += 1
            write(*given)

        return act

    with monkeypatch.context() as patch:
        for name in ("write_manifest", "write_text"):
            patch.setattr(upgrading, name, stopped(getattr(upgrading, name)))
        with pytest.raises(KeyboardInterrupt):
            upgrade(run.path)
    with pytest.raises((RunError, ConfigError)):
        Predictor.open(run)
    assert upgrade(run.path)
    assert RunFolder.open(run.path).config() == wanted
    assert upgrade(run.path) == []


def test_trees_that_are_text_are_refused_until_they_are_upgraded_all_together(old_run: RunFolder):
    upgrade(old_run.path)
    wanted = old_run.reranker_file.read_bytes()
    old_run.reranker_file.unlink()
    old_run.manifest_file.unlink()
    body = (
        (OLD_RUN / "combiner.txt")
        .read_text(encoding="utf-8")
        .partition("\n")[2]
        .replace(" company", " shared_neighbours")
    )
    for name in ("reranker", "reranker_without_valid", "reranker_to_calibrate"):
        (old_run.path / f"{name}.txt").write_text(f"foretime reranker 3, top 5\n{body}", encoding="utf-8")
    (old_run.path / "slots-time.txt").write_text(f"foretime slot time 1\n{body}", encoding="utf-8")
    for act in (RunFolder.open, Predictor.open, resume):
        with pytest.raises(
            RunError, match=r"reranker\.txt: trees as an earlier version .*; foretime upgrade .*run keeps"
        ):
            act(old_run.path)
    assert upgrade(old_run.path) == [
        "reranker.txt: now reranker.safetensors",
        "reranker_to_calibrate.txt: now reranker_to_calibrate.safetensors",
        "reranker_without_valid.txt: now reranker_without_valid.safetensors",
        "slots-time.txt: now slots-time.safetensors",
        "manifest.json: lists the files of the run",
    ]
    files = (old_run.reranker_file, old_run.reranker_without_valid, old_run.reranker_to_calibrate)
    assert [file.read_bytes() for file in files] == [wanted] * 3
    names = Reranker.load(old_run.reranker_file).trees.names
    assert load_trees(old_run.slot_file("time"), "time", names).names == names
    assert RunFolder.open(old_run.path).old_trees() == upgrade(old_run.path) == []


@pytest.mark.parametrize(
    "found", ["foretime slot time 1\n", "foretime slot time 0\n{body}", "foretime slot start 1\n{body}"]
)
def test_slots_of_other_features_are_removed_and_the_reranker_stays(old_run: RunFolder, found: str):
    body = (OLD_RUN / "combiner.txt").read_text(encoding="utf-8").partition("\n")[2]
    (old_run.path / "slots-predicate.txt").write_text(f"foretime slot predicate 1\n{body}", encoding="utf-8")
    (old_run.path / "slots-time.txt").write_text(found.replace("{body}", body), encoding="utf-8")
    notes = upgrade(old_run.path)
    assert "combiner.txt: now reranker.safetensors" in notes
    assert sum("removed, its features have changed" in note for note in notes) == 2
    assert not list(old_run.path.glob("slots-*"))
    assert old_run.reranker_file.exists()


@pytest.mark.parametrize("found", [b"foretime combiner 1, top 5\n", b"\xff\xfe", b"foretime combiner 2, top 5\n"])
def test_trees_of_other_features_are_removed_and_fitted_again(old_run: RunFolder, found: bytes):
    (old_run.path / "combiner.txt").write_bytes(found)
    assert any("removed, its features have changed; foretime train --resume" in note for note in upgrade(old_run.path))
    assert not (old_run.path / "combiner.txt").exists()
    resume(old_run.path)
    assert Predictor.open(old_run).scorer.reranked is not None


def test_what_is_neither_a_configuration_nor_a_run_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="no such configuration file"):
        upgrade(tmp_path / "nothing.toml")
    with pytest.raises(RunError, match="not a run folder"):
        upgrade(tmp_path)
