import numpy as np
import pytest
import torch

from foretime.evaluation.calibration import (
    Candidates,
    expected_calibration_error,
    fit_temperature,
    top_confidences,
)
from foretime.evaluation.reports import Metrics, bootstrap_mrr


def drawn_answers(temperature: float, questions: int = 4000) -> Candidates:
    """Answers that are true with the probabilities softmax(scores / temperature)."""
    generator = torch.Generator().manual_seed(0)
    scores = 3 * torch.randn(questions, 20, generator=generator)
    answer = torch.multinomial(torch.softmax(scores / temperature, 1), 1, generator=generator)[:, 0]
    return Candidates(scores, answer)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_made_the_answers_is_found(temperature):
    assert fit_temperature([drawn_answers(temperature)]) == pytest.approx(temperature, rel=0.1)


def test_a_few_questions_that_are_all_answered_rightly_leave_the_temperature_sensible():
    scores = torch.randn(60, 20, generator=torch.Generator().manual_seed(1))
    answer = scores.argmax(1)
    scores[torch.arange(60), answer] += 1  # every answer stands clear of the others
    assert 0.2 < fit_temperature([Candidates(scores, answer)]) < 1


@pytest.mark.parametrize("temperature", [0.5, 3.0])
def test_with_many_questions_the_prior_does_nothing(temperature, monkeypatch):
    fitted = fit_temperature([drawn_answers(temperature)])
    monkeypatch.setattr("foretime.evaluation.calibration.PRIOR_DEVIATION", 1e6)
    assert fitted == pytest.approx(fit_temperature([drawn_answers(temperature)]), rel=0.02)


def test_of_two_minima_the_deeper_one_is_found():
    """Scores so small that the prior alone is seen near 1, and right answers that ask for a far smaller temperature."""
    scores = torch.zeros(400, 20)
    scores[:, 3] = 0.05
    answer = torch.full((400,), 3)
    assert fit_temperature([Candidates(scores, answer)]) < 0.05


def test_calibrated_confidence_comes_true_as_often_as_it_says():
    answers = drawn_answers(3.0)
    fitted = expected_calibration_error(*top_confidences([answers], fit_temperature([answers])))
    raw = expected_calibration_error(*top_confidences([answers], 1.0))
    assert fitted < 0.03 < raw


def test_calibration_error_is_the_gap_between_confidence_and_accuracy():
    confidence = np.array([0.9, 0.9, 0.9, 0.9])
    assert expected_calibration_error(confidence, np.array([True, True, False, False])) == pytest.approx(0.4)
    assert expected_calibration_error(np.ones(3), np.ones(3, dtype=bool)) == 0.0


def test_no_questions_need_no_temperature():
    assert fit_temperature([]) == 1.0


def test_metrics_are_means_over_questions():
    metrics = Metrics.of(np.array([1.0, 2.0, 4.0, 20.0]))
    assert metrics.mrr == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 20) / 4)
    assert metrics.hits == {"1": 0.25, "3": 0.5, "10": 0.75}


def test_the_bootstrap_interval_holds_the_mean_and_narrows_with_more_facts():
    generator = np.random.default_rng(0)
    few, many = (generator.integers(1, 10, size=2 * n).astype(float) for n in (50, 5000))
    for ranks in (few, many):
        low, high = bootstrap_mrr(ranks, pairs(ranks))
        assert low < np.mean(1 / ranks) < high
    assert np.diff(bootstrap_mrr(many, pairs(many))) < np.diff(bootstrap_mrr(few, pairs(few))) / 3


def pairs(ranks: np.ndarray) -> np.ndarray:
    """The fact of each rank where every fact asks two questions, the inverses behind."""
    return np.tile(np.arange(len(ranks) // 2), 2)


def test_all_questions_of_a_fact_are_drawn_together():
    generator = np.random.default_rng(1)
    alike = np.repeat(generator.integers(1, 10, size=50), 40).astype(float)  # 50 facts, 40 equal ranks each
    fact = np.repeat(np.arange(50), 40)
    one_by_one = np.diff(bootstrap_mrr(alike, np.arange(len(alike))))
    assert np.diff(bootstrap_mrr(alike, fact)) > 4 * one_by_one
    # as wide as that of the facts alone, whatever the order of the questions
    order = generator.permutation(len(alike))
    assert bootstrap_mrr(alike, fact) == pytest.approx(bootstrap_mrr(alike[::40], np.arange(50)))
    assert bootstrap_mrr(alike[order], fact[order]) == pytest.approx(bootstrap_mrr(alike, fact))


def test_a_fact_with_more_questions_weighs_more():
    ranks, fact = np.array([1.0, 1.0, 1.0, 2.0]), np.array([0, 0, 0, 1])
    draws = {bootstrap_mrr(ranks, fact, seed, resamples=1)[0] for seed in range(30)}
    assert draws == {1.0, 0.875, 0.5}
