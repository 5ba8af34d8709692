"""How well predicted intervals overlap with the true ones, beside counting, on facts whose ends are both known.

python -m benchmarks.intervals RUN [--split test]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from foretime.evaluation.counting import counting_intervals
from foretime.files import write_json
from foretime.reranker.slots.intervals import affinity
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_scorer

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Predict, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--split", default="valid", choices=("valid", "test"))
    asked = parser.parse_args()
    folder = RunFolder.open(asked.run)
    graph = folder.graph()
    facts = graph.facts(asked.split)
    facts = facts.take((facts.start >= 0) & (facts.end >= facts.start))
    ways = {
        "model": load_scorer(folder, folder.config(), graph).predict_intervals(facts),
        "counting": counting_intervals(graph, facts),
    }
    found = {name: float(affinity(*ends, facts.start, facts.end).mean()) for name, ends in ways.items() if ends}
    print(len(facts), "facts, aeIoU", found)
    write_json(
        RESULTS / f"intervals_{graph.name}_{asked.split}.json",
        {"run": folder.path.name, "split": asked.split, "facts": len(facts), "aeIoU": found},
    )


if __name__ == "__main__":
    main()
