"""Writes the explanations of test questions drawn at random, as many right as wrong, to be read by people.

    python -m benchmarks.sample_explanations runs/icews14-quick --out benchmarks/results/explanations_icews14.md

Objects and subjects are asked for in turn. The best answer that is not known yet is explained; where it is wrong,
against the true one. The draw depends on the run and the seed alone, so two versions can be compared page by page.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from foretime.data.graph import Graph
from foretime.inference.predictor import Predictor
from foretime.runs.folder import RunFolder


def main() -> None:
    """Draw, explain, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--reasons", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    text = explanations(arguments.run, arguments.count, arguments.reasons, arguments.seed)
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


def explanations(path: Path, count: int, reasons: int, seed: int) -> str:
    """Return the explanations one after the other, as text within Markdown."""
    graph, explainer = RunFolder.open(path).graph(), Predictor.open(path).explainer
    left = {True: count - count // 2, False: count // 2}
    parts: list[str] = []
    for draw, place in enumerate(np.random.default_rng(seed).permutation(len(graph.test))):
        if not any(left.values()):
            break
        slot = ("object", "subject")[draw % 2]
        asked = slots_of(graph, int(place))
        true = asked.pop(slot)
        best = explainer.predictor.predict(**asked, top=1, already_known="hide")[0]
        right = best.name == true
        if not left[right]:
            continue
        left[right] -= 1
        rival = None if right else true
        explained = explainer.explain(**asked, **{slot: best.name}, slot=slot, competitor=rival, top=reasons)
        heading = f"# {count - sum(left.values())}. {'right' if right else f'wrong: it was {true}'}"
        parts.append(f"{heading}\n\n```text\n{explained.to_text(reasons)}\n```\n")
    return "\n".join(parts)


def slots_of(graph: Graph, place: int) -> dict[str, str]:
    """Return the slots of a test fact by name."""
    facts = graph.test.take(slice(place, place + 1))
    return {
        "subject": graph.entities.name(int(facts.subject[0])),
        "predicate": graph.predicates.name(int(facts.predicate[0])),
        "object": graph.entities.name(int(facts.object[0])),
        "time": graph.timeline.label(int(facts.start[0])),
    }


if __name__ == "__main__":
    main()
