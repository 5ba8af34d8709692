"""The measures of explanations, by plain loops."""

import math
from itertools import permutations

import numpy as np
import pytest

from foretime.evaluation.explanations import (
    ExplanationMeasures,
    MeasureKey,
    QuestionMeasures,
    discounted_gain,
    precision_at_first,
    reasons_needed,
    summarise_measures,
)


def test_only_the_first_named_event_counts_for_precision():
    assert precision_at_first(["a", "b"], {"a"}) == 1
    assert precision_at_first(["b", "a"], {"a"}) == 0
    assert precision_at_first([], {"a"}) == 0


@pytest.mark.parametrize("true", [{"a"}, {"a", "b"}, {"a", "b", "x"}])
def test_gain_is_that_of_the_events_divided_by_that_of_the_best_order(true: set[str]):
    def gain(order: tuple[str, ...]) -> float:
        return sum(1 / math.log2(place + 2) for place, event in enumerate(order[:5]) if event in true)

    best = max(gain(order) for order in permutations(["a", "b", "x", "c", "d"]))
    for order in permutations(["a", "b", "c"]):
        assert discounted_gain(order, true) == pytest.approx(gain(order) / best)
    assert discounted_gain(["c", "d", "e", "f", "g", "a"], {"a"}) == 0


def test_the_largest_differences_make_up_the_lead_first():
    assert reasons_needed([1.0, 3.0, -2.0], lead=4.0) == 2
    assert reasons_needed([1.0, 4.0], lead=5.0) == 1
    assert reasons_needed([1.0], lead=5.0) is None
    assert reasons_needed([], lead=1.0) is None


def test_means_are_over_the_questions_that_have_the_measure_and_intervals_hold_them(tmp_path):
    generator = np.random.default_rng(0)
    covered, fall = MeasureKey("coverage"), MeasureKey("necessity_hits@1", 3)
    rows = []
    for fact in range(60):
        for _ in range(2):
            values = {covered: float(generator.random() < 0.9)}
            if generator.random() < 0.5:
                values |= {fall: float(generator.random() < 0.6), fall._replace(events="random"): 0.125}
            rows.append(QuestionMeasures(fact, values))
    found = summarise_measures(rows, {"seed": 0})
    for mean in found.means:
        key = MeasureKey(mean.measure, mean.k, mean.events)
        own = [row.values[key] for row in rows if key in row.values]
        assert (mean.mean, mean.questions) == (pytest.approx(sum(own) / len(own)), len(own))
        assert mean.low <= mean.mean <= mean.high
    assert found.ratio(3, "random") == pytest.approx(found.mean("necessity_hits@1", 3) / 0.125)
    assert found.ratio(1, "random") is None
    assert [row["measure"] for row in found.table()] == ["necessity: fall of H@1", "coverage"]
    assert ExplanationMeasures.from_dict(found.to_dict()) == found
    assert found.save(tmp_path).name == "explanations.json"
