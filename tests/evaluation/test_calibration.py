import numpy as np
import pytest
import torch

from foretime.evaluation.calibration import SHAPE, Calibration, OfKind, ScoredCandidates, fit_calibration
from foretime.evaluation.fitting import fit_logistic, fit_temperature
from foretime.evaluation.reliability import (
    Reliability,
    believed,
    error_by_chance,
    expected_calibration_error,
    reliability_bins,
)

KINDS = 2


def drawn_answers(temperature: float, questions: int = 4000, seed: int = 0) -> ScoredCandidates:
    """Answers that are true with the probabilities softmax(scores / temperature)."""
    generator = torch.Generator().manual_seed(seed)
    scores = 3 * torch.randn(questions, 20, generator=generator)
    answer = torch.multinomial(torch.softmax(scores / temperature, 1), 1, generator=generator)[:, 0]
    return ScoredCandidates(scores, answer, np.zeros(questions, dtype=np.int64))


def by_two_kinds() -> ScoredCandidates:
    """Half of the answers are drawn at one temperature, half at another one."""
    one, other = drawn_answers(0.5), drawn_answers(4.0, seed=1)
    joined = [torch.cat(columns) for columns in zip(one[:2], other[:2], strict=True)]
    return ScoredCandidates(joined[0], joined[1], np.repeat([0, 1], 4000))


def reliability(asked: ScoredCandidates, calibration: Calibration) -> Reliability:
    return Reliability.of(
        believed(calibration.probabilities(asked.scores, asked.kind), asked.answer, asked.kind), ["first", "second"]
    )


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_made_many_answers_is_found_whatever_the_prior(temperature, monkeypatch):
    scores, answer, _ = drawn_answers(temperature)
    fitted = fit_temperature([(scores, answer)])
    assert fitted == pytest.approx(temperature, rel=0.1)
    monkeypatch.setattr("foretime.evaluation.fitting.TEMPERATURE_DEVIATION", 1e6)
    assert fitted == pytest.approx(fit_temperature([(scores, answer)]), rel=0.02)


def test_of_two_minima_the_deeper_one_is_found():
    """Scores so small that the prior alone is seen near 1, and right answers that ask for a far smaller temperature."""
    scores = torch.zeros(400, 20)
    scores[:, 3] = 0.05
    assert fit_temperature([(scores, torch.full((400,), 3))]) < 0.05


def test_few_questions_that_are_all_answered_correctly_leave_the_probabilities_sensible():
    scores = torch.randn(60, 20, generator=torch.Generator().manual_seed(1))
    answer = scores.argmax(1)
    scores[torch.arange(60), answer] += 1  # every answer stands clear of the others
    kind = np.zeros(60, dtype=np.int64)
    fitted = fit_calibration([ScoredCandidates(scores, answer, kind)], KINDS)
    assert 0.95 < fitted.probabilities(scores, kind).max(1).values.median() < 0.99
    assert fit_calibration([], KINDS).probabilities(scores, kind).allclose(torch.softmax(scores, 1))


def test_without_weights_a_probability_is_the_softmax_of_the_scores():
    asked = drawn_answers(1.0, 50)
    found = Calibration.of_temperature(0.7, KINDS).probabilities(asked.scores, asked.kind)
    assert found.allclose(torch.softmax(asked.scores / 0.7, 1), atol=1e-6)


def test_calibrated_probabilities_come_true_as_often_as_they_say_for_every_kind():
    asked = by_two_kinds()
    once = Calibration.of_temperature(fit_temperature([(asked.scores, asked.answer)]), KINDS)
    before, after = reliability(asked, once), reliability(asked, fit_calibration([asked], KINDS))
    for kind in ("first", "second"):
        assert after.kinds[kind].ece < 0.03 < before.kinds[kind].ece
    assert after.brier < before.brier
    assert after.log_loss < before.log_loss


