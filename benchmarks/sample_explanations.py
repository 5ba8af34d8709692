"""Explanations of test questions drawn at random, to be read by people.

    python -m benchmarks.sample_explanations runs/icews14-lcge-evidence-refit --out benchmarks/results/explanations_icews14.md

The best answer of each question that is not known yet is explained; where it is wrong, against the true one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from foretime.inference.predictor import Predictor
from foretime.runs.folder import RunFolder


def main() -> None:
    """Draw, explain, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--reasons", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    text = explanations(arguments.run, arguments.count, arguments.reasons, arguments.seed)
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


def explanations(path: Path, count: int, reasons: int, seed: int) -> str:
    """Return the explanations one after the other, as Markdown."""
    graph, explainer = RunFolder.open(path).graph(), Predictor.open(path).explainer
    parts = []
    drawn = np.random.default_rng(seed).choice(len(graph.test), count, replace=False)
    for number, place in enumerate(drawn, 1):
        fact = graph.test.take(slice(place, place + 1))
        subject, true = (graph.entities.name(int(ids[0])) for ids in (fact.subject, fact.object))
        asked = {
            "subject": subject,
            "predicate": graph.predicates.name(int(fact.predicate[0])),
            "time": graph.timeline.label(int(fact.start[0])),
        }
        best = explainer.predictor.predict(**asked, top=1, already_known="hide")[0]
        right = best.name == true
        explained = explainer.explain(**asked, object=best.name, competitor=None if right else true, top=reasons)
        parts.append(f"# {number}. {'right' if right else f'wrong: it was {true}'}\n\n")
        parts.append(explained.to_markdown(reasons) + "\n")
    return "".join(parts)


if __name__ == "__main__":
    main()
