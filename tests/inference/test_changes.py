"""Events, rules and predicates as a user writes them, and what is said of those that are not there."""

import json
from pathlib import Path

import pytest

from foretime.data.graph import Graph, read_graph
from foretime.errors import QuestionError
from foretime.inference.changes import EventIds, read_event, read_removal
from foretime.inference.explanation.events import DatedEvent
from foretime.inference.run import Run
from foretime.rules.rule import RuleIds

ROWS = [
    ("Rome", "Protest, riot", "Police (Rome)", "2020-01-01"),
    ("Rome, Italy", "Meet", "Paris", "2020-01-02"),
    ("Paris", "Meet", "Rome", "2020-01-05"),
    ("Paris", "Meet", "Italy, Rome", "2020-01-05"),
    ("Paris", "Meet, Rome", "Italy", "2020-01-06"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    path = tmp_path_factory.mktemp("changes") / "events.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in ROWS * 3), encoding="utf-8")
    return read_graph(path)


@pytest.mark.parametrize("row", ROWS[:3])
def test_an_event_may_be_written_in_many_ways(graph: Graph, row: tuple[str, str, str, str]):
    s, p, o, t = row
    wanted = (graph.entities.id(s), graph.predicates.id(p), graph.entities.id(o), graph.timeline.step(t))
    slots = {"subject": s, "predicate": p, "object": o, "time": t}
    written = [row, slots, json.dumps(slots), " | ".join(row), "\t".join(row), ", ".join(row), f"({', '.join(row)})"]
    for given in [*written, DatedEvent("before", *row)]:
        assert read_event(given, graph) == EventIds(*wanted, wanted[3], whole=False)
        assert read_removal(given, graph) == read_event(given, graph)


def test_a_predicate_and_a_rule_are_told_from_an_event(graph: Graph):
    assert read_removal("Protest, riot", graph) == graph.predicates.id("Protest, riot")
    rule = read_removal("Meet(x, y, t+t1) <= Protest, riot(y, x, t)  [SC 0.30]", graph)
    assert isinstance(rule, RuleIds)
    assert rule.head == graph.predicates.id("Meet")
    assert rule.body == (graph.predicates.id("Protest, riot") + len(graph.predicates),)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("Meat", "'Meat' is no predicate; did you mean 'Meet'"),
        ("Rome | Meat | Paris | 2020-01-01", "unknown predicate 'Meat'; did you mean 'Meet'"),
        ("Rom, Meet, Paris, 2020-01-01", "unknown entity 'Rom'; did you mean 'Rome'"),
        ("Rome | Meet | Paris", "3 fields; an event is"),
        ("Rome | Meet | Paris | 2021-01-01", "not on the timeline"),
        ("Paris, Meet, Rome, Italy, 2020-01-05", "can be read in several ways between its commas"),
        ("Paris, Meet, Italy, Rome, Italy, 2020-01-05", "no names of the graph between its commas"),
        ('{"subject": "Rome"}', "has no predicate"),
        ('{"subject": ', "not valid JSON"),
        ("Meet(x, y) <= Greet(x, y)", "unknown predicate 'Greet'"),
    ],
)
def test_what_cannot_be_meant_is_said(graph: Graph, given: str, said: str):
    with pytest.raises(QuestionError) as error:
        read_removal(given, graph)
    assert said in str(error.value)


def test_an_event_that_is_not_there_is_answered_by_the_nearest_ones(evidence_run: Path):
    run = Run(evidence_run)
    there = next(iter(run.graph.rows("train")))
    same = sorted(row[3] for row in run.graph.rows("train") if row[:3] == there[:3])
    other = next(label for label in map(run.graph.timeline.label, range(100)) if label not in same)
    with pytest.raises(QuestionError) as error:
        run.what_if(without=[(*there[:3], other)])
    nearest = min(same, key=lambda time: abs(run.graph.timeline.step(time) - run.graph.timeline.step(other)))
    assert f"did you mean ({', '.join((*there[:3], nearest))})" in str(error.value)


def test_a_run_that_looks_up_no_events_says_so(small_run: Path):
    with pytest.raises(QuestionError, match="looks up no events"):
        Run(small_run).what_if(past_only=True)
