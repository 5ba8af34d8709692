"""The recall of two open slots, against loops over the rows of a small world."""

from pathlib import Path

import pytest
from benchmarks.two_slots import OPEN, TOP, counted, measure, true_pairs

from foretime.inference.predictor import Predictor


@pytest.fixture(scope="module")
def predictor(evidence_run: Path) -> Predictor:
    return Predictor.open(evidence_run)


@pytest.mark.parametrize("given", OPEN)
def test_recall_is_the_share_of_the_true_unseen_events_among_the_first_ten(predictor: Predictor, given: str):
    graph = predictor.graph
    names = ("subject", "predicate", "object", "time")
    rows = {split: [dict(zip(names, row, strict=True)) for row in graph.rows(split)] for split in ("train", "valid")}
    asked = sorted({(row[given], row["time"]) for row in rows["valid"]})
    hits = total = possible = 0
    for name, time in asked:
        seen, true = (
            {
                tuple(row[slot] for slot in OPEN[given])
                for row in rows[split]
                if (row[given], row["time"]) == (name, time)
            }
            for split in ("train", "valid")
        )
        answers = predictor.predict(**{given: name, "time": time}, top=200)
        pairs = (tuple(answer.names[slot] for slot in OPEN[given]) for answer in answers)
        hits += len((true - seen) & set([pair for pair in pairs if pair not in seen][:TOP]))
        total += len(true - seen)
        possible += min(TOP, len(true - seen))
    found = measure(predictor, "valid", given, len(asked))
    assert (found["questions"], found["events"]) == (len(asked), total)
    assert found["recall@10"]["model"] == pytest.approx(hits / total)
    assert found["possible"] == pytest.approx(possible / total)


@pytest.mark.parametrize("given", OPEN)
def test_counting_offers_the_most_frequent_and_the_nearest_pairs_first(predictor: Predictor, given: str):
    graph = predictor.graph
    train = graph.train
    (asked, time), true = max(true_pairs(graph.facts("valid"), given).items(), key=lambda item: len(item[1]))
    known = set(list(true)[:1])
    steps: dict[tuple[int, int], list[int]] = {}
    for row in range(len(train)):
        if getattr(train, given)[row] == asked:
            pair = tuple(int(getattr(train, slot)[row]) for slot in OPEN[given])
            steps.setdefault(pair, []).append(abs(int(train.start[row]) - time))
    ways = counted(train, given, asked, time, known)
    assert not known & {pair for found in ways.values() for pair in found}
    oracle = {
        "frequency": lambda pair: len(steps[pair]),
        "recency": lambda pair: -min(steps[pair]),
        "both": lambda pair: sum(1 / (1 + far) for far in steps[pair]),
    }
    for way, key in oracle.items():
        best = sorted((key(pair) for pair in steps if pair not in known), reverse=True)[:TOP]
        assert [key(pair) for pair in ways[way]] == pytest.approx(best)
