"""Shows that work on a Ray cluster whose nodes are killed ends as on one machine, and how fast two nodes are.

    python -m benchmarks.cluster --part train --part bench --part questions --part speed --out benchmarks/results/cluster.json

`train`, `bench` and `questions` use three nodes of one core, all on this machine, and kill one of them at random ten
times; what comes of it is compared, byte by byte, with what one process makes. `speed` trains the same run on one node
and on two, and needs two idle cores. Parts that are not named keep what the file has.
"""

from __future__ import annotations

import foretime as ft  # first of all: it sets the environment before torch is imported

# isort: split
import argparse
import hashlib
import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from benchmarks.cluster_nodes import Killer, LocalCluster
from foretime.config import config_text, override
from foretime.files import read_json, write_json
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_of

NODES, KILLS, QUESTIONS = 3, 10, 100_000
ONE_THREAD = {"training.threads": 1}
OUT_OF_FOLD = {
    "model.name": "lcge", "model.rank": 8, "evidence.use": True, "training.epochs": 12, "training.batch_size": 200,
    "training.checkpoint_seconds": 0.5, "training.valid_every": 3, "training.patience": 100, "reranker.use": True,
    "reranker.fit": "out-of-fold", "reranker.folds": 3, "reranker.top": 20, "reranker.trees": 20, **ONE_THREAD,
}  # fmt: skip
ONE_TRAINING = {**OUT_OF_FOLD, "reranker.use": False}
SPEED = {
    **OUT_OF_FOLD, "model.rank": 200, "training.epochs": 40, "training.checkpoint_seconds": 60.0,
    "training.batch_size": 1000,
}  # fmt: skip
"""Trainings that are long beside what the machine of the command does alone: the re-ranker and the report."""
BENCH = """
[bench]
runs = "{runs}"
results = "{results}"
[[run]]
config = "settings.toml"
seeds = {seeds}
"""
TIMES = ("seconds", "training_seconds", "peak_memory_mb", "machine", "version")
"""What a report or a result says of the machine and not of the run."""


