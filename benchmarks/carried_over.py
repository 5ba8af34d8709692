"""How far rules and trees that were learned on one graph carry to another, without any training there.

    python -m benchmarks.carried_over runs/icews14-a-forecast runs/icews05-15-forecast --facts 4000

Ranks a sample of the test facts of the second run's graph twice, single-step: by the second run, and by the first on
that graph (`run.on`). Writes benchmarks/results/carried_over.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import foretime as ft
from foretime.evaluation import AnswerIndex, questions_of
from foretime.evaluation.metrics import Metrics
from foretime.evaluation.ranks import rank
from foretime.files import write_json
from foretime.runs.machine import machine
from foretime.runs.protocols import ask

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Rank the sample by both, and write what they reach."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("learned", type=Path, help="the run whose rules and trees are carried over")
    parser.add_argument("trained", type=Path, help="the run that was trained on the other graph")
    parser.add_argument("--facts", type=int, default=4000, help="how many test facts are asked, drawn by a fixed seed")
    given = parser.parse_args()
    learned, trained = ft.open_run(given.learned), ft.open_run(given.trained)
    graph = trained.graph
    drawn = np.random.default_rng(0).permutation(len(graph.test))[: given.facts]
    questions, answers = questions_of(graph.test.take(np.sort(drawn)), len(graph.predicates)), AnswerIndex.of(graph)
    view = learned.on(graph)
    scorers = {"carried over": view.predictor.scorer, "trained there": trained.predictor.scorer}
    found = {
        name: Metrics.of(
            rank(ask(scorer, graph, trained.config.evidence, "test").scorer.score, questions, answers).realistic
        )
        for name, scorer in scorers.items()
    }
    result = {
        "learned on": learned.graph.name, "asked about": graph.name, "fingerprint": graph.fingerprint(),
        "test facts": len(drawn), "predicates without a match": len(view.unmatched),
        **{name: metrics.to_dict() for name, metrics in found.items()},
        "share of the MRR": found["carried over"].mrr / found["trained there"].mrr, "machine": machine(),
    }  # fmt: skip
    write_json(RESULTS / "carried_over.json", result)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
