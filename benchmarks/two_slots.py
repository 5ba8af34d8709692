"""Two open slots: what an entity does on a day and to whom, and who does it to whom; recall of the true unseen events.

    python -m benchmarks.two_slots RUN [--split test] [--questions 200] [--given subject]

A question (s, ?, ?, t) is asked for a subject and a step of the split, a question (?, p, ?, t) for a predicate and a step;
its true answers are all such events of the split that are not known before. Counting offers the events in train that have
the subject, or the predicate: the most frequent first, the nearest in time first, or both together (the sum of
1 / (1 + distance)); the best of the three stands in the table. `possible` is the recall of a list that is all true: a day
may have more than ten such events.
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
OPEN = {"subject": ("predicate", "object"), "predicate": ("subject", "object")}
"""The two open slots of a question by the slot that it gives beside the time."""
FILES = {"subject": "two_slots", "predicate": "two_slots_of_predicate"}
Pair = tuple[int, int]


def counted(train: Facts, given: str, asked: int, time: int, known: set[Pair]) -> dict[str, list[Pair]]:
    """Return the first pairs for the open slots by each way of counting, without those that are known."""
    own = train.take(getattr(train, given) == asked)
    scores: dict[str, dict[Pair, float]] = {way: defaultdict(float) for way in ("frequency", "recency", "both")}
    for pair, step in zip(_pairs(own, given), own.start.tolist(), strict=True):
        near = 1 / (1 + abs(step - time))
        scores["frequency"][pair] += 1 + 1e-6 * near
        scores["recency"][pair] = max(scores["recency"][pair], near)
        scores["both"][pair] += near
    return {
        way: sorted((pair for pair in found if pair not in known), key=lambda pair: -found[pair])[:TOP]
        for way, found in scores.items()
    }


def true_pairs(facts: Facts, given: str) -> dict[Pair, set[Pair]]:
    """Return the pairs for the open slots by what a question gives: the id in its slot, and the step."""
    found: dict[Pair, set[Pair]] = defaultdict(set)
    keys = zip(getattr(facts, given).tolist(), facts.start.tolist(), strict=True)
    for key, pair in zip(keys, _pairs(facts, given), strict=True):
        found[key].add(pair)
    return found


def listed(predictor: Predictor, given: str, asked: int, time: int, known: set[Pair], top: int) -> list[Pair]:
    """Return the first pairs of the model, without those that are known, of its `top` first."""
    graph = predictor.graph
    names = {slot: predictor._names(slot) for slot in ("subject", "predicate", "object")}
    question = Question(**{given: names[given].name(asked)}, time=graph.timeline.label(time))
    answers = predictor.predict_many([question], top, "mark")[0]
    first, second = OPEN[given]
    pairs = ((names[first].id(one.names[first]), names[second].id(one.names[second])) for one in answers)
    return [pair for pair in pairs if pair not in known][:TOP]


def measure(predictor: Predictor, split: str, given: str, questions: int) -> dict[str, Any]:
    """Return the recall of the model and of counting over so many questions that are drawn from a split."""
    graph = predictor.graph
    truth = true_pairs(graph.facts(split), given)
    seen = [true_pairs(graph.facts(one), given) for one in ("train", "valid")[: 1 if split == "valid" else 2]]
    keys = sorted(truth)
    chosen = np.random.default_rng(0).permutation(len(keys))[:questions]
    hits: dict[str, int] = defaultdict(int)
    total = possible = 0
    for asked, time in (keys[place] for place in chosen):
        known = set().union(*(one.get((asked, time), set()) for one in seen))
        true = truth[asked, time] - known
        ways = counted(graph.train, given, asked, time, known)
        if true:
            ways["model"] = listed(predictor, given, asked, time, known, 3 * TOP + len(known) + len(true))
        for way, found in ways.items():
            hits[way] += len(true & set(found))
        total += len(true)
        possible += min(TOP, len(true))
    recall = {way: hit / total for way, hit in hits.items()}
    best = max(value for way, value in recall.items() if way != "model")
    result = {"split": split, "questions": len(chosen), "events": total, "recall@10": recall}
    return result | {"possible": possible / total, "times counting": recall["model"] / best if best else None}


def main() -> None:
    """Ask, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--split", default="valid", choices=("valid", "test"))
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--given", choices=tuple(OPEN), help="what is given beside the time; both in turn by default")
    asked = parser.parse_args()
    predictor = Predictor.open(RunFolder.open(asked.run))
    for given in [asked.given] if asked.given else OPEN:
        result = {"run": Path(asked.run).name, **measure(predictor, asked.split, given, asked.questions)}
        print(f"given the {given}: {result}")
        write_json(RESULTS / f"{FILES[given]}_{predictor.graph.name}_{asked.split}.json", result)


def _pairs(facts: Facts, given: str) -> list[Pair]:
    first, second = (getattr(facts, slot).tolist() for slot in OPEN[given])
    return list(zip(first, second, strict=True))


if __name__ == "__main__":
    main()
