import numpy as np
import pytest
import torch

from foretime.evaluation.calibration import (
    Candidates,
    expected_calibration_error,
    fit_temperature,
    top_confidences,
)
from foretime.evaluation.report import Metrics, bootstrap_mrr


def drawn_answers(temperature: float, questions: int = 4000) -> Candidates:
    """Answers that are true with the probabilities softmax(scores / temperature)."""
    generator = torch.Generator().manual_seed(0)
    scores = 3 * torch.randn(questions, 20, generator=generator)
    answer = torch.multinomial(torch.softmax(scores / temperature, 1), 1, generator=generator)[:, 0]
    return Candidates(scores, answer)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_made_the_answers_is_found(temperature):
    assert fit_temperature([drawn_answers(temperature)]) == pytest.approx(temperature, rel=0.1)


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
        low, high = bootstrap_mrr(ranks)
        assert low < np.mean(1 / ranks) < high
    assert np.diff(bootstrap_mrr(many)) < np.diff(bootstrap_mrr(few)) / 3
