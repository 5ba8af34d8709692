"""A run on another graph, and no look ahead: neither through splits nor through updates."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from foretime.config import Config, override
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph, read_graph
from foretime.data.vocabulary import Vocabulary
from foretime.errors import QuestionError
from foretime.inference.answers import Question
from foretime.inference.living import LivingState
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run
from foretime.reranker.other_evidence import EvidenceFilter
from foretime.runs.life import train


@pytest.fixture(scope="module")
def past_run(small_graph: Graph, reranked_config: Config, tmp_path_factory) -> Path:
    settings = {"evidence.past_only": True, "model.name": "rules"}
    return train(small_graph, override(reranked_config, settings), tmp_path_factory.mktemp("past") / "run").path


def other_graph(small: Graph, folder: Path) -> Graph:
    """Another graph of the same kind: other names, other days, most of the events, and one more predicate."""
    rows = [
        (f"land {a.split()[1]}", p, f"land {b.split()[1]}", str(np.datetime64(t) + 1000))
        for place, (a, p, b, t) in enumerate(small.rows())
        if place % 3
    ]
    rows += [("land 1", "trusts", "land 2", "2022-10-10"), ("land 2", "trusts", "land 3", "2022-11-10")]
    path = folder / "other.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return read_graph(path)


def test_rules_and_trees_answer_on_another_graph_and_say_what_does_not_match(past_run: Path, tmp_path: Path):
    run = Run(past_run)
    graph = other_graph(run.graph, tmp_path)
    view = run.on(graph)
    assert view.unmatched == ("trusts",)
    assert "3 of 4 predicates match" in view.note
    chance = float(np.mean(1 / np.arange(1, len(graph.entities) + 1)))
    assert view.evaluate("test").all.mrr > 1.5 * chance, "it has learned something that holds elsewhere"
    subject, predicate, object_, time = next(iter(graph.rows("test")))
    answers = view.predict(subject=subject, predicate=predicate, time=time)
    assert {answer.name for answer in answers} <= set(graph.entities.names)
    assert answers.note.startswith("embeddings are absent")
    assert view.explain(subject=subject, predicate=predicate, object=object_, time=time).note is not None
    assert view.predict(subject="land 1", predicate="trusts", time="2022-11-11")
    with pytest.raises(QuestionError, match="shares no predicate"):
        run.on(replace(graph, predicates=Vocabulary("predicate", ["a", "b", "c", "d"])))


def test_on_its_own_graph_a_run_of_rules_alone_is_the_run_itself(past_run: Path):
    run = Run(past_run)
    view = run.on(run.graph)
    for subject, predicate, _, time in list(run.graph.rows("test"))[:10]:
        asked = {"subject": subject, "predicate": predicate, "time": time}
        assert [(a.name, a.score, a.probability) for a in view.predict(**asked)] == [
            (a.name, a.score, a.probability) for a in run.predict(**asked)
        ]


def scrambled(facts: Facts, step: int, draw: np.random.Generator, entities: int, predicates: int) -> Facts:
    """The facts with other ones in place of those at or after a step."""
    later = facts.take(facts.start >= step)
    pair, what = draw.integers(entities, size=(2, len(later))), draw.integers(predicates, size=len(later))
    return concatenate([facts.take(facts.start < step), Facts(pair[0], what, pair[1], later.start, later.end)])


def test_nothing_at_or_after_the_time_asked_about_changes_an_answer(past_run: Path, tmp_path: Path):
    graph, draw = Run(past_run).graph, np.random.default_rng(2)
    sizes = len(graph.entities), len(graph.predicates)
    step = len(graph.timeline) * 2 // 3
    day = graph.timeline.label(step)
    before = [("state 3", "visits", "state 13", graph.timeline.label(step - 2))]
    runs = []
    for place in range(2):
        splits = {split: graph.facts(split) for split in ("train", "valid", "test")}
        if place:
            splits = {split: scrambled(facts, step, draw, *sizes) for split, facts in splits.items()}
        other, trained = replace(graph, **splits), Predictor.open(past_run)
        predictor = trained.on(EvidenceFilter(replace(trained.scorer, graph=other), other, other.train).scorer(), other)
        later = [(f"state {i}", "praises", f"state {i + place + 1}", graph.timeline.label(step + i)) for i in range(9)]
        (tmp_path / str(place)).mkdir()
        living = LivingState(other, ["train"], tmp_path / str(place), lambda one=predictor: one)
        living.add([*before, *later], {}, None)
        runs.append(living.predictor)
    known = [known_at(run, step) for run in runs]
    asked = 0
    for subject, predicate in [(f"state {i}", p) for i in range(12) for p in graph.predicates.names]:
        if any((subject, predicate) in one for one in known):
            continue  # an answer that is already known at that time is marked, and takes no place among the others
        asked += 1
        question = Question(subject=subject, predicate=predicate, time=day)
        left, right = (run.predict_many([question], 50)[0] for run in runs)
        assert left.to_dict() == right.to_dict()
    assert asked > 5
    for question in (Question(subject="state 1", time=day), Question(predicate="visits", time=day)):
        slot = question.targets[0]
        left, right = (
            {answer.names[slot]: answer.terms[slot] for answer in run.predict_many([question], 30)[0]} for run in runs
        )
        assert left.keys() & right.keys()
        assert all(left[name] == right[name] for name in left.keys() & right.keys())


def known_at(run: Predictor, step: int) -> set[tuple[str, str]]:
    """The subjects and predicates that have an answer at a step."""
    graph, found = run.graph, set()
    for split in graph.splits:
        facts = graph.facts(split)
        for row in np.flatnonzero(facts.start == step).tolist():
            found.add((graph.entities.name(facts.subject[row]), graph.predicates.name(facts.predicate[row])))
    return found
