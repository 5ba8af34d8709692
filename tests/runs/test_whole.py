"""A finished run is whole or refused: no damage to a file ever gives another answer."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import foretime as ft
from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import ConfigError, Interrupted, RunError
from foretime.runs import finish, life
from foretime.runs.contents import RUN_FILES, files_in, role_of
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, plan_epochs, resume, train
from foretime.runs.manifest import _hashes, listed, read_manifest
from foretime.runs.upgrade import upgrade
from foretime.runs.verify import verify_run
from foretime.training.callbacks import Callback
from interruptions import StopAfter

REFUSED = r"(?s).*(\.json|\.toml|\.safetensors|\.txt|\.parquet)\b.*"
"""A message that names a file."""


@pytest.fixture(scope="module")
def whole(small_graph: Graph, small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with all that a run may have: rules, two members, trees of the re-ranker and models of the slots."""
    settings = {"model.rank": 4, "training.epochs": 2, "evidence.use": True, "rules.support": 2}
    settings |= {"training.ensemble_size": 2, "reranker.use": True, "reranker.folds": 3, "reranker.top": 5}
    settings |= {"reranker.trees": 6, "reranker.leaves": 4, "reranker.leaf_candidates": 4, "reranker.with_valid": True}
    return train(small_graph, override(small_config, settings), tmp_path_factory.mktemp("whole") / "run").path


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> RunFolder:
    return RunFolder(shutil.copytree(whole, tmp_path / "run"))


def answers(path: Path) -> list[tuple[str, float]]:
    found = ft.open_run(path).predict(subject="state 0", predicate="visits", time="2020-05-05", top=3)
    return [(one.name, one.probability) for one in found]


def mutations(content: bytes, other: bytes, draw: np.random.Generator) -> Iterator[bytes | None]:
    """Yield what may become of a file: bits flipped, cut off, longer, empty, that of another file, or none."""
    for place in draw.integers(len(content), size=12).tolist():
        yield content[:place] + bytes([content[place] ^ (1 << int(draw.integers(8)))]) + content[place + 1 :]
    for length in draw.integers(len(content), size=3).tolist():
        yield content[:length]
    yield from (content + b"\n", b"", other, None)


def test_no_damage_to_any_file_gives_another_answer(run: RunFolder):
    names = [*sorted(files_in(run.path)), run.manifest_file.name]
    # backtests grow, and change no answer: tests/runs/test_what_is_gone.py
    assert {role_of(name) for name in names[:-1]} == {file.role for file in RUN_FILES} - {"backtests"}
    before, draw, count = answers(run.path), np.random.default_rng(0), 0
    for name, next_name in zip(names, [*names[1:], names[0]], strict=True):
        file = run.path / name
        content = file.read_bytes()
        for changed in mutations(content, (run.path / next_name).read_bytes(), draw):
            file.unlink() if changed is None else file.write_bytes(changed)
            with pytest.raises((RunError, ConfigError), match=REFUSED) as refused:
                answers(run.path)
            assert str(run.path) in str(refused.value)
            count += 1
        file.write_bytes(content)
    assert count >= 200
    assert answers(run.path) == before


def test_the_files_that_no_answer_depends_on_may_change(run: RunFolder):
    before = answers(run.path)
    run.trace_file.unlink()
    shutil.rmtree(run.path / "updates", ignore_errors=True)
    (run.path / "notes.txt").write_text("mine")
    assert answers(run.path) == before


def test_the_manifest_lists_what_is_there_with_its_real_hash(run: RunFolder):
    import hashlib

    manifest = read_manifest(run.path)
    assert manifest is not None
    assert manifest.changing is None
    wanted = {"config.toml", "graph.json", "facts.safetensors", "rules.parquet", "best.safetensors", "report.json"}
    wanted |= {"member-1/best.safetensors", run.reranker_file.name, run.softmax_file.name, run.slot_file("time").name}
    assert wanted <= manifest.files.keys()
    for name, one in manifest.files.items():
        content = (run.path / name).read_bytes()
        assert one == (len(content), hashlib.sha256(content).hexdigest())


def test_the_re_ranker_that_is_gone_is_named_and_fitted_again(run: RunFolder):
    before = run.reranker_file.read_bytes()
    run.reranker_file.unlink()
    with pytest.raises(
        RunError, match=rf"{run.reranker_file.name}: missing, though .*--resume .*run then fits it again"
    ):
        answers(run.path)
    resume(run.path)
    assert run.reranker_file.read_bytes() == before
    assert verify_run(run.path).problems == ()


def test_a_file_that_the_manifest_does_not_list_is_refused(whole: Path, small_run: Path, tmp_path: Path):
    copy = RunFolder(shutil.copytree(small_run, tmp_path / "copy"))
    shutil.copy(RunFolder(whole).reranker_file, copy.reranker_file)
    with pytest.raises(RunError, match=rf"{copy.reranker_file.name}: not a file of this run, manifest\.json does not"):
        ft.open_run(copy.path)


