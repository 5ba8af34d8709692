"""The MRR on valid for a row of weights of the rule penalty: E1 alone, one seed, a short training for each.

    python benchmarks/rule_weight.py configs/ablation/icews14-lcge.toml --out benchmarks/results/rule_weight.json

Test is not looked at. Runs go into `--folder`; finished ones are not trained again and interrupted ones go on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from foretime.config import override, read_config
from foretime.data.graph import read_graph
from foretime.files import write_json
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume

WEIGHTS = (0.0, 0.1, 1.0, 10.0, 100.0, 1000.0)


def main() -> None:
    """Train what is missing, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("--weights", type=float, nargs="+", default=WEIGHTS)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path("runs/rule_weight"))
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    base = override(
        read_config(arguments.config),
        {
            "model.commonsense_weight": 0.0,
            "training.epochs": arguments.epochs,
            "training.valid_every": arguments.epochs,
        },
    )
    graph = read_graph(base.data.path, base.data)
    mrr = {}
    for weight in arguments.weights:
        run = RunFolder(arguments.folder / f"{arguments.config.stem}-{weight}")
        if not run.config_file.exists():
            create_run(graph, override(base, {"penalties.event_rules": weight}), run.path)
        resume(run.path, with_test=False)
        mrr[str(weight)] = run.report()["valid"]["all"]["mrr"]
        print(json.dumps({"weight": weight, "valid_mrr": mrr[str(weight)]}), flush=True)
    rank = base.model.options.get("rank")
    result = {"config": arguments.config.name, "epochs": arguments.epochs, "rank": rank, "split": "valid", "mrr": mrr}
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
