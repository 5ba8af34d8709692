"""Whole runs on a device that is not here: trained, re-ranked, calibrated and reported, and opened on another one."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.devices.pretended import ELSEWHERE, StrayError, elsewhere
from tests.reranker.reranked_runs import interval_graph

import foretime as ft
from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.devices import CPU
from foretime.errors import ConfigError
from foretime.runs.fingerprint import config_hash
from foretime.runs.folder import RunFolder
from foretime.runs.life import train
from foretime.runs.loading import load_model
from foretime.training.checkpoint import read_checkpoint

SETTINGS = {
    "model.name": "lcge", "model.rank": 4, "evidence.use": True, "evidence.families": ["pair", "object", "affinity"],
    "reranker.use": True, "reranker.trees": 4, "training.epochs": 2, "training.batch_size": 200,
    "training.valid_every": 1, "training.threads": 1,
}  # fmt: skip
FIGURES = ("mrr", "hits@1", "hits@10")


@pytest.fixture(scope="module", params=["points", "intervals"])
def graph(request: pytest.FixtureRequest, small_graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Graph:
    if request.param == "points":
        return small_graph
    return interval_graph(tmp_path_factory.mktemp("intervals") / "offices.tsv")


@pytest.fixture(scope="module")
def config(graph: Graph) -> Config:
    ends = {"training.boundary_relations": "separate"} if graph.has_intervals else {}
    return override(Config(), SETTINGS | ends)


@pytest.fixture(scope="module")
def here(graph: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run on the CPU."""
    return train(graph, config, tmp_path_factory.mktemp("here") / "run")


@pytest.fixture(scope="module")
def there(graph: Graph, config: Config, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The same run elsewhere."""
    with pytest.MonkeyPatch.context() as patch, elsewhere(patch) as device:
        run = train(graph, config, tmp_path_factory.mktemp("there") / "run")
    assert device.operations > 1000
    return run


def test_a_run_elsewhere_is_that_of_the_cpu(here: RunFolder, there: RunFolder):
    expected, found = here.report(), there.report()
    assert (expected["machine"]["device"], found["machine"]["device"]) == ("cpu", "meta")
    for split in ("valid", "test"):
        for name in FIGURES:
            assert found[split]["all"][name] == pytest.approx(expected[split]["all"][name], abs=0.02)
    assert found["calibration"].keys() == expected["calibration"].keys()
    weights = [read_checkpoint(run.last_file)[0] for run in (here, there)]
    assert weights[0].keys() == weights[1].keys()
    assert all(tensor.device == CPU for tensor in weights[1].values())
    traces = [[line["event_loss"] for line in run.trace()] for run in (here, there)]
    assert traces[1] == pytest.approx(traces[0], rel=1e-3)


def test_a_run_answers_on_another_device_than_it_was_trained_on(there: RunFolder, graph: Graph, monkeypatch):
    """Its answers here are those that it gives there, to the last digits that rounding leaves."""
    row = next(iter(graph.rows("test")))
    asked = dict(zip(("subject", "predicate", "object"), row[:3], strict=True)) | {"time": row[-1]}
    for left_out in asked:
        question = {key: value for key, value in asked.items() if key != left_out}
        answers = ft.open_run(there.path).predict(**question, top=3)
        with elsewhere(monkeypatch):
            far = ft.open_run(there.path)
            assert far.predictor.model.device == ELSEWHERE
            found = far.predict(**question, top=3)
            best = far.predict(subject=row[0], time=row[-1], top=2)
        assert [one.score for one in found] == pytest.approx([one.score for one in answers], abs=1e-3)
    assert len(best) == 2


def test_a_training_goes_on_on_another_device(there: RunFolder, graph: Graph, config: Config, tmp_path: Path):
    """What Adagrad and Adam keep fits wherever it was made."""
    for optimizer in ("adagrad", "adam"):
        own = override(config, {"training.optimizer": optimizer, "reranker.use": False})
        with pytest.MonkeyPatch.context() as patch, elsewhere(patch):
            run = train(graph, own, tmp_path / optimizer, with_test=False)
        first = read_checkpoint(run.last_file)[1]
        ft.resume(run.path, epochs=3, test=False, device="cpu")
        after = read_checkpoint(run.last_file)[1]
        assert (first.epoch, after.epoch) == (2, 3)
        assert run.trace()[2]["event_loss"] < run.trace()[0]["event_loss"]


def test_a_stray_tensor_stops_a_run(graph: Graph, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The checks of this file can fail: a mask that ranking forgets on the CPU is found."""
    monkeypatch.setattr("foretime.evaluation.ranks.send", lambda values, device: torch.as_tensor(np.asarray(values)))
    with pytest.raises(StrayError), elsewhere(monkeypatch):
        train(graph, override(config, {"reranker.use": False}), tmp_path / "run")


def test_the_device_is_no_part_of_what_is_trained(here: RunFolder, tmp_path: Path):
    config = here.config()
    assert config.training.device == "auto"
    named = override(config, {"training.device": "cuda:1"})
    assert config_hash(named) == config_hash(config)


def test_a_run_of_a_device_that_is_not_here_answers_where_it_is_opened(here: RunFolder, monkeypatch):
    far = override(here.config(), {"training.device": "cuda:7"})
    assert load_model(here, far, here.graph()).device == CPU
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    with pytest.raises(ConfigError, match=r'^device "cuda" is not there: torch .* is a build without CUDA; install'):
        ft.open_run(here.path, device="cuda")
