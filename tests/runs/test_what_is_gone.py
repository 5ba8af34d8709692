"""What is added to a finished run is missed when it is gone: updates, and the backtests that have ranked test."""

import json
import shutil
from pathlib import Path

import pytest

import foretime as ft
from foretime.errors import RunError
from foretime.runs.folder import RunFolder
from foretime.runs.verify import verify_run

EVENTS = [("state 1", "visits", "Atlantis", "2020-10-01"), ("state 2", "visits", "Atlantis", "2020-10-02")]
BACKTEST = {"at": "2026-01-01T00:00:00+00:00", "first": "2020-10-01", "last": "2020-10-24", "test_facts": 60}


@pytest.fixture
def updated(small_run: Path, tmp_path: Path) -> Path:
    run = ft.Run(Path(shutil.copytree(small_run, tmp_path / "run")))
    for event in EVENTS:
        run.update([event])
    return run.path


@pytest.mark.parametrize("number", [1, 2])
def test_a_run_without_one_of_its_updates_is_refused(updated: Path, number: int):
    file = updated / "updates" / f"{number:06}.jsonl"
    content = file.read_bytes()
    file.unlink()
    with pytest.raises(RunError, match=rf"{file.name}: missing, .*; restore it .* {number:06}\.undone\.jsonl in its"):
        _ = ft.open_run(updated).updates
    assert len(verify_run(updated).problems) == 1
    file.with_name(f"{number:06}.undone.jsonl").touch()  # as the message has it
    assert [one.number for one in ft.open_run(updated).updates] == [3 - number]
    file.with_name(f"{number:06}.undone.jsonl").unlink()
    file.write_bytes(content)
    assert len(ft.open_run(updated).updates) == 2


def test_an_update_is_listed_the_next_time_where_it_was_not(updated: Path):
    listed = updated / "updates" / "list.json"
    content = listed.read_bytes()
    assert len(json.loads(content)["sha256"]) == 2
    listed.unlink()  # as if its writer had been killed before it
    run = ft.open_run(updated)
    assert len(run.updates) == 2
    assert run.update([EVENTS[0]]).new == 0
    assert listed.read_bytes() == content
    assert run.undo_update() is not None
    assert listed.read_bytes() == content, "numbers are never used twice"


def test_an_update_of_another_run_is_refused(updated: Path, small_run: Path, tmp_path: Path):
    other = ft.Run(Path(shutil.copytree(small_run, tmp_path / "other")))
    for event in (EVENTS[0], ("state 3", "visits", "Atlantis", "2020-10-02")):
        other.update([event])
    for number in (2, 1):  # the second number 1 is one of the same run
        source = other.path if number == 2 else updated
        shutil.copy(source / "updates" / "000002.jsonl", updated / "updates" / f"{number:06}.jsonl")
        with pytest.raises(RunError, match=rf"{number:06}\.jsonl: damaged: it is another update than list\.json has"):
            _ = ft.open_run(updated).updates
        shutil.rmtree(updated / "updates")
        shutil.copytree(other.path / "updates", updated / "updates")
        assert len(ft.open_run(updated).updates) == 2, "all of them together are as they were written"


@pytest.mark.parametrize("content", [b"{}", b"[2]", b'{"sha256": 2}', b'{"sha256": [2]}', b"\xff", b"[" * 100_000])
def test_a_damaged_list_is_told(updated: Path, content: bytes):
    (updated / "updates" / "list.json").write_bytes(content)
    with pytest.raises(RunError, match=r"list\.json: damaged: .*; if every update is there, remove it"):
        _ = ft.open_run(updated).updates


def test_no_word_of_the_header_of_an_update_may_change(updated: Path):
    file = updated / "updates" / "000002.jsonl"
    head, _, body = file.read_text(encoding="utf-8").partition("\n")
    header = json.loads(head)
    for name in header:
        for other in (0, "x", None):
            file.write_text(json.dumps(header | {name: other}) + "\n" + body, encoding="utf-8")
            with pytest.raises(RunError, match=r"000002\.jsonl: damaged: "):
                _ = ft.open_run(updated).updates


@pytest.fixture
def tested(small_run: Path, tmp_path: Path) -> RunFolder:
    run = RunFolder(shutil.copytree(small_run, tmp_path / "run"))
    for _ in range(2):
        run.add_backtest(BACKTEST)
    return run


def test_a_backtest_is_listed_and_one_that_is_not_yet_is_fine(tested: RunFolder):
    assert tested.backtests() == [BACKTEST] * 2
    tested.check()
    listed = tested.manifest_file.read_bytes()
    tested.add_backtest(BACKTEST)
    tested.manifest_file.write_bytes(listed)  # as if the process had been killed before it
    tested.check()
    assert len(tested.backtests()) == 3


def test_backtests_that_have_changed_or_gone_are_missed(tested: RunFolder):
    content = tested.backtests_file.read_bytes()
    first = content[: content.index(b"\n") + 1]
    for changed in (b"", first, first + first, content.replace(b"60", b"61"), content[:-2], None):
        if changed is None:
            tested.backtests_file.unlink()
        else:
            tested.backtests_file.write_bytes(changed)
        with pytest.raises(RunError, match=r"backtests\.jsonl: (missing|damaged), .*; restore it from a copy"):
            ft.open_run(tested.path).predictor  # noqa: B018


@pytest.mark.parametrize("more", [b"{}\n", b"[]\n", b"7\n", b"{", b"\0", b"again"])
def test_a_line_that_is_none_of_a_backtest_is_told(tested: RunFolder, more: bytes):
    content = tested.backtests_file.read_bytes()
    tested.backtests_file.write_bytes(content + (content if more == b"again" else more))
    with pytest.raises(RunError, match=r"backtests\.jsonl: damaged \(.*\); restore the file or remove it"):
        tested.backtests()
