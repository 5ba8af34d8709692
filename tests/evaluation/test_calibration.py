import numpy as np
import pytest
import torch

from foretime.evaluation.calibration import (
    ScoredCandidates,
    expected_calibration_error,
    fit_temperature,
    top_confidences,
)


def drawn_answers(temperature: float, questions: int = 4000) -> ScoredCandidates:
    """Answers that are true with the probabilities softmax(scores / temperature)."""
    generator = torch.Generator().manual_seed(0)
    scores = 3 * torch.randn(questions, 20, generator=generator)
    answer = torch.multinomial(torch.softmax(scores / temperature, 1), 1, generator=generator)[:, 0]
    return ScoredCandidates(scores, answer)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_made_many_answers_is_found_whatever_the_prior(temperature, monkeypatch):
    fitted = fit_temperature([drawn_answers(temperature)])
    assert fitted == pytest.approx(temperature, rel=0.1)
    monkeypatch.setattr("foretime.evaluation.calibration.PRIOR_DEVIATION", 1e6)
    assert fitted == pytest.approx(fit_temperature([drawn_answers(temperature)]), rel=0.02)


def test_few_questions_that_are_all_answered_correctly_or_none_leave_the_temperature_sensible():
    scores = torch.randn(60, 20, generator=torch.Generator().manual_seed(1))
    answer = scores.argmax(1)
    scores[torch.arange(60), answer] += 1  # every answer stands clear of the others
    assert 0.2 < fit_temperature([ScoredCandidates(scores, answer)]) < 1
    assert fit_temperature([]) == 1.0


def test_of_two_minima_the_deeper_one_is_found():
    """Scores so small that the prior alone is seen near 1, and right answers that ask for a far smaller temperature."""
    scores = torch.zeros(400, 20)
    scores[:, 3] = 0.05
    answer = torch.full((400,), 3)
    assert fit_temperature([ScoredCandidates(scores, answer)]) < 0.05


def test_calibrated_confidence_comes_true_as_often_as_it_says():
    answers = drawn_answers(3.0)
    fitted = expected_calibration_error(*top_confidences([answers], fit_temperature([answers])))
    raw = expected_calibration_error(*top_confidences([answers], 1.0))
    assert fitted < 0.03 < raw


def test_calibration_error_is_the_gap_between_confidence_and_accuracy():
    confidence = np.array([0.9, 0.9, 0.9, 0.9])
    assert expected_calibration_error(confidence, np.array([True, True, False, False])) == pytest.approx(0.4)
    assert expected_calibration_error(np.ones(3), np.ones(3, dtype=bool)) == 0.0
    assert expected_calibration_error(np.empty(0), np.empty(0, dtype=bool)) == 0.0
