"""What an entity does on a day, and to whom: recall of the true events that train and valid do not have.

    python -m benchmarks.two_slots RUN [--split test] [--questions 200]

A question (s, ?, ?, t) is asked for a subject and a step of the split; its true answers are all events of the subject at
that step in the split. Counting offers the events that the subject has in train: the most frequent first, the nearest in
time first, or both together (the sum of 1 / (1 + distance)); the best of the three stands in the table.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from foretime.data.facts import Facts
from foretime.files import write_json
from foretime.inference.answers import Question
from foretime.inference.predictor import Predictor
from foretime.runs.folder import RunFolder

RESULTS = Path(__file__).parent / "results"
TOP = 10
Pair = tuple[int, int]


def counted(train: Facts, subject: int, time: int, known: set[Pair]) -> dict[str, list[Pair]]:
    """Return the first pairs of predicate and object by each way of counting, without those that are known."""
    own = train.take(train.subject == subject)
    scores: dict[str, dict[Pair, float]] = {way: defaultdict(float) for way in ("frequency", "recency", "both")}
    for predicate, object_, step in zip(own.predicate.tolist(), own.object.tolist(), own.start.tolist(), strict=True):
        pair, near = (predicate, object_), 1 / (1 + abs(step - time))
        scores["frequency"][pair] += 1 + 1e-6 * near
        scores["recency"][pair] = max(scores["recency"][pair], near)
        scores["both"][pair] += near
    return {
        way: sorted((pair for pair in found if pair not in known), key=lambda pair: -found[pair])[:TOP]
        for way, found in scores.items()
    }


def main() -> None:
    """Ask, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--split", default="valid", choices=("valid", "test"))
    parser.add_argument("--questions", type=int, default=200)
    asked = parser.parse_args()
    predictor = Predictor.open(RunFolder.open(asked.run))
    graph = predictor.graph
    truth: dict[Pair, set[Pair]] = defaultdict(set)
    facts = graph.facts(asked.split)
    for s, p, o, t in zip(*(column.tolist() for column in facts.columns()[:4]), strict=True):
        truth[s, t].add((p, o))
    keys = sorted(truth)
    chosen = np.random.default_rng(0).permutation(len(keys))[: asked.questions]
    hits: dict[str, float] = defaultdict(float)
    total = 0
    for subject, time in (keys[place] for place in chosen):
        splits = ["train"] if asked.split == "valid" else ["train", "valid"]
        seen = [graph.facts(split) for split in splits]
        known = {
            pair
            for some in seen
            for pair in zip(
                *(c[(some.subject == subject) & (some.start == time)].tolist() for c in (some.predicate, some.object)),
                strict=True,
            )
        }
        question = Question(subject=graph.entities.name(subject), time=graph.timeline.label(time))
        true = truth[subject, time] - known
        total += len(true)
        ways = counted(graph.train, subject, time, known)
        if true:
            listed = predictor.predict_many([question], 3 * TOP + len(known) + len(true), "mark")[0]
            pairs = ((graph.predicates.id(a.names["predicate"]), graph.entities.id(a.names["object"])) for a in listed)
            ways["model"] = [pair for pair in pairs if pair not in known][:TOP]
        for way, found in ways.items():
            hits[way] += len(true & set(found))
    recall = {way: hit / total for way, hit in hits.items()}
    best = max(value for way, value in recall.items() if way != "model")
    result: dict[str, Any] = {
        "run": Path(asked.run).name,
        "split": asked.split,
        "questions": len(chosen),
        "events": total,
    }
    result |= {"recall@10": recall, "times counting": recall["model"] / best}
    print(result)
    write_json(RESULTS / f"two_slots_{graph.name}_{asked.split}.json", result)


if __name__ == "__main__":
    main()