@pytest.mark.parametrize("name", ["report.json", "best.safetensors"])
def test_a_resumption_writes_the_report_again_and_nothing_else(run: RunFolder, name: str):
    (run.path / name).write_bytes(b"{}")
    if name == "report.json":
        before = read_manifest(run.path)
        resume(run.path)
        assert verify_run(run.path).problems == ()
        assert {k: v for k, v in read_manifest(run.path).files.items() if k != name} == {
            k: v for k, v in before.files.items() if k != name
        }
    else:
        with pytest.raises(RunError, match=r"best\.safetensors: damaged, it has 2 bytes and not the"):
            resume(run.path)


class PowerCutError(Exception):
    """The machine is off."""


def test_a_finish_that_is_cut_anywhere_is_done_by_the_same_command(run: RunFolder, monkeypatch: pytest.MonkeyPatch):
    report = run.report()
    run.report_file.unlink()
    for place in ("calibrate", "evaluate_split"):
        with monkeypatch.context() as patch:
            patch.setattr(finish, place, lambda *_: (_ for _ in ()).throw(PowerCutError()))
            with pytest.raises(PowerCutError):
                resume(run.path)
        with pytest.raises(RunError, match=r"was being changed by a command that was stopped; .* --resume .*run$"):
            ft.open_run(run.path)
    with monkeypatch.context() as patch:  # the manifest is there, the report not yet
        patch.setattr("foretime.runs.folder.write_bytes", lambda *_: (_ for _ in ()).throw(PowerCutError()))
        with pytest.raises(PowerCutError):
            resume(run.path)
    with pytest.raises(RunError, match=r"report\.json: missing, though manifest\.json lists it; .*--resume"):
        ft.open_run(run.path)
    assert resume(run.path).report()["test"] == report["test"]
    assert verify_run(run.path).problems == ()


def test_more_epochs_write_another_manifest(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = train(small_graph, override(small_config, {"training.epochs": 2}), tmp_path / "run")
    before = read_manifest(run.path)
    plan_epochs(run.path, 4)
    assert not run.manifest_file.exists()  # it is not finished any more
    resume(run.path)
    after = read_manifest(run.path)
    assert before.files["config.toml"] != after.files["config.toml"]
    assert verify_run(run.path).problems == ()


@pytest.mark.parametrize("file", ["last.safetensors", "best.safetensors"])
def test_a_damaged_checkpoint_is_never_trained_on(
    small_graph: Graph, small_config: Config, tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch
):
    run = create_run(small_graph, override(small_config, {"training.valid_every": 1}), tmp_path / "run")
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(16))
    monkeypatch.setattr(life, "train_in_sequence", lambda *_: pytest.fail("it is trained on"))
    path, draw = run.path / file, np.random.default_rng(3)
    content = path.read_bytes()
    for place in draw.integers(len(content), size=40).tolist():
        path.write_bytes(
            content[:place] + bytes([content[place] ^ (1 << int(draw.integers(8)))]) + content[place + 1 :]
        )
        with pytest.raises(RunError, match=rf"{file}: .*(restore the file|foretime upgrade)"):
            resume(run.path)


def cut_config(text: str, key: str) -> str:
    """Leave a section or a key out of a configuration."""
    if key.startswith("["):
        return re.sub(rf"(?ms)^{re.escape(key)}$.*?(?=^\[(?!{re.escape(key[1:-1])}\.)|\Z)", "", text)
    section, name = key.split(".")
    return re.sub(rf"(?ms)(^\[{section}\]$.*?)^{name} = [^\n]*\n", r"\1", text, count=1)


@pytest.mark.parametrize(
    "key",
    [
        "[reranker]",
        "[evidence]",
        "[penalties]",
        "[data]",
        "training.seed",
        "training.threads",
        "model.rank",
        "reranker.use",
    ],
)
def test_every_key_of_a_run_is_required(run: RunFolder, key: str):
    for file in (run.manifest_file, run.report_file):
        file.unlink()  # the run of one that is still trained
    text = run.config_file.read_text()
    run.config_file.write_text(cut_config(text, key))
    assert len(run.config_file.read_text()) < len(text)
    message = rf"config\.toml: {re.escape(key)} is missing, and a run has every key; restore the file, .*upgrade .*run "
    for open_ in (resume, answers):
        with pytest.raises(ConfigError, match=message):
            open_(run.path)
    assert any(key in problem for problem in verify_run(run.path).problems)


def test_a_key_of_a_later_version_is_added_by_the_upgrade(run: RunFolder):
    before = answers(run.path)
    run.manifest_file.unlink()
    run.config_file.write_text(cut_config(run.config_file.read_text(), "evidence.background"))
    with pytest.raises(
        RunError, match=r"manifest\.json: missing, and the run is finished: .*; foretime upgrade .*run "
    ):
        ft.open_run(run.path)
    with pytest.raises(RunError, match=r"foretime upgrade"):
        resume(run.path)
    assert upgrade(run.path) == [
        "config.toml: evidence.background is new",
        "manifest.json: lists the files of the run",
    ]
    assert answers(run.path) == before
    assert verify_run(run.path).problems == ()
    assert upgrade(run.path) == []


