"""Every model's formula, on weights set by hand that a reader can redo on paper.

Rank 1: an embedding is one complex number, written here as (real, imaginary), one real number, or one of four parts.
Rank 2, in the models that measure distances of real vectors: a point of the plane; elsewhere two numbers, their real
parts first.
"""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from foretime.config import ModelConfig
from foretime.models import LCGE, MODELS, ComplEx, Model, Queries, Sizes, TComplEx, TNTComplEx, build_model
from foretime.models.past_events import PastEvents
from foretime.models.penalties import cubed_moduli
from foretime.models.recent import STEP

SIZES = Sizes(entities=3, predicates=2, times=2)
QUERY = Queries(torch.tensor([0]), torch.tensor([1]), torch.tensor([1]))


def build(name: str, times: int = 2, **options: float | str) -> Model:
    config = ModelConfig(name=name, **{"rank": 1, **options})
    return build_model(config, SIZES._replace(times=times), torch.Generator().manual_seed(0))


def set_weights(table: torch.nn.Parameter, rows: list[tuple[float, ...]]) -> None:
    with torch.no_grad():
        table.copy_(torch.tensor(rows))


def set_entities(model: ComplEx | TComplEx | TNTComplEx) -> None:
    set_weights(model.entities, [(1, 2), (3, -1), (0, 1)])  # s = 1 + 2i


def test_complex_scores_the_real_part_of_subject_predicate_and_conjugate_object():
    model = build("complex")
    set_entities(model)
    set_weights(model.predicates, [(9, 9), (2, 1)])
    # s·p = (1 + 2i)(2 + i) = 0 + 5i; times the conjugates of 1 + 2i, 3 - i, i: real parts 10, -5, 5
    assert model.score_objects(QUERY).tolist() == [[10.0, -5.0, 5.0]]


def test_tcomplex_turns_the_predicate_by_the_time():
    model = build("tcomplex")
    set_entities(model)
    set_weights(model.predicates, [(9, 9), (2, 1)])
    set_weights(model.times, [(9, 9), (0, 1)])
    # p·t = (2 + i)·i = -1 + 2i; s·p·t = (1 + 2i)(-1 + 2i) = -5 + 0i; with the conjugates: -5, -15, 0
    assert model.score_objects(QUERY).tolist() == [[-5.0, -15.0, 0.0]]


def test_tntcomplex_adds_a_predicate_that_lasts():
    model = build("tntcomplex")
    set_entities(model)
    set_weights(model.timed_predicates, [(9, 9), (2, 1)])
    set_weights(model.lasting_predicates, [(9, 9), (1, -1)])
    set_weights(model.times, [(9, 9), (0, 1)])
    # p·t + r = -1 + 2i + 1 - i = i; s·i = -2 + i; with the conjugates of 1 + 2i, 3 - i, i: 0, -7, 1
    assert model.score_objects(QUERY).tolist() == [[0.0, -7.0, 1.0]]


def test_lcge_adds_commonsense_with_its_weight():
    model = build("lcge", commonsense_weight=0.5)
    set_entities(model.event)
    set_weights(model.event.timed_predicates, [(9, 9), (2, 1)])
    set_weights(model.event.lasting_predicates, [(9, 9), (1, -1)])
    set_weights(model.event.times, [(9, 9), (0, 1)])
    set_entities(model.commonsense)
    set_weights(model.commonsense.predicates, [(9, 9), (2, 1)])
    # the event term of TNTComplEx above plus half of the score of ComplEx above
    assert model.score_objects(QUERY).tolist() == [[0.0 + 5.0, -7.0 - 2.5, 1.0 + 2.5]]
    terms = model.score_terms(QUERY)
    assert [(term.name, term.weight) for term in terms] == [("event", 1.0), ("commonsense", 0.5)]


def test_lcge_without_commonsense_is_tntcomplex():
    model = build("lcge", commonsense_weight=0.0)
    plain = build("tntcomplex")
    plain.load_state_dict(model.event.state_dict(), strict=False)  # all but the guide
    assert isinstance(model, LCGE)
    assert [part.name for part in model.components()] == ["event"]
    assert torch.equal(model.score_objects(QUERY), plain.score_objects(QUERY))


def test_distmult_scores_the_product_of_subject_predicate_and_object():
    model = build("distmult")
    set_weights(model.entities, [(2,), (3,), (-1,)])
    set_weights(model.predicates, [(9,), (5,)])
    # s·p = 2 · 5; times 2, 3 and -1
    assert model.score_objects(QUERY).tolist() == [[20.0, 30.0, -10.0]]
    # |2|³ + |5|³ + |-1|³
    assert model.penalties(QUERY, torch.tensor([2]))["n3"].item() == pytest.approx(134.0)


