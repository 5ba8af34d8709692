from __future__ import annotations

import json
from collections import Counter

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from foretime.config import DataConfig
from foretime.data.graph import read_graph

rows = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("pq"), st.sampled_from("abc"), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@given(rows, rows, rows)
def test_repeated_and_leaked_facts_are_those_that_a_plain_loop_counts(train: list, valid: list, test: list) -> None:
    columns = ["subject", "predicate", "object", "time"]
    splits = {"train": train, "valid": valid, "test": test}
    summary = read_graph({name: pl.DataFrame(part, columns, orient="row") for name, part in splits.items()}).describe()
    assert summary.duplicates == {name: len(part) - len(set(part)) for name, part in splits.items()}
    earlier = {"train": set(), "valid": set(train), "test": {*train, *valid}}
    assert summary.leaked == {name: sum(row in earlier[name] for row in part) for name, part in splits.items()}
    seen = {name for s, _, o, _ in train for name in (s, o)}
    assert summary.unseen_entity["test"] == sum(not {s, o} <= seen for s, _, o, _ in test)
    assert summary.unseen_predicate["valid"] == sum(p not in {row[1] for row in train} for _, p, _, _ in valid)
    assert summary.self_loops["train"] == sum(s == o for s, _, o, _ in train)
    assert summary.frequent_predicates == dict(Counter(row[1] for row in [*train, *valid, *test]))
    times = Counter(row[3] for row in [*train, *valid, *test])
    assert summary.events_per_step["max"] == max(times.values())


def test_facts_that_fall_together_are_not_said_to_be_equal() -> None:
    rows = {"subject": ["a"] * 3, "predicate": ["p"] * 3, "object": ["b"] * 3}
    days = pl.DataFrame(rows | {"time": ["2020-01-06", "2020-01-07", "2020-01-08"]})
    splits = {"train": days, "valid": days[:1], "test": days[2:]}
    seen = "1 fact in an earlier split too (times compared by the week): answers that training or selection has seen"
    assert read_graph(splits, DataConfig(granularity="week")).describe().warnings() == [
        "train: 2 facts repeated (times compared by the week)",
        f"valid: {seen}",
        f"test: {seen}",
        "one predicate only: is another column the predicate? --columns says which is which",
        "one time only, 2020-W02: is another column the time, or the granularity too coarse?",
    ]
    binned = read_graph(splits, DataConfig(granularity="bins:1")).describe().warnings()
    assert binned[0] == "train: 2 facts repeated (times compared by the bin)"


def test_a_summary_is_json_and_its_warnings_are_sentences() -> None:
    row = {"subject": ["a"], "predicate": ["p"], "object": ["a"], "start": [5], "end": [3]}
    other = row | {"subject": ["z "], "predicate": ["q"]}
    summary = read_graph(
        {"train": pl.DataFrame(row), "valid": pl.DataFrame(row), "test": pl.DataFrame(other)}
    ).describe()
    report = json.loads(json.dumps(summary.to_dict()))
    assert report["warnings"] == [
        "valid: 1 fact in an earlier split too: answers that training or selection has seen",
        "test: 1 fact about an entity that train never shows: it can only be guessed",
        "test: 1 fact with a predicate that train never shows: it can only be guessed",
        "3 facts starting after the end; kept as written",
        "1 name with white space at an end, kept as written: 'z '",
    ]
