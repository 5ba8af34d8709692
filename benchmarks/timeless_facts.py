"""What facts are worth once their time is lost: a third of train without its times, as background or thrown away.

    python -m benchmarks.timeless_facts wikidata12k --runs runs/timeless --out benchmarks/results/timeless_facts.json

Three runs of one preset on one graph, with the same names, the same timeline and the same questions: `dropped` trains on
two thirds of train alone; `background` has the other third as facts without a time; `dated` is train as it is. Which
facts lose their time is drawn by the seed. The epoch is chosen on valid, and test is ranked once. A run that is there
already is not trained again, so that the command can be interrupted. With `--page` the table of docs/evidence.md is
written from the figures of `--out`, and nothing is trained.
"""

from __future__ import annotations

import foretime as ft  # first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import marks
from foretime.data.facts import UNKNOWN, Facts, empty_facts
from foretime.data.graph import Graph
from foretime.files import write_json

VARIANTS = ("dropped", "background", "dated")
PAGE = "evidence.md"


def without_times(facts: Facts) -> Facts:
    """Return the facts without their times."""
    unknown = np.full(len(facts), UNKNOWN)
    return replace(facts, start=unknown, end=unknown)


def variants(graph: Graph, share: float, seed: int) -> dict[str, Graph]:
    """Return the graph with a share of train thrown away, as background, and as it is."""
    lost = np.random.default_rng(seed).random(len(graph.train)) < share
    kept, background = graph.train.take(~lost), without_times(graph.train.take(lost))
    return {
        "dropped": replace(graph, train=kept, background=empty_facts()),
        "background": replace(graph, train=kept, background=background),
        "dated": graph,
    }


def measure(graph: Graph, preset: Any, folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a run, which is trained if it is not there yet."""
    if (folder / "report.json").is_file():
        run = ft.open_run(folder)
    else:
        run = ft.train(graph, preset=preset, folder=folder, settings=settings)
    report = run.report
    return {
        "train": len(graph.train),
        "background": len(graph.background),
        "valid": {name: report["valid"]["all"][name] for name in ("mrr", "hits@1", "hits@10")},
        "test": {name: report["test"]["all"][name] for name in ("mrr", "hits@1", "hits@10")},
        "training_seconds": report["training_seconds"],
    }


def table(result: dict[str, Any]) -> list[str]:
    """Return the table of the page, a line for each run that there is."""
    runs = {name: result["runs"][name] for name in VARIANTS if name in result["runs"]}
    said = f"{result['graph']}, preset `{result['preset']}`, {result['share']:.0%} of train, seed {result['seed']}"
    settings = ", ".join(f"`{name} = {json.dumps(value)}`" for name, value in result["settings"].items())
    return [
        f"{said}{', ' if settings else ''}{settings} ([figures](../benchmarks/results/timeless_facts.json)):",
        "",
        "| run | dated facts of train | facts without a time | valid MRR | test MRR | test H@1 | test H@10 |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(f"| `{name}` | {run['train']:,} | {run['background']:,} | {_figures(run)} |" for name, run in runs.items()),
    ]


def _figures(run: dict[str, Any]) -> str:
    test = run["test"]
    values = (run["valid"]["mrr"], test["mrr"], test["hits@1"], test["hits@10"])
    return " | ".join(f"{value:.4f}" for value in values)


def main() -> None:
    """Train the runs one after the other, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", nargs="?", help="a folder, or the name of a downloaded dataset")
    parser.add_argument("--preset", default="quick", help="a preset, such as quick")
    parser.add_argument("--share", type=float, default=1 / 3, help="the share of train that loses its times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings, as JSON values")
    parser.add_argument("--runs", type=Path, help="where the runs are kept")
    parser.add_argument("--out", type=Path, help="where the figures go, beside those of other variants")
    parser.add_argument(
        "--page", action="store_true", help="write the table of docs/evidence.md from the file of --out"
    )
    arguments = parser.parse_args()
    if arguments.page:
        if not (arguments.out and arguments.out.is_file()):
            parser.error("--page needs the figures: give their file with --out")
        marks.fill(marks.DOCS / PAGE, {"timeless": table(json.loads(arguments.out.read_text(encoding="utf-8")))})
        return
    if not (arguments.graph and arguments.runs):
        parser.error("give a graph, and --runs")
    settings = {name: json.loads(value) for name, value in (one.split("=", 1) for one in arguments.set)}
    graphs = variants(ft.load(arguments.graph), arguments.share, arguments.seed)
    result: dict[str, Any] = {
        "graph": Path(arguments.graph).name,
        "preset": arguments.preset,
        "share": arguments.share,
        "seed": arguments.seed,
        "settings": settings,
        "runs": {},
    }
    if arguments.out and arguments.out.is_file():
        earlier = json.loads(arguments.out.read_text(encoding="utf-8"))
        if {**earlier, "runs": {}} == result:
            result = earlier
    for name in arguments.variants:
        found = measure(graphs[name], arguments.preset, arguments.runs / name, {"training.threads": 1, **settings})
        result["runs"][name] = found
        print(json.dumps({"variant": name, **found}), flush=True)
        if arguments.out:
            arguments.out.parent.mkdir(parents=True, exist_ok=True)
            write_json(arguments.out, result)


if __name__ == "__main__":
    main()