@pytest.mark.parametrize(("norm", "expected"), [("l1", [-5, -6, -7]), ("l2", [-math.sqrt(13), -math.sqrt(26), -5])])
def test_transe_steps_from_the_subject_to_the_object(norm: str, expected: list[float]):
    model = build("transe", rank=2, norm=norm)
    set_weights(model.entities, [(1, 2), (3, -1), (0, 1)])
    set_weights(model.predicates, [(9, 9), (3, 2)])
    # s + p = (4, 4), which is (3, 2), (1, 5) and (4, 3) away from the objects
    assert model.score_objects(QUERY)[0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("norm", "expected"), [("l1", [-5, -6, -7]), ("l2", [-math.sqrt(13), -6, -5])])
def test_ttranse_takes_a_step_of_the_time_too(norm: str, expected: list[float]):
    model = build("ttranse", rank=2, norm=norm)
    set_weights(model.entities, [(1, 2), (3, -1), (0, 1)])
    set_weights(model.predicates, [(9, 9), (3, 2)])
    set_weights(model.times, [(9, 9), (-1, 1)])
    # s + p + t = (3, 5), which is (2, 3), (0, 6) and (3, 4) away from the objects
    assert model.score_objects(QUERY)[0].tolist() == pytest.approx(expected)


def test_hyte_measures_on_the_hyperplane_of_the_time():
    model = build("hyte", rank=2)
    set_weights(model.entities, [(1, 2), (3, -1), (0, 1)])
    set_weights(model.predicates, [(9, 9), (4, 0)])
    set_weights(model.normals, [(9, 9), (3, 4)])
    # w = (0.6, 0.8), so the hyperplane is the line along (-0.8, 0.6); s + p = (5, 2) is (4, 0), (2, 3) and (5, 1) away
    # from the objects, and along the line 3.2, 0.2 and 3.4
    assert model.score_objects(QUERY)[0].tolist() == pytest.approx([-3.2, -0.2, -3.4], abs=1e-5)


def test_rotate_turns_the_subject_towards_the_object():
    model = build("rotate")
    set_entities(model)
    set_weights(model.angles, [(9,), (math.pi / 2,)])
    # s·i = -2 + i, which is -3 - i, -5 + 2i and -2 away from 1 + 2i, 3 - i and i
    expected = [-math.sqrt(10), -math.sqrt(29), -2]
    assert model.score_objects(QUERY)[0].tolist() == pytest.approx(expected)


def test_quate_turns_the_subject_by_a_quaternion_of_length_one():
    model = build("quate")
    set_weights(model.entities, [(1, 2, 3, 4), (1, 0, 0, 0), (0, 1, 1, 1)])
    set_weights(model.predicates, [(9, 9, 9, 9), (0, 2, 0, 0)])
    # p/|p| = i; (1 + 2i + 3j + 4k)·i = -2 + i + 4j - 3k; its dot products with the objects
    assert model.score_objects(QUERY).tolist() == [[0.0, -2.0, 2.0]]
    # the moduli of (1, 0, 0, 0) and of a subject like (1, 1, 1, 1) cubed
    set_weights(model.entities, [(1, 1, 1, 1), (1, 0, 0, 0), (0, 1, 1, 1)])
    assert model.penalties(QUERY, torch.tensor([1]))["n3"].item() == pytest.approx(8.0 + 1.0)


def test_quate_makes_every_number_of_a_predicate_one_of_length_one():
    model = build("quate", rank=2)
    # two quaternions each, their real parts first, then those of i, j and k: s = 1 + 2i + 3j + 4k and 3
    set_weights(model.entities, [(1, 3, 2, 0, 3, 0, 4, 0), (1, 1, 0, 1, 0, 0, 0, 1), (0, 0, 1, 0, 1, 0, 1, 5)])
    set_weights(model.predicates, [(9,) * 8, (0, 1, 2, 2, 0, 2, 0, 0)])
    # p = 2i and 1 + 2i + 2j, of the lengths 2 and 3; s ⊗ p/|p| = -2 + i + 4j - 3k, as above, and 1 + 2i + 2j; with s
    # itself 0 + 3, with 1 and 1 + i + k: -2 + 3, with i + j + k and 5k: 2 + 0
    assert model.score_objects(QUERY)[0].tolist() == pytest.approx([3.0, 1.0, 2.0], abs=1e-6)


