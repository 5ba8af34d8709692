"""Updates of small runs, and the same run with everything built anew, which an updated one must equal."""

from pathlib import Path

import numpy as np
import torch

from foretime.data.facts import Facts, concatenate
from foretime.data.growth import grow, join_events
from foretime.data.new_events import read_events
from foretime.evaluation.filters import AnswerIndex
from foretime.evaluation.slots import SLOTS, at_single_times
from foretime.inference.answers import Question
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run
from foretime.reranker.carrying import carry_scorer
from foretime.reranker.other_evidence import EvidenceFilter

Row = tuple[str, ...]
NEW_NAMES = ("state 13", "Bank (state 3)", "state 0 of old")
NEW_PREDICATES = ("joins in", "praises loudly")


def drawn_rows(run: Run, draw: np.random.Generator, count: int) -> list[Row]:
    """Events among old and new names, at old times, at times between, and at times to come."""
    graph = run.graph
    names = [*graph.entities.names, *NEW_NAMES]
    predicates = [*graph.predicates.names, *NEW_PREDICATES]
    rows = []
    for _ in range(count):
        who, whom = (names[i] for i in draw.integers(len(names), size=2))
        what = predicates[draw.integers(len(predicates))]
        first, last = sorted(draw.integers(len(graph.timeline) + 20, size=2).tolist())
        times = [graph.timeline.label(first)]
        if graph.has_intervals:
            times = [times[0], ("", times[0], graph.timeline.label(last))[draw.integers(3)]]
        rows.append((who, what, whom, *times))
    return rows


def built_anew(run: Run, updates: list[list[Row]]) -> Predictor:
    """The run with all events from the start: nothing is merged, everything is sorted and indexed once."""
    trained = Predictor.open(run.path)
    graph = trained.graph
    read = [read_events(rows, graph.timeline, {}, None).events for rows in updates]
    grown = grow(graph, join_events(read))
    facts = concatenate([*(graph.facts(split) for split in run.config.evidence.splits), grown.update])
    scorer = EvidenceFilter(carry_scorer(trained.scorer, grown, share_entities=True), grown, facts).scorer()
    assert scorer.reranked is None or type(scorer.reranked.known) is AnswerIndex
    found = trained.on(scorer, grown)
    found.missing = trained.grown(scorer, grown).missing
    return found


def asked_facts(graph, draw: np.random.Generator, count: int = 30) -> Facts:
    """Questions about any names, at any time."""
    pair = draw.integers(len(graph.entities), size=(2, count))
    time = draw.integers(len(graph.timeline), size=count)
    return Facts(pair[0], draw.integers(len(graph.predicates), size=count), pair[1], time, time)


def assert_same(found: Predictor, wanted: Predictor, seed: int, explained: int = 2) -> None:
    graph, draw = wanted.graph, np.random.default_rng(seed)
    assert (found.graph.entities, found.graph.predicates, found.graph.timeline) == (
        graph.entities, graph.predicates, graph.timeline,
    )  # fmt: skip
    asked = asked_facts(graph, draw)
    with torch.inference_mode():
        both = asked.with_inverses(len(graph.predicates))
        assert torch.equal(found.scorer.score(both), wanted.scorer.score(both))
        for slot in ("predicate", "time"):
            facts = at_single_times(asked)
            assert torch.equal(found.scorer.score_slot(slot, facts), wanted.scorer.score_slot(slot, facts))
    for row in range(explained):
        slots = {
            "subject": graph.entities.name(asked.subject[row]),
            "predicate": graph.predicates.name(asked.predicate[row]),
            "object": graph.entities.name(asked.object[row]),
            "time": graph.timeline.label(int(asked.start[row])),
        }
        for slot in SLOTS:
            question = Question(**{**slots, slot: None})
            pair = [one.predict_many([question], 50)[0] for one in (found, wanted)]
            assert pair[0].to_dict() == pair[1].to_dict()
            assert [a.already_known for a in pair[0]] == [a.already_known for a in pair[1]]
            why = [one.explainer.explain(slot=slot, **slots).to_dict() for one in (found, wanted)]
            assert why[0] == why[1]
        two = Question(subject=slots["subject"], time=slots["time"])
        assert found.predict_many([two], 5)[0].to_dict() == wanted.predict_many([two], 5)[0].to_dict()


def copied(run: Path, to: Path) -> Path:
    """A copy of a run folder without its updates."""
    import shutil

    shutil.copytree(run, to, ignore=shutil.ignore_patterns("updates"))
    return to
