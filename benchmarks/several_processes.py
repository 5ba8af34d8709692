"""An epoch by 1, 2 and 4 processes: what they send each other, what each holds, and how far they come apart.

    python -m benchmarks.several_processes data/icews14 --out benchmarks/results/several_processes.json

Every process is started as a launcher does it, all on this machine. How far weights come apart in single precision is
compared with how far one process is from itself in double precision: that is what rounding does by itself. Seconds are
printed and not written: processes that share a core say nothing about several machines.
"""

from __future__ import annotations

import foretime  # noqa: F401, first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from foretime.config import Config, override
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.files import write_json
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run
from foretime.runs.machine import machine, peak_memory_mb
from foretime.training.callbacks import Callback
from foretime.training.checkpoint import read_checkpoint
from foretime.training.distributed.team import SeveralProcesses, Team, team_of_launcher
from foretime.training.trainer import Trainer

SIZES = (1, 2, 4)
SETTINGS = {
    "training.epochs": 1, "training.threads": 1, "training.device": "cpu", "training.checkpoint_seconds": 1e6,
    "training.valid_limit": 100, "training.batch_size": 1000,
}  # fmt: skip


class BytesOfSteps(Callback):
    """Counts what is sent from the end of the first step to the end of the last one."""

    def __init__(self, team: Team) -> None:
        self._team, self.bytes, self.steps, self.seconds = team, 0, 0, 0.0

    def step(self, epoch: int, step: int, loss: float) -> None:
        """Take the numbers so far."""
        sent = self._team.bytes if isinstance(self._team, SeveralProcesses) else 0
        if step == 1:
            self._first, self._began = sent, time.monotonic()
        self.bytes, self.steps, self.seconds = sent - self._first, step - 1, time.monotonic() - self._began


def compute_in_double() -> None:
    """Compute in double precision from here on, with the initial weights of single precision."""
    drawn = torch.randn
    torch.set_default_dtype(torch.float64)
    torch.randn = lambda *sizes, **named: drawn(*sizes, dtype=torch.float32, **named).double()
    torch.Tensor.float = lambda self: self  # type: ignore[method-assign]


def train_here(folder: Path, in_double: bool) -> dict[str, Any]:
    """Train a run in this process, with the others if there are any, and return what it has cost."""
    if in_double:
        compute_in_double()
    run, team = RunFolder(folder), team_of_launcher()
    graph, counted = run.graph(), BytesOfSteps(team)
    trainer = Trainer(run, run.config(), graph, counted, rules=run.rules(graph), team=team)
    trainer.fit()
    held = sum(table.numel() for table in trainer.model.parameters())
    seconds = counted.seconds / counted.steps
    return {"bytes": counted.bytes / counted.steps, "weights": held, "peak_memory_mb": peak_memory_mb(), "s": seconds}


def train_together(folder: Path, size: int, in_double: bool = False) -> list[dict[str, Any]]:
    """Train a run in so many processes, and return what each has to say."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    command = [sys.executable, "-m", "benchmarks.several_processes", str(folder), "--child", *["--double"] * in_double]
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo", "WORLD_SIZE": str(size)}
    processes = [
        subprocess.Popen(command, env=os.environ | address | {"RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
        for rank in range(size)
    ]
    said = [process.communicate()[0] for process in processes]
    return [json.loads(text.splitlines()[-1]) for text in said]


def apart(one: Path, other: Path) -> dict[str, float]:
    """Return the largest difference of losses, and of weights, and the root of the mean square of the latter."""
    first, second = (read_checkpoint(RunFolder(folder).best_file)[0] for folder in (one, other))
    differences = torch.cat([(first[name].double() - second[name].double()).abs().view(-1) for name in first])
    traces = [RunFolder(folder).trace()[-1] for folder in (one, other)]
    losses = max(abs(traces[0][name] - traces[1][name]) for name in traces[0] if name.endswith("loss"))
    mrr = abs(traces[0]["valid_mrr"] - traces[1]["valid_mrr"])
    mean = float(differences.square().mean().sqrt())
    return {"losses": losses, "weights": float(differences.max()), "weights_mean": mean, "valid_mrr": mrr}


def measure(graph: Graph, model: str, rank: int, folder: Path) -> dict[str, Any]:
    """Return what an epoch of a model is in each number of processes, and in one in double precision."""
    settings = SETTINGS | {"model.name": model, "model.rank": rank}
    config = override(Config(), settings)
    runs = {size: create_run(graph, config, folder / f"{model}-{size}").path for size in SIZES}
    in_double = create_run(graph, config, folder / f"{model}-double").path
    train_together(in_double, 1, in_double=True)
    found: dict[str, Any] = {"model": model, "rank": rank, "double": {}, "processes": {}}
    for size, run in runs.items():
        each = train_together(run, size)
        print(f"{model}, {size} processes: {max(one.pop('s') for one in each):.3f} s a step", file=sys.stderr)
        found["processes"][str(size)] = {
            "sent_per_step": max(one["bytes"] for one in each),
            "weights_held": max(one["weights"] for one in each),
            "peak_memory_mb": [one["peak_memory_mb"] for one in each],
            "from_one_process": apart(run, runs[1]),
        }
    found["double"] = {"from_one_process": apart(in_double, runs[1])}
    return found


def main() -> None:
    """Measure, or be one of the processes that are measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a folder of splits, or `world` for a built-in one")
    parser.add_argument("--models", nargs="+", default=["tntcomplex", "lcge"])
    parser.add_argument("--rank", type=int, default=100)
    parser.add_argument("--events", type=int, default=20_000, help="of a built-in world")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--double", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(train_here(given.data, given.double)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built_in = str(given.data) == "world"
        graph = read_graph(generate_world(given.events).write(folder / "world") if built_in else given.data)
        found = {
            "graph": {"name": graph.name, "train": len(graph.train), "entities": len(graph.entities)},
            "machine": machine(),
            "models": [measure(graph, model, given.rank, folder) for model in given.models],
        }
    print(json.dumps(found, indent=2))
    if given.out:
        write_json(given.out, found)


if __name__ == "__main__":
    main()