def test_tero_turns_subject_and_object_by_the_time():
    model = build("tero")
    set_entities(model)
    set_weights(model.predicates, [(9, 9), (2, 2)])
    set_weights(model.angles, [(9,), (math.pi / 2,)])
    # s·i + p = -2 + i + 2 + 2i = 3i; the objects times i are -2 + i, 1 + 3i, -1, their conjugates -2 - i, 1 - 3i, -1;
    # the differences are 2 + 4i, -1 + 6i, 1 + 3i
    expected = [-math.sqrt(20), -math.sqrt(37), -math.sqrt(10)]
    assert model.score_objects(QUERY)[0].tolist() == pytest.approx(expected)


def test_atise_compares_the_difference_of_two_gaussians_with_that_of_the_predicate():
    model = build("atise")
    for series in (model.entities, model.predicates):
        for part in (series.trend, series.season, series.frequency):
            torch.nn.init.zeros_(part)
    with torch.no_grad():  # the subject: a trend and a season
        model.entities.trend[0], model.entities.season[0], model.entities.frequency[0] = 2.0, 3.0, 0.5
    set_weights(model.entities.base, [(1,), (1,), (2,)])
    set_weights(model.entities.variance, [(0.5,), (0.5,), (1.5,)])
    set_weights(model.predicates.base, [(9,), (3,)])
    set_weights(model.predicates.variance, [(9,), (1,)])
    # step 1 of 2 is the time ½; there the subject is at 1 + 2·½ + 3·sin(2π·½·½) = 5, the objects at 5, 1 and 2;
    # with p = 3: d² = 9, 1, 0; v = 1, 1, 2; w = 1; ((v + d²)/w + (w + d²)/v - 2) / 4 = 18/4, 2/4, ½/4
    assert model.score_objects(QUERY)[0].tolist() == pytest.approx([-4.5, -0.5, -0.125])


def test_atise_keeps_variances_within_bounds_and_means_short_but_drift_and_swing_as_they_are():
    model = build("atise")
    with torch.no_grad():
        model.entities.variance[:2] = torch.tensor([[9.0], [1e-9]])
        for part in (model.entities.base, model.entities.trend, model.entities.season):
            part[:2] = torch.tensor([[-4.0], [0.5]])
    model.constrain_()
    assert model.entities.variance[:2, 0].tolist() == pytest.approx([0.5, 0.005])
    assert model.entities.base[:2, 0].tolist() == [-1.0, 0.5]
    assert model.entities.trend[:2, 0].tolist() == [-4.0, 0.5]
    assert model.entities.season[:2, 0].tolist() == [-4.0, 0.5]


def test_telm_scores_the_scalar_part_of_the_geometric_product():
    model = build("telm")
    set_weights(model.entities, [(1, 2, 0, 0), (0, 0, 1, 0), (0, 0, -1, 4)])  # s = 1 + 2e₁
    set_weights(model.predicates, [(9, 9, 9, 9), (0, 1, 0, 0)])
    set_weights(model.times, [(9, 9, 9, 9), (0, 0, 1, 0)])
    # p·t = e₁e₂; s·p·t = e₁e₂ + 2 e₁e₁e₂ = 2e₂ + e₁e₂; e₂·e₂ = 1 and e₁e₂·e₁e₂ = -1, so with the conjugates
    # 1 - 2e₁, -e₂ and e₂ - 4e₁e₂ the scalar parts are 0, -2 and 2 + 4
    assert model.score_objects(QUERY).tolist() == [[0.0, -2.0, 6.0]]


def test_telm_wants_neighbouring_times_a_learned_step_apart():
    model = build("telm", times=3)
    set_weights(model.times, [(1, 1, 1, 1), (3, 3, 3, 3), (5, 4, 4, 4)])
    set_weights(model.step, [(1, 1, 1, 1)])
    # beyond the step: 1 in each of four parts, a modulus of 2, and then 1 in one part; the mean of 8 and 1
    assert model.penalties(QUERY, torch.tensor([2]))["smoothness"].item() == pytest.approx(4.5)


def test_n3_is_the_sum_of_cubed_moduli():
    model = build("complex")
    set_weights(model.entities, [(3, 4), (0, 1), (0, 2)])
    set_weights(model.predicates, [(9, 9), (0, -1)])
    # |3 + 4i|³ + |-i|³ + |2i|³ = 125 + 1 + 8
    assert model.penalties(QUERY, torch.tensor([2]))["n3"].item() == pytest.approx(134.0)
    # of two questions, the second about i, the mean: 1 + 1 + 8 = 10
    both = Queries(*(torch.tensor(ids) for ids in ([0, 1], [1, 1], [1, 1])))
    assert model.penalties(both, torch.tensor([2, 2]))["n3"].item() == pytest.approx((134.0 + 10.0) / 2)
    # two complex numbers, 3 + 4i and i; two of four parts, (1, 1, 1, 1) and (0, 0, 2, 0)
    assert cubed_moduli(torch.tensor([[3.0, 0.0, 4.0, 1.0]]), parts=2).item() == pytest.approx(125.0 + 1.0)
    four = torch.tensor([[1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0]])
    assert cubed_moduli(four, parts=4).item() == pytest.approx(8.0 + 8.0)