def test_an_upgrade_does_not_bless_damage(run: RunFolder):
    run.best_file.write_bytes(run.best_file.read_bytes()[:-4] + b"abcd")
    with pytest.raises(RunError, match=r"best\.safetensors: damaged"):
        upgrade(run.path)
    run.manifest_file.unlink()
    with pytest.raises(RunError, match=r"best\.safetensors: damaged checkpoint"):
        upgrade(run.path)
    assert not run.manifest_file.exists()


def test_warm_starts_and_reading_need_a_whole_run(run: RunFolder):
    run.rules_file.write_bytes(b"")
    for use in (lambda: ft.train(warm_start=run.path), lambda: ft.find_runs(run.path.parent), lambda: resume(run.path)):
        with pytest.raises(RunError, match=r"rules\.parquet: damaged, it has 0 bytes"):
            use()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "train.object",
            lambda ids: np.where(np.arange(len(ids)) == 3, 99, ids),
            "has the id 99, not one from 0 to 11",
        ),
        (
            "valid.predicate",
            lambda ids: np.where(np.arange(len(ids)) == 3, -1, ids),
            "has the id -1, not one from 0 to",
        ),
        (
            "test.start",
            lambda ids: np.where(np.arange(len(ids)) == 3, 10_000, ids),
            "has the id 10000, not one from -1",
        ),
        ("train.end", lambda ids: ids.astype(np.int64), r"is int64 \[\d+\], not a column of 32-bit ids"),
        ("train.end", lambda ids: ids[1:], r"is int32 \[\d+\], not a column of 32-bit ids"),
    ],
)
def test_ids_that_the_graph_does_not_have_are_refused(run: RunFolder, name: str, change, message: str):
    file = run.path / "facts.safetensors"
    tensors = safetensors.numpy.load_file(file)
    tensors[name] = np.ascontiguousarray(change(tensors[name])).astype(np.int64 if "int64" in message else np.int32)
    file.write_bytes(safetensors.numpy.save(tensors))
    with pytest.raises(RunError, match=rf"facts\.safetensors: the saved graph is damaged: {re.escape(name)} {message}"):
        Graph.load(run.path)


def test_verification_names_every_problem_at_once(run: RunFolder):
    assert verify_run(run.path) == (run.path, True, ())
    (run.path / "member-1" / "best.safetensors").write_bytes(b"x")
    run.rules_file.unlink()
    run.trace_file.write_text("no trace\n")
    found = verify_run(run.path).problems
    for name in ("member-1/best.safetensors", "rules.parquet", "trace.jsonl:1"):
        assert any(f"{run.path}/{name}: " in problem for problem in found), name


def test_an_unfinished_run_is_verified_by_what_is_there(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = create_run(small_graph, small_config, tmp_path / "run")
    assert verify_run(run.path) == (run.path, False, ())
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(3))
    assert verify_run(run.path) == (run.path, False, ())
    run.last_file.write_bytes(run.last_file.read_bytes()[:-1])
    (problem,) = verify_run(run.path).problems
    assert problem.startswith(f"{run.last_file}: damaged checkpoint")


def test_a_file_is_hashed_once_and_again_when_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import os
    import time

    file = tmp_path / "big"
    file.write_bytes(b"one")
    later = time.time_ns() + 10**10
    monkeypatch.setattr("foretime.runs.manifest.time.time_ns", lambda: later)
    first = listed(file)
    read = [key for key in _hashes if key[0] == str(file)]
    assert listed(file) == first
    assert [key for key in _hashes if key[0] == str(file)] == read
    assert len(read) == 1
    file.write_bytes(b"two")
    os.utime(file, ns=(5, 5))
    assert listed(file) != first


def test_a_manifest_that_was_written_by_hand_is_refused(run: RunFolder):
    content = json.loads(run.manifest_file.read_bytes())
    sizes = [{"files": {"config.toml": {"size": size, "sha256": ""}}} for size in (None, "1", -1, 1.5)]
    others = [{"files": {"../x": {"size": 1, "sha256": ""}}}, {"files": [1]}]
    for change in ({"format": 2}, {"changing": 5}, *others, *sizes):
        run.manifest_file.write_text(json.dumps(content | change))
        with pytest.raises(RunError, match=r"manifest\.json: damaged \(.*\); restore it, or, if nothing else"):
            ft.open_run(run.path)


def test_training_answers_while_it_goes_on(small_graph: Graph, small_config: Config, tmp_path: Path):
    class Asking(Callback):
        asked = 0

        def epoch(self, record):
            self.asked += len(answers(tmp_path / "run")) > 0

    heard = Asking()
    train(small_graph, small_config, tmp_path / "run", heard)
    assert heard.asked >= 2
