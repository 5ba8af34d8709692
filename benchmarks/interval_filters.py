"""One run on a graph of intervals, its test split ranked under the three named filters.

python -m benchmarks.interval_filters runs/wikidata12k-lcge --out benchmarks/results/interval_filters.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from foretime.evaluation import evaluate, model_scorer
from foretime.files import write_json
from foretime.inference.predictor import Predictor


def main() -> None:
    """Rank, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    predictor = Predictor.open(arguments.run)
    scorer, graph = model_scorer(predictor.model), predictor.graph
    filters = {name: evaluate(scorer, graph, "test", name).all.to_dict() for name in ("exact", "valid-at", "points")}
    result = {"run": arguments.run.name, "data": graph.name, "filters": filters}
    print(json.dumps(result, indent=2))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
