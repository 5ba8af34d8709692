"""The MRR on valid of E1 + λ·E2 for a row of weights λ, from a run of LCGE, or from two runs that were trained apart.

    python -m benchmarks.commonsense_weight runs/icews14-lcge --out benchmarks/results/commonsense_weight.json
    python -m benchmarks.commonsense_weight runs/icews14-tntcomplex runs/icews14-complex

With `softmax = "each"` the two parts of LCGE share no weights, and Adagrad does not see the scale of a loss, so that
training them together with any λ gives the same weights as training them apart: λ can be chosen afterwards, and λ = 0 is
the ablation. Test is not looked at.
"""

from __future__ import annotations

import foretime  # noqa: F401, first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
from pathlib import Path

import torch

from foretime.data.facts import Facts
from foretime.evaluation import AnswerIndex, Metrics, questions_of, rank
from foretime.evaluation.ranks import score_questions
from foretime.files import write_json
from foretime.inference.predictor import Predictor

WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5)


def main() -> None:
    """Rank valid once for each weight, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("event", type=Path, help="a run of LCGE, or of E1 alone, such as TNTComplEx")
    parser.add_argument("commonsense", type=Path, nargs="?", help="a run of E2, ComplEx; not for a run of LCGE")
    parser.add_argument("--weights", type=float, nargs="+", default=WEIGHTS)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    first = Predictor.open(arguments.event)
    graph = first.graph
    if arguments.commonsense is None:
        event, commonsense = first.model.event, first.model.commonsense
    else:
        second = Predictor.open(arguments.commonsense)
        event, commonsense = first.model, second.model
        if graph.fingerprint() != second.graph.fingerprint():
            parser.error("the two runs were trained on different graphs")
    questions, known = questions_of(graph.valid, len(graph.predicates)), AnswerIndex.of(graph, "exact")
    names = [run.name for run in (arguments.event, arguments.commonsense) if run is not None]
    result = {"runs": names, "split": "valid", "mrr": {}}
    for weight in arguments.weights:

        def scorer(part: Facts, weight: float = weight) -> torch.Tensor:
            scores = score_questions(event, part)
            return scores.add_(score_questions(commonsense, part), alpha=weight) if weight else scores

        result["mrr"][str(weight)] = Metrics.of(rank(scorer, questions, known).realistic).mrr
        print(json.dumps({"weight": weight, "valid_mrr": result["mrr"][str(weight)]}), flush=True)
    result["best"] = max(result["mrr"], key=result["mrr"].get)
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
