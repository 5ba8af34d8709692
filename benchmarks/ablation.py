"""The paper's Table 4 done honestly: LCGE, without RGPR, without commonsense, on the same seeds.

    python -m benchmarks.ablation configs/ablation/icews14-lcge.toml --seeds 0 1 2 --out benchmarks/results/ablation.json

Every variant is the configuration with one weight set to zero, as the paper defines it: −RGPR is `penalties.event_rules`,
−TIS is `model.commonsense_weight`. One more is a control: the same rules with their heads shuffled, so that whatever it
gains does not come from what the rules say. Runs go into `--folder`, one for each variant and seed; finished ones are not trained
again and interrupted ones are resumed, so that the command can be stopped and repeated. The best epoch of each run is chosen on
valid; test is ranked once for each.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from foretime.config import Config, override, read_config
from foretime.data.graph import read_graph
from foretime.files import write_json
from foretime.rules.mining import mine_rules
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume
from foretime.training.callbacks import Callback

VARIANTS: dict[str, dict[str, Any]] = {
    "LCGE": {},
    "-RGPR": {"penalties.event_rules": 0.0},
    "-TIS": {"model.commonsense_weight": 0.0},
    "shuffled": {"rules.file": "shuffled.parquet"},
}


class Lines(Callback):
    """Prints a line for every evaluated epoch."""

    def __init__(self, name: str) -> None:
        self._name = name

    def epoch(self, record: dict[str, Any]) -> None:
        """Print the epoch and its MRR on valid."""
        if "valid_mrr" in record:
            print(f"{self._name} epoch {record['epoch']} valid {record['valid_mrr']:.4f}", flush=True)


def shuffle_rules(config: Config, folder: Path) -> Path:
    """Return a file of the configured rules, the heads of each pattern and shape shuffled among them."""
    path = folder / "shuffled.parquet"
    if not path.exists():
        graph = read_graph(config.data.path, config.data)
        rules, generator = mine_rules(graph, config.rules), np.random.default_rng(0)
        head = rules.head.copy()
        for pattern in np.unique(rules.pattern):
            for shape in np.unique(rules.shape):
                rows = np.flatnonzero((rules.pattern == pattern) & (rules.shape == shape))
                head[rows] = head[generator.permutation(rows)]
        kept = [row for row in range(len(head)) if head[row] not in (rules.first[row], rules.second[row])]
        shuffled = replace(rules, head=head).take(np.array(kept))
        distinct = {rule: row for row, rule in enumerate(shuffled.all_ids())}
        path.parent.mkdir(parents=True, exist_ok=True)
        shuffled.take(np.array(sorted(distinct.values()))).save(path)
    return path


def run_variant(config: Config, folder: Path, name: str) -> dict[str, Any]:
    """Return the report of one run, trained as far as it is not yet."""
    run = RunFolder(folder / name)
    if not run.config_file.exists():
        create_run(read_graph(config.data.path, config.data), config, run.path)
    if not run.report_file.exists():
        resume(run.path, Lines(name))
    return run.report()


def summary(values: list[float]) -> dict[str, Any]:
    """Return mean, spread and values."""
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return {"mean": statistics.mean(values), "standard_deviation": spread, "values": values}


def main() -> None:
    """Train what is missing, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--control-seeds", type=int, nargs="+", help="seeds of the shuffled control; all by default")
    parser.add_argument("--folder", type=Path, default=Path("runs/ablation"))
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    base = read_config(arguments.config)
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in VARIANTS}
    for seed in arguments.seeds:
        for name, changes in VARIANTS.items():
            if name == "shuffled" and seed not in (arguments.control_seeds or arguments.seeds):
                continue
            if "rules.file" in changes:
                changes = {"rules.file": str(shuffle_rules(base, arguments.folder))}
            config = override(base, {**changes, "training.seed": seed})
            reports[name].append(run_variant(config, arguments.folder, f"{arguments.config.stem}{name}-{seed}"))
    result = {
        "config": arguments.config.name,
        "seeds": arguments.seeds,
        "rules": reports["LCGE"][0]["rules"],
        "variants": {
            name: {split: summary([report[split]["all"]["mrr"] for report in found]) for split in ("valid", "test")}
            for name, found in reports.items()
        },
    }
    print(json.dumps(result, indent=2))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
