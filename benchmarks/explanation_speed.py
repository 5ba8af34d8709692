"""Measures how long one explanation takes, from the question to its text.

    python -m benchmarks.explanation_speed runs/icews14-quick --out benchmarks/results/explanation_speed.json

Facts of valid are drawn at random, each asked for its object and its subject in turn; nothing is kept from one question
to the next. The machine is written beside the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from foretime.inference.predictor import Predictor


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    found = measure(arguments.run, arguments.count, arguments.seed)
    found |= {
        "threads": arguments.threads,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "load": round(os.getloadavg()[0], 1),
    }
    text = json.dumps(found, indent=2)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")


def measure(path: Path, count: int, seed: int) -> dict[str, Any]:
    """Return the times of explanations in milliseconds: the median, the 95th of a hundred, and the processor's median."""
    explainer = Predictor.open(path).explainer
    graph = explainer.predictor.graph
    times, busy = [], []
    for place, row in enumerate(np.random.default_rng(seed).choice(len(graph.valid), count + 4, replace=False)):
        subject, predicate, object_, when, _ = (int(column[row]) for column in graph.valid.columns())
        names = {"subject": graph.entities.name(subject), "object": graph.entities.name(object_)}
        rest = {"predicate": graph.predicates.name(predicate), "time": graph.timeline.label(when)}
        begin, worked = time.perf_counter(), time.process_time()
        explainer.explain(**names, **rest, slot=("object", "subject")[place % 2]).to_text()
        times.append(1000 * (time.perf_counter() - begin))
        busy.append(1000 * (time.process_time() - worked))
    # the first compile what is compiled at first use
    p50, p95 = np.percentile(times[4:], [50, 95]).round(1).tolist()
    processor = round(float(np.median(busy[4:])), 1)
    return {"run": path.name, "explanations": count, "p50_ms": p50, "p95_ms": p95, "processor_p50_ms": processor}


if __name__ == "__main__":
    main()
