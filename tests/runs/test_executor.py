"""Tasks in processes of their own: what they say, how they end, and what happens if they die."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

import foretime
from foretime.errors import ConfigError, ForetimeError, Interrupted, RunError
from foretime.files import hold_file
from foretime.runs.executor import End, Executor, Heard, Processes, Task, open_executor, run_all, worker
from foretime.runs.executor.base import check_end
from foretime.runs.executor.ray_cluster import Mailbox, unfit
from foretime.training.callbacks import Callback


def echo(callback: Callback, words: list[str]) -> None:
    for word in words:
        callback.epoch({"word": word})


def request(function: str, folder: Path) -> dict[str, object]:
    return {"function": f"{__name__}:{function}", "arguments": {}, "lock": str(folder / ".task.lock"), "threads": 1}


def interrupted(_: Callback) -> None:
    raise Interrupted("stopped")


def refused(_: Callback) -> None:
    raise RunError("no run")


def wrong(_: Callback) -> None:
    raise ValueError("a bug")


def fine(callback: Callback) -> None:
    callback.announce("fitting")


def test_a_worker_sends_what_went_wrong_and_misses_its_parent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    sent: list[dict[str, object]] = []
    monkeypatch.setattr(worker, "send", lambda **content: sent.append(content))
    for function, code in (("interrupted", 130), ("refused", 2), ("fine", 0)):
        assert worker.work(request(function, tmp_path), os.getppid()) == code
    with pytest.raises(ValueError, match="a bug"):
        worker.work(request("wrong", tmp_path), os.getppid())
    assert sent == [{"fault": "no run"}, {"text": "fitting …"}, {"fault": "ValueError: a bug"}]
    assert worker.Reporter(os.getpid()).stop_wanted()
    assert not worker.Reporter(os.getppid()).stop_wanted()
    assert list(tmp_path.iterdir()) == []  # its lock is removed


def test_a_task_waits_for_another_process_that_still_does_it(tmp_path: Path):
    asked = request("fine", tmp_path)
    with hold_file(Path(str(asked["lock"]))) as lock:
        assert lock is not None
        with hold_file(Path(str(asked["lock"]))) as second:
            assert second is None
        assert worker.work(asked, os.getpid()) == worker.INTERRUPTED  # its parent is another, so it waits no longer
    assert worker.work(asked, os.getppid()) == 0


class Scripted(Executor):
    """Has no processes: each start of a task has the next of some endings."""

    def __init__(self, *endings: End | str, tries: int = 1) -> None:
        super().__init__()
        self.endings, self.tries, self.begun = list(endings), tries, 0

    def has_room(self, threads: int) -> bool:
        return not self.working

    def _begin(self, task: Task, lock: int | None) -> None:
        self.begun += 1
        while isinstance(ending := self.endings.pop(0), str):
            self._hear(task, {"epoch": 1, "text": ending})
        self._hear(task, ending)

    def _ask_to_stop(self, task: Task) -> None: ...

    def _kill(self, task: Task) -> None: ...


LOST, KILLED = End(-1, lost="its node died"), End(-9)


def task(tmp_path: Path, name: str = "fold 1") -> Task:
    return Task(name, echo, {"words": []}, tmp_path, remedy="resume it")


@pytest.mark.parametrize(
    ("endings", "tries", "said"),
    [
        ([KILLED, End(0)], 2, [f"{KILLED.how}; it begins again"]),
        ([LOST, "half", LOST, End(0)], 2, [f"{LOST.how}; it begins again", "half", f"{LOST.how}; it begins again"]),
        (["half", LOST, LOST, End(0)], 3, ["half", f"{LOST.how}; it begins again", f"{LOST.how}; it begins again"]),
    ],
)
def test_a_task_whose_process_dies_begins_again(tmp_path: Path, endings: list, tries: int, said: list[str]):
    executor = Scripted(*endings, tries=tries)
    texts = [report["text"] for _, report in run_all(executor, [task(tmp_path)], lambda: False)]
    assert [text.removeprefix("the training of fold 1 ") for text in texts] == said
    assert LOST.how == "was lost: its node died"
    assert executor.endings == []


@pytest.mark.parametrize(
    ("endings", "tries", "message"),
    [
        ([KILLED], 1, r"^the training of fold 1 was killed by signal 9, .*; resume it$"),
        ([LOST, LOST, LOST], 3, r"^the training of fold 1 was lost: its node died; resume it$"),
        ([End(2, "no rules")], 3, r"^fold 1: no rules$"),
        ([End(1)], 3, r"^the training of fold 1 ended with exit code 1; resume it$"),
        ([End(130)], 3, r"^the training of fold 1 ended with exit code 130; resume it$"),
    ],
)
def test_a_task_that_fails_or_dies_too_often_ends_all(tmp_path: Path, endings: list, tries: int, message: str):
    executor = Scripted(*endings, tries=tries)
    with pytest.raises(ForetimeError, match=message):
        list(run_all(executor, [task(tmp_path), task(tmp_path, "fold 2")], lambda: False))
    assert (executor.endings, executor.working) == ([], [])


@pytest.mark.parametrize("end", [End(0), End(130), End(-signal.SIGTERM), LOST])
def test_who_was_asked_to_stop_may_end_in_many_ways(tmp_path: Path, end: End):
    check_end(task(tmp_path), end, stopping=True)
    with pytest.raises(ForetimeError):
        check_end(task(tmp_path), End(2, "no"), stopping=True)


def test_nothing_is_begun_once_all_is_to_stop(tmp_path: Path):
    executor = Scripted(End(0), End(0))
    with pytest.raises(Interrupted):
        list(run_all(executor, [task(tmp_path), task(tmp_path, "fold 2")], lambda: executor.begun == 1))
    assert executor.begun == 1


def test_a_processes_words_come_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    own = Task("echo", echo, {"words": ["a", "b"]}, tmp_path)
    with open_executor(2) as executor:
        assert isinstance(executor, Processes)
        heard = [report["epoch"]["word"] for _, report in run_all(executor, [own], lambda: False)]
    assert heard == ["a", "b"]
    assert executor.next(0) is None
    assert Heard(own).report is None


def test_without_ray_a_cluster_is_an_error_with_its_remedy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    with pytest.raises(ConfigError, match=r"^Ray is not installed; pip install 'foretime\[cluster\]'$"):
        open_executor(1, "auto")
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "1"  # who wants them has them


def test_a_node_that_cannot_do_a_task_says_why(tmp_path: Path):
    asked = {"cwd": str(tmp_path), "folder": "run", "version": foretime.__version__}
    (tmp_path / "run").mkdir()
    assert unfit(asked) == ""
    assert re.fullmatch(r"node \S+ has foretime \S+; install 0\.0 there, as here", unfit(asked | {"version": "0.0"}))
    assert " has no folder other; the nodes of a cluster share " in unfit(asked | {"folder": "other"})
    assert f" has no folder {tmp_path}/gone; " in unfit(asked | {"cwd": f"{tmp_path}/gone"})


def test_a_mailbox_gives_each_report_once_and_says_who_is_to_stop():
    mailbox = Mailbox()
    assert mailbox.stop(2) is False  # it has not begun
    assert mailbox.put(1, []) == 0
    assert mailbox.put(2, [{"text": "a"}, {"text": "b"}]) == 1
    assert mailbox.take() == [(2, {"text": "a"}), (2, {"text": "b"})]
    assert mailbox.take() == []
    assert mailbox.stop(1) is True
    assert mailbox.stop(1) is True  # asked twice, it ends at once
    assert mailbox.put(1, []) == 2