@pytest.mark.parametrize("seed", range(20))
def test_probabilities_sum_to_one_and_keep_the_order_of_the_scores(seed: int):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randint(0, 4, (40, 7), generator=generator).float() * torch.rand(1, generator=generator)
    scores[torch.rand(40, 7, generator=generator) < 0.4] = -torch.inf
    scores[0], scores[1, 1:], scores[1, 0] = -torch.inf, -torch.inf, 2.0
    weights = torch.randn(9, generator=generator).tolist()
    drawn = Calibration((OfKind(0.5, *weights[4:6]),), dict(zip(SHAPE, weights, strict=False)), 0.6, abs(weights[6]))
    found = drawn.probabilities(scores, np.zeros(40, dtype=np.int64))
    assert found.sum(1).numpy() == pytest.approx(np.where(np.arange(40) == 0, 0.0, scores.isfinite().any(1)), abs=1e-5)
    assert not found[~scores.isfinite()].any()
    assert found[1, 0] == 1.0
    for own, probabilities in zip(scores, found, strict=True):
        for one in range(7):
            higher, equal = own > own[one], (own == own[one]) & own.isfinite()
            assert (probabilities[higher] >= probabilities[one] - 1e-6).all()
            assert probabilities[equal].numpy() == pytest.approx(float(probabilities[one]), abs=1e-6)


def test_a_calibration_is_the_same_after_plain_values():
    fitted = fit_calibration([drawn_answers(2.0, 200)], KINDS)
    assert Calibration.from_dict(fitted.to_dict()) == fitted
    kinds = [[OfKind(value)._asdict()] for value in (0.0, float("nan"))]
    for wrong in ({"kinds": kinds[0]}, {"kinds": kinds[1]}, {"rest_bend": -1.0}, {"first": {"lead": None}}):
        with pytest.raises((ValueError, TypeError)):
            Calibration.from_dict(fitted.to_dict() | wrong)


def test_a_logistic_regression_finds_the_weights_that_drew_the_answers():
    generator = np.random.default_rng(0)
    features, offset = generator.normal(size=(20_000, 2)), generator.normal(size=20_000)
    right = generator.random(20_000) < 1 / (1 + np.exp(-(offset + features @ [1.0, -0.5])))
    assert fit_logistic(features, offset, right, 10.0) == pytest.approx([1.0, -0.5], abs=0.06)
    assert np.abs(fit_logistic(features[:5], offset[:5], right[:5], 0.01)).max() < 0.01


def test_calibration_error_is_the_gap_between_probability_and_share_of_right_answers():
    probability = np.full(4, 0.9)
    assert expected_calibration_error(probability, np.array([True, True, False, False])) == pytest.approx(0.4)
    assert expected_calibration_error(np.ones(3), np.ones(3, dtype=bool)) == 0.0
    assert expected_calibration_error(np.empty(0), np.empty(0, dtype=bool)) == 0.0
    assert error_by_chance(np.ones(3)) == error_by_chance(np.empty(0)) == 0.0


def test_the_bins_of_many_questions_are_those_of_a_loop():
    generator = np.random.default_rng(0)
    probability = generator.random(3000)
    right = generator.random(3000) < probability
    wanted = []
    for low in range(15):
        rows = [row for row in range(3000) if low / 15 <= probability[row] < (low + 1) / 15]
        wanted.append((len(rows), np.mean(probability[rows]), np.mean(right[rows])))
    assert np.array(reliability_bins(probability, right)) == pytest.approx(np.array(wanted))
    assert len(reliability_bins(probability[:300], right[:300])) == 3
    assert expected_calibration_error(probability, right) == pytest.approx(error_by_chance(probability), abs=0.01)


def test_brier_score_and_log_loss_are_those_of_every_candidate():
    probabilities = torch.tensor([[0.7, 0.2, 0.1], [0.25, 0.25, 0.5]])
    found = Reliability.of(believed(probabilities, torch.tensor([0, 1]), np.array([0, 1])), ["one", "other"])
    first, second = 0.3**2 + 0.2**2 + 0.1**2, 0.25**2 + 0.75**2 + 0.5**2
    assert found.brier == pytest.approx((first + second) / 2)
    assert found.kinds["other"].log_loss == pytest.approx(-np.log(0.25))
    assert Reliability.from_dict(found.to_dict()) == found