def test_n3_takes_the_predicate_at_its_time():
    entities = [(3, 4), (9, 9), (0, 1)]  # |s|³ = 125 and |o|³ = 1
    model = build("tcomplex")
    set_weights(model.entities, entities)
    set_weights(model.predicates, [(9, 9), (2, 0)])
    set_weights(model.times, [(9, 9), (0, 1)])
    assert model.penalties(QUERY, torch.tensor([2]))["n3"].item() == pytest.approx(125.0 + 8.0 + 1.0)  # p·t = 2i


def test_n3_of_tntcomplex_and_of_the_events_of_lcge_takes_both_predicates():
    plain, whole = build("tntcomplex"), build("lcge")
    for model in (plain, whole.event):
        set_weights(model.entities, [(3, 4), (9, 9), (0, 1)])
        set_weights(model.timed_predicates, [(9, 9), (2, 0)])
        set_weights(model.lasting_predicates, [(9, 9), (0, 3)])
        set_weights(model.times, [(9, 9), (0, 1)])
    set_weights(whole.commonsense.entities, [(0, 2), (9, 9), (1, 0)])
    set_weights(whole.commonsense.predicates, [(9, 9), (0, 3)])
    found = plain.penalties(QUERY, torch.tensor([2])), whole.penalties(QUERY, torch.tensor([2]))
    # |3 + 4i|³ + |2i|³ + |3i|³ + |i|³
    assert found[0]["n3"].item() == found[1]["event_n3"].item() == pytest.approx(125.0 + 8.0 + 27.0 + 1.0)
    assert found[1]["commonsense_n3"].item() == pytest.approx(8.0 + 27.0 + 1.0)


def test_n3_of_telm_is_of_multivectors():
    model = build("telm")
    set_weights(model.entities, [(1, 1, 1, 1), (9, 9, 9, 9), (0, 0, -2, 0)])
    set_weights(model.predicates, [(9, 9, 9, 9), (0, 1, 0, 0)])
    set_weights(model.times, [(9, 9, 9, 9), (0, 0, 3, 0)])
    # the moduli are 2, 3 for p·t = 3e₁e₂, and 2
    assert model.penalties(QUERY, torch.tensor([2]))["n3"].item() == pytest.approx(8.0 + 27.0 + 8.0)


def test_smoothness_is_the_mean_cubed_distance_of_neighbouring_times():
    model = build("tcomplex", times=3)
    set_weights(model.times, [(1, 1), (1, 3), (1, 4)])
    # |2i|³ = 8 and |i|³ = 1
    assert model.penalties(QUERY, torch.tensor([2]))["smoothness"].item() == pytest.approx(4.5)


def test_the_gradient_of_n3_is_that_of_its_formula():
    x = torch.randn(4, 8, dtype=torch.float64, requires_grad=True)
    for parts in (1, 2, 4):
        assert torch.autograd.gradcheck(cubed_moduli, (x, parts))
    zero = torch.zeros(1, 2, requires_grad=True)
    cubed_moduli(zero, parts=2).backward()
    assert zero.grad.tolist() == [[0.0, 0.0]]


def test_recent_points_at_whom_the_events_of_the_subject_were_with():
    model = build("recent", dropout=0.0, weight=1.0)
    for weights in model.parameters():
        torch.nn.init.zeros_(weights)
    for table, rows in (("entities", (1, 2, 3)), ("messages", (0.5, 9)), ("gates", (9, 2)), ("popularity", (0, 0, 10))):
        set_weights(getattr(model.attention, table), [(row / STEP,) for row in rows])
    event = (np.array(column) for column in ([0, 1, 1, 1], [0], [1], [0], [0]))
    # one event, with entity 1 under predicate 0: c = 2 + 0.5 in every head; x = 2.5 · 2; 5 · (1, 2, 3) + (0, 0, 10)
    scores = model.reading(PastEvents.of(*event)).score_objects(QUERY)
    assert scores[0].tolist() == pytest.approx([5.0, 10.0, 25.0])


def test_every_registered_model_has_a_golden_test():
    source = Path(__file__).read_text(encoding="utf-8")
    # rules alone has no formula of its own: the features of its evidence are counted in tests/evidence
    missing = [name for name in MODELS if name != "rules" and f'build("{name}"' not in source]
    assert missing == [], "each of these wants a golden test in this file, which sets weights of build(NAME) by hand"
