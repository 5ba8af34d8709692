"""The recurrency baseline against its equations, one candidate at a time."""

from dataclasses import replace

import numpy as np
import pytest

from foretime.data.graph import Graph
from foretime.evaluation.recurrency import DECAYS, MIXES, RecurrencyBaseline, evaluate_baseline


@pytest.fixture(scope="module")
def graph(small_graph: Graph) -> Graph:
    return small_graph.split(by="time")


def expected(graph: Graph, s: int, p: int, o: int, t: int, end: int, decay: float, mix: float) -> float:
    """The score by the equations of the paper."""
    facts = graph.facts().with_inverses(len(graph.predicates))
    rows = [row for row in zip(*(c.tolist() for c in facts.columns()[:4]), strict=True) if row[3] < end]
    weight = {k: 2 ** (decay * (k - t)) for k in {row[3] for row in rows}}
    strict = sum(weight[k] for x, r, y, k in rows if (x, r, y) == (s, p, o)) / sum(weight.values())
    same = [y for _, r, y, _ in rows if r == p]
    return mix * strict + (1 - mix) * (same.count(o) / len(same) if same else 0)


@pytest.mark.parametrize("fixed", [False, True])
def test_scores_are_those_of_the_equations(graph: Graph, fixed: bool) -> None:
    first = int(graph.test.start.min())
    baseline = RecurrencyBaseline.of(graph, graph.facts(), first if fixed else None)
    generator = np.random.default_rng(0)
    decay, mix = generator.random(len(baseline.decay)), generator.random(len(baseline.mix))
    questions = graph.test.with_inverses(len(graph.predicates)).take(slice(None, None, 17))
    scores = replace(baseline, decay=decay, mix=mix).score(questions)
    for row, (s, p, _, t, _) in enumerate(zip(*(c.tolist() for c in questions.columns()), strict=True)):
        for o in range(len(graph.entities)):
            wanted = expected(graph, s, p, o, t, min(t, first) if fixed else t, decay[p], mix[p])
            assert float(scores[row, o]) == pytest.approx(wanted, abs=1e-12)


def test_the_choice_is_no_worse_on_valid_than_any_one_setting(graph: Graph) -> None:
    baseline = RecurrencyBaseline.of(graph, graph.facts())
    chosen = baseline.choose(graph.valid)
    assert set(chosen.decay.tolist()) <= set(DECAYS)
    best = evaluate_baseline(chosen, "valid").mrr
    for mix in MIXES:
        one = replace(chosen, mix=np.full(len(chosen.mix), float(mix)))
        assert evaluate_baseline(one, "valid").mrr <= best + 1e-12
