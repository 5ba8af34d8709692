"""Trainings that are stopped on the way, and what they leave behind."""

from pathlib import Path

import pytest
import safetensors.torch

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import Interrupted
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume, train
from foretime.training.callbacks import Callback


class StopAfter(Callback):
    """Asks training to stop after some steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def stop_wanted(self) -> bool:
        self.left -= 1
        return self.left < 0


def bytes_of(run: Path) -> dict[str, bytes]:
    """The weights of both checkpoints, and the trace without its times."""
    found = {}
    for name in ("last", "best"):
        for key, value in safetensors.torch.load_file(run / f"{name}.safetensors").items():
            found[f"{name}.{key}"] = value.numpy().tobytes()
    trace = [{k: v for k, v in line.items() if k != "seconds"} for line in RunFolder(run).trace()]
    return {**found, "trace": repr(trace).encode()}


def check_resumes(graph: Graph, config: Config, folder: Path, stops: tuple[int, ...] = (0, 3, 4)) -> Path:
    """Assert that a run which is stopped after so many steps, again and again, ends as one that is not; return it."""
    whole = train(graph, config, folder / "whole").path
    broken = create_run(graph, config, folder / "broken").path
    for steps in stops:
        with pytest.raises(Interrupted):
            resume(broken, StopAfter(steps))
    resume(broken)
    assert bytes_of(broken) == bytes_of(whole)
    return broken
