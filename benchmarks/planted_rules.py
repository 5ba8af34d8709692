"""Whether mining finds the rules that were planted in the built-in world, and with which confidence.

    python -m benchmarks.planted_rules --out benchmarks/results/planted_rules.json

The rules are mined from the whole world (all splits, as they were planted) at the default thresholds and the world's own
window. Recall is the share of planted rules that are found. Precision is the share of found rules that were planted, to
the letter: a found rule that only follows from planted ones, such as one read backwards, counts against it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from foretime.config import RulesConfig
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import PlantedRule, generate_world
from foretime.files import write_json
from foretime.rules.mining import mine_rules
from foretime.rules.parsing import parse_rule
from foretime.rules.rule import RuleIds, named_rule


def compare(events: int, seed: int) -> dict[str, Any]:
    """Return recall, precision and both confidences of each planted rule of one world."""
    world = generate_world(events=events, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        world.write(Path(folder))
        graph = read_graph(Path(folder))
    config = RulesConfig(window=world.rules[0].window, splits=["train", "valid", "test"])
    mined = mine_rules(graph, config)
    found = {mined.ids(row): row for row in range(len(mined))}
    planted = {planted_rule(rule, graph): rule for rule in world.rules}
    rows = [
        {
            "rule": str(source).split("  [")[0],
            "pattern": source.pattern,
            "planted": source.probability,
            "mined": float(mined.confidence[found[rule]]) if rule in found else None,
            "head_coverage": float(mined.head_coverage[found[rule]]) if rule in found else None,
        }
        for rule, source in planted.items()
    ]
    hits = len(planted.keys() & found.keys())
    return {
        "events": events,
        "seed": seed,
        "window": config.window,
        "planted": len(planted),
        "found": len(found),
        "recall": hits / len(planted),
        "precision": hits / len(found),
        "largest_error": max(abs(row["planted"] - row["mined"]) for row in rows if row["mined"] is not None),
        "rules": rows,
        "others": [named_rule(rule, graph.predicates).statement for rule in found if rule not in planted],
    }


def planted_rule(rule: PlantedRule, graph: Graph) -> RuleIds:
    """Return a planted rule as ids, in its one form."""
    return parse_rule(str(rule).split("  [")[0], graph.predicates)[0]


def main() -> None:
    """Compare, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    result = compare(arguments.events, arguments.seed)
    print(json.dumps(result, indent=2, ensure_ascii=False))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
