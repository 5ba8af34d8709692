"""The explanations of a small run, measured: what is hidden, what is kept, and what the planted truth is."""

import json
from pathlib import Path

import numpy as np
import pytest

from foretime.evaluation.filters import AnswerIndex
from foretime.evaluation.ranks import rank
from foretime.inference.measuring import ExplanationMeter, questions_about
from foretime.inference.named_events import events_of, supporting
from foretime.inference.run import Run
from foretime.reranker.other_evidence import scorer_on


@pytest.fixture(scope="module")
def run(evidence_run: Path) -> Run:
    return Run(evidence_run)


@pytest.fixture(scope="module")
def meter(run: Run) -> ExplanationMeter:
    return ExplanationMeter(run.predictor, run._evidence_source.filter, "exact")


def test_necessity_is_the_rank_without_the_events_that_the_reasons_name(run: Run, meter: ExplanationMeter):
    graph, compared = run.graph, 0
    rows = list(graph.rows("train"))
    for asked in questions_about(graph.test, range(8), graph):
        values = {(key.measure, key.k, key.events): value for key, value in meter.measure(asked).values.items()}
        if ("hidden", 1, "reasons") not in values:
            continue
        slots = dict(zip(("subject", "predicate", "object", "time"), list(graph.rows("test"))[asked.row], strict=True))
        reasons = supporting(run.explain(slot=asked.slot, **slots).reasons)
        for k in (1, 3):
            named = set(events_of(reasons[:k]))
            left = graph.train.take(np.array([row not in named for row in rows]))
            scorer = scorer_on(run.predictor.scorer, graph, left)
            after = rank(scorer.score, asked.question, AnswerIndex.of(graph)).realistic[0]
            assert values["hidden", k, "reasons"] == len(rows) - len(left)
            assert values["necessity_mrr", k, "reasons"] == pytest.approx(1 - 1 / after)
            assert values["necessity_hits@1", k, "reasons"] == (after > 1)
            compared += 1
    assert compared


def test_controls_are_as_many_events_of_the_subject(run: Run, meter: ExplanationMeter):
    facts = run.graph.train
    for asked in questions_about(run.graph.test, range(4), run.graph):
        x, step = int(asked.question.subject[0]), int(asked.question.start[0])
        own = [row for row in range(len(facts)) if x in (facts.subject[row], facts.object[row])]
        chosen = meter._chosen(asked, [0, 1, 2])
        for rows in (chosen["random"], chosen["nearest"]):
            assert len(set(rows)) == min(3, len(own))
            assert set(rows) <= set(own)
        far = sorted(abs(int(facts.start[row]) - step) for row in own)[:3]
        assert sorted(abs(int(facts.start[row]) - step) for row in chosen["nearest"]) == far


def test_controls_without_the_events_of_the_reasons_are_as_many_others_or_all_there_are(
    run: Run, meter: ExplanationMeter
):
    facts, drawn_short = run.graph.train, False
    for asked in questions_about(run.graph.test, range(4), run.graph):
        x, step = int(asked.question.subject[0]), int(asked.question.start[0])
        own = [row for row in range(len(facts)) if x in (facts.subject[row], facts.object[row])]
        for named in (own[:2], own[: len(own) // 2 + 1]):
            others = sorted(set(own) - set(named), key=lambda row: abs(int(facts.start[row]) - step))
            chosen = meter._chosen(asked, named, with_others=True)
            for rows in (chosen["random others"], chosen["nearest others"]):
                assert len(set(rows)) == len(rows) == min(len(named), len(others))
                assert set(rows) <= set(others)
            far = [abs(int(facts.start[row]) - step) for row in others[: len(named)]]
            assert [abs(int(facts.start[row]) - step) for row in chosen["nearest others"]] == far
            drawn_short |= len(others) < len(named)
    assert drawn_short


def test_truth_is_measured_where_the_planted_events_are_known(run: Run, evidence_run: Path):
    path = evidence_run.parent / "world" / "planted_events.jsonl"
    found = run.measure_explanations(questions=2, planted=path)
    measured = {mean.measure for mean in found.means}
    assert {"precision@1", "ndcg@5", "coverage"} <= measured
    assert run.measure_explanations(questions=2, planted=path) == found


def test_the_events_that_made_a_planted_one_are_those_of_the_file_that_train_has(
    run: Run, meter: ExplanationMeter, evidence_run: Path
):
    path, wanted = evidence_run.parent / "world" / "planted_events.jsonl", {}
    train = set(run.graph.rows("train"))
    for line in path.read_text("utf-8").splitlines():
        made = json.loads(line)
        body = {tuple(one) for one in made["made_by"]}
        if body <= train:
            wanted.setdefault(tuple(made["event"]), set()).update(body)
    assert meter.read_planted(path) == wanted