class EachEpoch(ft.Callback):
    """Calls something after each epoch."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act

    def epoch(self, record: dict[str, Any]) -> None:
        """Call it."""
        self._act()


def digests(folder: Path) -> dict[str, str]:
    """Return a sha256 of all that a run has learned and found: weights, trees and figures, without times."""
    run = RunFolder(folder)
    found = {}
    for job in jobs_of(run.config()):
        own = job.folder(run)
        for file in (own.last_file, own.best_file):
            tensors = sorted(safetensors.numpy.load_file(file).items())
            found[f"{job.name or 'base model'}: {file.name}"] = digest(
                [(name, array.tobytes()) for name, array in tensors]
            )
        found[f"{job.name or 'base model'}: trace"] = digest([without_times(line) for line in own.trace()])
    for file in sorted(run.path.glob("*.safetensors")):
        if file not in (run.last_file, run.best_file):
            found[file.name] = digest(file.read_bytes())
    return {**found, "report": digest(without_times(run.report()))}


def digest(value: object) -> str:
    """Return the sha256 of what a value looks like."""
    return hashlib.sha256(value if isinstance(value, bytes) else repr(value).encode()).hexdigest()


def without_times(values: dict[str, Any]) -> dict[str, Any]:
    """Return values without those that differ each time."""
    return {key: value for key, value in values.items() if key not in TIMES}


def train(folder: Path, kills: int = KILLS, events: int = 30_000, every: int = 3) -> dict[str, Any]:
    """Return how an out-of-fold training under kills compares with one process."""
    graph = ft.load(ft.generate_world(events, seed=1).write(folder / "world"))
    ft.train(graph, settings=OUT_OF_FOLD, model="lcge", folder=folder / "alone")
    with LocalCluster(NODES) as cluster:
        killer, began = Killer(cluster, kills, every), time.monotonic()
        hear = EachEpoch(killer.progress)
        ft.train(
            graph, settings=OUT_OF_FOLD, model="lcge", folder=folder / "cluster", cluster=cluster.address, callback=hear
        )
        killer.wait()
        seconds = time.monotonic() - began
    alone, other = digests(folder / "alone"), digests(folder / "cluster")
    return compared(alone, other) | {"kills": killer.kills, "events": events, "seconds": round(seconds, 1)}


def bench(folder: Path, kills: int = KILLS, events: int = 2_000, every: int = 3, seeds: int = 20) -> dict[str, Any]:
    """Return how a list of runs under kills compares with one process after the other."""
    ft.generate_world(events, seed=2).write(folder / "world")
    settings = ft.Config.model_validate({"data": {"path": str(folder / "world")}})
    (folder / "settings.toml").write_text(config_text(override(settings, ONE_TRAINING)), encoding="utf-8")
    rows = {}
    for name in ("alone", "cluster"):
        text = BENCH.format(runs=folder / name, results=folder / f"{name}.jsonl", seeds=list(range(seeds)))
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    alone = ft.run_benchmark(folder / "alone.toml")
    with LocalCluster(NODES) as cluster:
        killer, began = Killer(cluster, kills, every), time.monotonic()

        def hear(line: str) -> None:
            if "epoch " in line:
                killer.progress()

        other = ft.run_benchmark(folder / "cluster.toml", cluster=cluster.address, report=hear)
        killer.wait()
        seconds = time.monotonic() - began
    for name, results in (("alone", alone), ("cluster", other)):
        rows[name] = {}
        for own in results.standings:
            row = without_times(own.row or {})
            row["curve"] = [[epoch, mrr] for epoch, _, mrr in row["curve"]]
            found = digests(next((folder / name).glob(f"{own.planned.name}-*/config.toml")).parent)
            rows[name] |= {f"{own.planned.name}: {key}": value for key, value in found.items()}
            rows[name][f"{own.planned.name}: result"] = digest(row)
    return compared(rows["alone"], rows["cluster"]) | {"kills": killer.kills, "seconds": round(seconds, 1)}


def questions(folder: Path, kills: int = KILLS, count: int = QUESTIONS, events: int = 2_000) -> dict[str, Any]:
    """Return how the answers to a file of questions under kills compare with those of one process."""
    graph = ft.load(ft.generate_world(events, seed=3).write(folder / "world"))
    run = ft.train(
        graph, settings={"training.epochs": 2, "model.rank": 8, **ONE_THREAD}, model="complex", folder=folder / "run"
    )
    asked = folder / "questions.tsv"
    asked.write_text(questions_about(graph, count), encoding="utf-8")
    began = time.monotonic()
    run.answer_file(asked, folder / "alone.jsonl", top=3)
    alone = time.monotonic() - began
    out, parts = folder / "cluster.jsonl", folder / ".cluster.jsonl.parts"
    with LocalCluster(NODES) as cluster:
        killer, stop = Killer(cluster, kills, 1), threading.Event()

        def look() -> None:
            seen = 0
            while not stop.wait(0.2):
                done = len(list(parts.glob("*.jsonl"))) if parts.is_dir() else 0
                if done > seen:
                    killer.progress()
                seen = done

        looking = threading.Thread(target=look)
        looking.start()
        began = time.monotonic()
        run.answer_file(asked, out, top=3, cluster=cluster.address)
        seconds = time.monotonic() - began
        stop.set()
        looking.join()
        killer.wait()
    found = compared({"answers": digest((folder / "alone.jsonl").read_bytes())}, {"answers": digest(out.read_bytes())})
    return found | {
        "kills": killer.kills, "questions": count, "seconds": round(seconds, 1), "seconds_alone": round(alone, 1)
    }  # fmt: skip


def questions_about(graph: ft.Graph, count: int) -> str:
    """Return a table of questions about facts of a graph, one of whose slots is open: a subject or an object."""
    draw, facts = np.random.default_rng(0), graph.train
    lines = ["subject\tpredicate\tobject\ttime"]
    for row, slot in zip(draw.integers(len(facts), size=count), draw.integers(2, size=count), strict=True):
        names = [graph.entities.name(int(facts.subject[row])), graph.entities.name(int(facts.object[row]))]
        names[slot] = "?"
        predicate, day = graph.predicates.name(int(facts.predicate[row])), graph.timeline.label(int(facts.start[row]))
        lines.append(f"{names[0]}\t{predicate}\t{names[1]}\t{day}")
    return "\n".join(lines) + "\n"


def speed(folder: Path, events: int = 20_000) -> dict[str, Any]:
    """Return how long an out-of-fold run takes on one node of one core and on two."""
    graph, seconds, found = ft.load(ft.generate_world(events, seed=1).write(folder / "world")), {}, {}
    for nodes in (1, 2):
        with LocalCluster(nodes) as cluster:
            began = time.monotonic()
            ft.train(graph, settings=SPEED, model="lcge", folder=folder / f"{nodes}", cluster=cluster.address)
            seconds[nodes] = time.monotonic() - began
        found[nodes] = digests(folder / f"{nodes}")
    ratio = round(seconds[1] / seconds[2], 2)
    return compared(found[1], found[2]) | {
        "events": events,
        "seconds": {n: round(s, 1) for n, s in seconds.items()},
        "ratio": ratio,
    }


def compared(one: dict[str, str], other: dict[str, str]) -> dict[str, Any]:
    """Return how many digests there are, and which differ."""
    return {
        "compared": len(one),
        "different": sorted(key for key in one.keys() | other if one.get(key) != other.get(key)),
    }


PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "train": train,
    "bench": bench,
    "questions": questions,
    "speed": speed,
}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS, help="may be repeated; by default all")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    found: dict[str, Any] = read_json(arguments.out) if arguments.out and arguments.out.exists() else {}
    for part in arguments.part or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            found[part] = PARTS[part](Path(folder))
        print(part, found[part], flush=True)
        found["machine"] = {"cores": os.cpu_count(), "python": platform.python_version(), "ray": ray_version()}
        if arguments.out:
            write_json(arguments.out, found)


def ray_version() -> str:
    """Return the version of Ray."""
    import ray

    return str(ray.__version__)


if __name__ == "__main__":
    main()
