"""Time and memory of rule mining: on a benchmark graph, on growing worlds, and against a scipy.sparse reference.

    python -m benchmarks.rule_mining graph data/icews05-15 --out benchmarks/results/rule_mining_icews05-15.json
    python -m benchmarks.rule_mining growth --out benchmarks/results/rule_mining_growth.json --plot docs/rule_mining.svg
    python -m benchmarks.rule_mining reference --out benchmarks/results/rule_mining_reference.json

Each measured run is a process of its own, so that its peak memory is its own; compiled kernels are in numba's cache,
and the time of compiling, which is spent once on a machine, is reported apart.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from foretime.config import RulesConfig
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.files import write_json
from foretime.rules.static import mine_static
from foretime.rules.table import Rules
from foretime.rules.temporal import mine_temporal

WIDE = RulesConfig()


def measure_graph(path: Path, window: int) -> dict[str, Any]:
    """Return times, rules and peak memory of both kinds of mining on one graph, in this process."""
    from foretime.runs.machine import machine, peak_memory_mb

    graph = read_graph(path)
    sizes = (len(graph.entities), len(graph.predicates), len(graph.timeline))
    compiling = _timed(lambda: _mine_both(_tiny(), window))[0]
    static_seconds, static = _timed(lambda: mine_static(graph.train, sizes[0], sizes[1], WIDE))
    settings = RulesConfig(window=window, support=0, head_coverage=0.01)
    temporal_seconds, temporal = _timed(lambda: mine_temporal(static, graph.train, sizes, settings))
    return {
        "data": graph.name,
        "events": len(graph.train),
        "window": window,
        "static_seconds": static_seconds,
        "static_rules": _by_kind(static),
        "temporal_seconds": temporal_seconds,
        "temporal_rules": {str(name): int((temporal.pattern == name).sum()) for name in np.unique(temporal.pattern)},
        "warm_up_seconds": compiling,
        "peak_memory_mb": peak_memory_mb(),
        "machine": machine(),
    }


def growth(sizes: list[int]) -> list[dict[str, Any]]:
    """Return the measures of built-in worlds of growing size, each in its own process."""
    rows = []
    for events in sizes:
        with tempfile.TemporaryDirectory() as folder:
            generate_world(events=events, seed=0).write(Path(folder))
            rows.append({"asked": events, **_in_own_process(Path(folder), window=5)})
        shown = ("asked", "static_seconds", "temporal_seconds", "peak_memory_mb")
        print(json.dumps({key: rows[-1][key] for key in shown}), file=sys.stderr)
    return rows


def reference(events: int) -> dict[str, Any]:
    """Return the ratio of a plain scipy.sparse count of all static rules to ours, on one world, counts compared."""
    with tempfile.TemporaryDirectory() as folder:
        generate_world(events=events, seed=0).write(Path(folder))
        graph = read_graph(Path(folder))
    everything = RulesConfig(static_support=1, static_head_coverage=0.0)
    entities, predicates = len(graph.entities), len(graph.predicates)
    mine_static(graph.train, entities, predicates, everything)
    ours_seconds, ours = _timed(lambda: mine_static(graph.train, entities, predicates, everything))
    plain_seconds, plain = _timed(lambda: sparse_paths(graph))
    paths = ours.take(ours.shape == "path")
    found = {
        (int(h), int(a), int(b)): (int(s), int(c))
        for h, a, b, s, c in zip(paths.head, paths.first, paths.second, paths.support, paths.body_count, strict=True)
    }
    return {
        "events": events,
        "paths": len(plain),
        "counts_agree": found == plain,
        "ours_seconds": ours_seconds,
        "scipy_seconds": plain_seconds,
        "ratio": plain_seconds / ours_seconds,
        "note": "ours counts singles and conjunctions too, and the PCA confidence; scipy counts paths alone",
    }


def sparse_paths(graph: Graph) -> dict[tuple[int, int, int], tuple[int, int]]:
    """Return support and body pairs of every path rule with support, by products of sparse matrices."""
    from scipy import sparse

    count, entities = len(graph.predicates), len(graph.entities)
    both = graph.train.with_inverses(count)
    matrices = []
    for q in range(2 * count):
        rows = both.predicate == q
        matrix = sparse.csr_array(
            (np.ones(rows.sum(), dtype=np.int32), (both.subject[rows], both.object[rows])), (entities, entities)
        )
        matrix.data[:] = 1
        matrices.append(matrix)
    found = {}
    for a in range(2 * count):
        for b in range(2 * count):
            body = matrices[a] @ matrices[b]
            body.data[:] = 1
            for head in range(count):
                support = body.multiply(matrices[head]).nnz
                if support:
                    found[head, a, b] = (support, body.nnz)
    return found


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw time and memory against the number of events."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    events = [row["events"] for row in rows]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name, marker in (("static_seconds", "o"), ("temporal_seconds", "s")):
        left.plot(events, [row[name] for row in rows], marker=marker, label=name.removesuffix("_seconds"))
    right.plot(events, [row["peak_memory_mb"] for row in rows], marker="o", color="0.3")
    left.set(xscale="log", yscale="log", xlabel="training events", ylabel="seconds", title="time of mining")
    right.set(xscale="log", yscale="log", xlabel="training events", ylabel="MB", title="peak memory, data included")
    left.legend()
    figure.savefig(path)


def _mine_both(graph: Graph, window: int) -> Rules:
    sizes = (len(graph.entities), len(graph.predicates), len(graph.timeline))
    static = mine_static(graph.train, sizes[0], sizes[1], WIDE)
    return mine_temporal(static, graph.train, sizes, RulesConfig(window=window, support=0, head_coverage=0.01))


def _tiny() -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        generate_world(events=2000, seed=0).write(Path(folder))
        return read_graph(Path(folder))


def _by_kind(rules: Rules) -> dict[str, int]:
    single = rules.second < 0
    return {
        "length 1": int(single.sum()),
        "conjunctions": int(((rules.shape == "pair") & ~single).sum()),
        "paths": int((rules.shape == "path").sum()),
    }


def _in_own_process(path: Path, window: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "graph", str(path), "--window", str(window)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _timed(job: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    result = job()
    return time.perf_counter() - began, result


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["graph", "growth", "reference"])
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--window", type=int, default=19)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--events", type=int, default=100_000, help="of the world of the reference")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    if arguments.what == "graph":
        if arguments.data is None:
            parser.error("name a graph")
        result: Any = measure_graph(arguments.data, arguments.window)
    elif arguments.what == "growth":
        result = growth(arguments.sizes)
    else:
        result = reference(arguments.events)
    print(json.dumps(result, indent=2))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)
    if arguments.plot and arguments.what == "growth":
        plot(result, arguments.plot)


if __name__ == "__main__":
    main()
