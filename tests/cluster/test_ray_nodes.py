"""Tasks on a Ray cluster of this machine: what they report, how they stop, and what no node can do."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("ray") is None:  # it is not imported yet: first it has to be told to stay on 127.0.0.1
    pytest.skip("needs pip install 'foretime[cluster]'", allow_module_level=True)

from benchmarks.cluster_nodes import LocalCluster

from foretime.errors import ConfigError, ForetimeError, Interrupted
from foretime.runs.executor import Task, open_executor, run_all
from foretime.training.callbacks import Callback, TrainingPlan

HERE = Path(__file__).parent
pytestmark = pytest.mark.cluster


def echo(callback: Callback, words: list[str]) -> None:
    for word in words:
        callback.epoch({"word": word})


def wait(callback: Callback) -> None:
    """Wait until it is asked to stop, as a training does."""
    callback.begin(TrainingPlan(1, 1, 1, 1, 0, None))
    callback.epoch({"word": "waiting"})
    while not callback.stop_wanted():
        time.sleep(0.05)
    raise Interrupted("stopped")


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{HERE}:{HERE.parents[1]}:{HERE.parents[1]}/src")  # nodes know these tasks
        with LocalCluster(2) as found:
            yield found


def task(folder: Path, function=echo, threads: int = 1, **arguments: object) -> Task:
    return Task(function.__name__, function, arguments, folder, threads, remedy="resume it")


def test_tasks_report_in_order_and_are_stopped_before_the_cluster_is_left(cluster: LocalCluster, tmp_path: Path):
    with open_executor(1, cluster.address) as executor:
        heard = run_all(executor, [task(tmp_path, words=["a", "b", "c"])], lambda: False)
        assert [report["epoch"]["word"] for _, report in heard] == ["a", "b", "c"]
        begun: list[object] = []
        waiting = run_all(executor, [task(tmp_path, wait)], lambda: bool(begun))
        begun.append(next(waiting))
        with pytest.raises(Interrupted):
            next(waiting)
        assert executor.working == []
    assert list(tmp_path.iterdir()) == []


def test_what_no_node_can_do_is_told(cluster: LocalCluster, tmp_path: Path):
    with open_executor(1, cluster.address) as executor:
        with pytest.raises(ConfigError, match=r"takes 4 threads, and the largest node .* cores: 1;"):
            list(run_all(executor, [task(tmp_path, threads=4, words=[])], lambda: False))
        missing = task(tmp_path / "elsewhere", words=[])
        with pytest.raises(ForetimeError, match=r"^echo: node .* has no folder .*elsewhere; the nodes of a"):
            list(run_all(executor, [missing], lambda: False))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nonsense"])
def test_a_cluster_that_is_not_there_is_told_at_once(address: str):
    with pytest.raises(ConfigError, match=rf"^--cluster {address}: .*; start a cluster \(docs/cluster\.md\)"):
        open_executor(1, address)
