"""The recurrency baseline on a graph in the order of time, single-step and multi-step, chosen on valid.

python -m benchmarks.recurrency data/icews14 --valid-from 2014-11-01 --test-from 2014-12-01 --name icews14-a
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from foretime.data.facts import concatenate
from foretime.data.graph import Graph, load
from foretime.evaluation.protocols import ProtocolName, splits_under
from foretime.evaluation.recurrency import RecurrencyBaseline, evaluate_baseline
from foretime.files import write_json
from foretime.runs.machine import machine

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Choose on valid, rank test, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a folder of splits or a file of events")
    parser.add_argument("--valid-from", help="split anew: where valid begins")
    parser.add_argument("--test-from", help="where test begins")
    parser.add_argument("--name", help="of the results file; the name of the graph by default")
    parser.add_argument(
        "--choose-on", type=int, help="how many facts of valid to choose on, drawn by a fixed seed; all by default"
    )
    parser.add_argument("--protocols", nargs="+", choices=("single-step", "multi-step"))
    arguments = parser.parse_args()
    graph = load(arguments.data, valid_from=arguments.valid_from, test_from=arguments.test_from)
    result: dict[str, Any] = {
        "data": graph.name, "fingerprint": graph.fingerprint(), "valid_from": arguments.valid_from,
        "test_from": arguments.test_from, "facts": graph.describe().facts, "machine": machine(),
    }  # fmt: skip
    for protocol in arguments.protocols or ("single-step", "multi-step"):
        result[protocol] = measure(graph, protocol, arguments.choose_on)
        print(protocol, result[protocol], flush=True)
    file = RESULTS / f"recurrency_{arguments.name or graph.name}.json"
    write_json(file, result)
    print(f"written to {file}")


def measure(graph: Graph, protocol: ProtocolName, choose_on: int | None) -> dict[str, Any]:
    """Return the figures on valid and test, λ and α chosen on valid, or on so many facts of it, as they are asked."""
    began = time.perf_counter()
    drawn = np.random.default_rng(0).permutation(len(graph.valid))[:choose_on]
    chosen = baseline_of(graph, protocol, "valid").choose(graph.valid.take(np.sort(drawn)))
    on_test = baseline_of(graph, protocol, "test")
    on_test = replace(on_test, decay=chosen.decay, mix=chosen.mix)
    found: dict[str, Any] = {"chosen on": len(drawn), "valid": evaluate_baseline(chosen, "valid").to_dict()}
    found["test"] = evaluate_baseline(on_test, "test").to_dict()
    return found | {"seconds": round(time.perf_counter() - began, 1)}


def baseline_of(graph: Graph, protocol: ProtocolName, split: str) -> RecurrencyBaseline:
    """Return the baseline over what the questions of a split may see."""
    facts = concatenate([graph.facts(name) for name in splits_under(protocol, split)])
    until = None if protocol == "single-step" else int(np.min(graph.facts(split).known_ends()[0]))
    return RecurrencyBaseline.of(graph, facts, until)


if __name__ == "__main__":
    main()
