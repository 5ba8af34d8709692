"""Every model's formula, on weights set by hand that a reader can redo on paper.

Rank 1: an embedding is one complex number, written here as (real, imaginary).
"""

from pathlib import Path

import pytest
import torch

from foretime.config import ModelConfig
from foretime.models import LCGE, MODELS, ComplEx, Model, Queries, Sizes, TComplEx, TNTComplEx, build_model
from foretime.models.penalties import cubed_moduli

SIZES = Sizes(entities=3, predicates=2, times=2)
QUERY = Queries(torch.tensor([0]), torch.tensor([1]), torch.tensor([1]))


def build(name: str, **options: float) -> Model:
    return build_model(ModelConfig(name=name, rank=1, **options), SIZES, torch.Generator().manual_seed(0))


def set_weights(table: torch.nn.Parameter, rows: list[tuple[float, float]]) -> None:
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
    assert [part.name for part in model.parts()] == ["event"]
    assert torch.equal(model.score_objects(QUERY), plain.score_objects(QUERY))


def test_n3_is_the_sum_of_cubed_moduli():
    model = build("complex")
    set_weights(model.entities, [(3, 4), (0, 1), (0, 2)])
    set_weights(model.predicates, [(9, 9), (0, -1)])
    # |3 + 4i|³ + |-i|³ + |2i|³ = 125 + 1 + 8
    assert model.penalties(QUERY, torch.tensor([2]))["n3"].item() == pytest.approx(134.0)


def test_smoothness_is_the_mean_cubed_distance_of_neighbouring_times():
    model = build("tcomplex")
    set_weights(model.times, [(1, 1), (1, 3)])
    assert model.penalties(QUERY, torch.tensor([2]))["smoothness"].item() == pytest.approx(8.0)


def test_the_gradient_of_n3_is_that_of_its_formula():
    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(cubed_moduli, (x,))
    zero = torch.zeros(1, 2, requires_grad=True)
    cubed_moduli(zero).backward()
    assert zero.grad.tolist() == [[0.0, 0.0]]


def test_every_registered_model_has_a_golden_test():
    source = Path(__file__).read_text(encoding="utf-8")
    # rules alone has no formula of its own: the features of its evidence are counted in tests/evidence
    assert all(f'build("{name}"' in source for name in set(MODELS) - {"rules"})
