"""The rules of the paper's Table 2 counted on ICEWS05-15, our figures beside the paper's.

    python -m benchmarks.paper_rules data/icews05-15 --out benchmarks/results/paper_rules.json

Each rule is counted in both ways, and looked up in the list that mining gives (train alone, SC ≥ 0.1, HC ≥ 0.01, static
rules of support ≥ 10, HC ≥ 0.01 and SC ≥ 0.1).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from foretime.config import RulesConfig
from foretime.data.graph import read_graph
from foretime.files import write_json
from foretime.rules.files import read_rules
from foretime.rules.mining import mine_rules, recount

TABLE = Path(__file__).with_name("paper_table2.txt")


def main() -> None:
    """Count, look up, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--window", type=int, default=19)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    graph = read_graph(arguments.data)
    printed = read_rules(TABLE, graph)
    windowed = RulesConfig(window=arguments.window, head_coverage=0.01)
    ours = recount(printed, graph, windowed)
    literal = recount(printed, graph, windowed.model_copy(update={"counting": "literal"}))
    mined = mine_rules(graph, windowed)
    listed = set(mined.all_ids())
    rows = [
        {
            "rule": printed[row].statement,
            "pattern": printed.ids(row).pattern,
            "paper": round(float(printed.confidence[row]), 4),
            "windowed": {
                "support": int(ours.support[row]),
                "bodies": int(ours.body_count[row]),
                "confidence": float(ours.confidence[row]),
                "head_coverage": float(ours.head_coverage[row]),
            },
            "literal": {
                "confidence": float(literal.confidence[row]),
                "head_coverage": float(literal.head_coverage[row]),
            },
            "in_our_list": printed.ids(row) in listed,
        }
        for row in range(len(printed))
    ]
    result = {"data": graph.name, "window": arguments.window, "mined": len(mined), "rules": rows}
    print(json.dumps(result, indent=2, ensure_ascii=False))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
