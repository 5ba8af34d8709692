"""Trainings that are stopped on the way, and what they leave behind."""

from pathlib import Path

import safetensors.torch

from foretime.training import Listener, RunFolder


class StopAfter(Listener):
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
