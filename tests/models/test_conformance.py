"""What every registered model must do, checked for each over a whole small graph."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from foretime.config import ModelConfig
from foretime.data.facts import Events
from foretime.models import MODELS, Component, Model, Queries, Sizes, build_model, model_options
from foretime.models.past_events import PastEvents
from foretime.rules.rule import RuleIds
from foretime.rules.table import Rules
from foretime.training.batches import QuestionPool
from foretime.training.losses import SampledLoss
from foretime.training.objective import check_penalties, loss_each, penalty_names

SIZES = Sizes(entities=7, predicates=6, times=4)


# rules alone has no term of its own: its evidence is tested with the evidence
@pytest.fixture(params=sorted(set(MODELS) - {"rules"}))
def model(request: pytest.FixtureRequest) -> Model:
    drawn = {"dropout": 0.0} if request.param == "recent" else {}  # what is drawn anew at each call never agrees
    model = build_model(
        ModelConfig(name=request.param, rank=3, init_scale=1.0, **drawn), SIZES, torch.Generator().manual_seed(1)
    )
    if model.reads_events:
        model = model.reading(past_events())
    if model.takes_rules:
        rules = Rules.of([RuleIds("follows", "pair", 0, (1,)), RuleIds("chain_then", "path", 2, (4, 3))])
        model.take_rules(replace(rules, support=np.ones(2), body_count=np.full(2, 2.0)))
    return model


def past_events() -> PastEvents:
    """Return three events of each entity, at the steps 0, 1 and 2."""
    subject, time = np.divmod(np.arange(3 * SIZES.entities), 3)
    first = np.arange(SIZES.entities + 1) * 3
    return PastEvents.of(first, time, (subject + time + 1) % SIZES.entities, (subject + time) % SIZES.predicates, time)


def all_queries() -> Queries:
    subject, predicate, time = torch.meshgrid(*(torch.arange(n) for n in SIZES[:3]), indexing="ij")
    return Queries(subject.reshape(-1), predicate.reshape(-1), time.reshape(-1))


def all_objects(queries: Queries) -> torch.Tensor:
    return torch.arange(SIZES.entities).expand(len(queries.subject), -1)


def random_events(count: int = 60) -> Events:
    generator = torch.Generator().manual_seed(2)
    subject, predicate, object_, time = (torch.randint(n, (count,), generator=generator).numpy() for n in (7, 6, 7, 4))
    return Events(subject, predicate, object_, time)


def test_every_way_of_scoring_agrees(model: Model):
    queries = all_queries()
    whole = model.score_objects(queries)
    chosen = model.score_objects(queries, all_objects(queries))
    one_by_one = torch.cat(
        [
            model.score_objects(Queries(*(column[i : i + 1] for column in queries)), torch.tensor([[o]]))
            for i in range(0, len(queries.subject), 17)
            for o in range(SIZES.entities)
        ]
    ).view(-1, SIZES.entities)
    shared = model.score_objects(queries, torch.tensor([5, 0, 3]))
    torch.testing.assert_close(whole, chosen)
    torch.testing.assert_close(whole[:, [5, 0, 3]], shared)
    torch.testing.assert_close(whole[::17], one_by_one)


def test_the_score_is_the_weighted_sum_of_its_terms(model: Model):
    queries = all_queries()
    expected = sum(term.weight * term.scores for term in model.score_terms(queries))
    torch.testing.assert_close(model.score_objects(queries), expected)


def test_time_matters_if_and_only_if_the_model_uses_it(model: Model):
    queries = all_queries()
    moved = queries._replace(time=(queries.time + 1) % SIZES.times)
    same = torch.allclose(model.score_objects(queries), model.score_objects(moved))
    assert same != model.uses_time


def test_the_constructor_alone_builds_the_model_of_a_configuration(model: Model):
    generator = torch.Generator().manual_seed(1)
    again = type(model)(entities=7, predicates=6, times=4, rank=3, init_scale=1.0, generator=generator)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    type(model)(entities=2, predicates=2, times=1)  # every option has a default


def test_every_option_has_bounds_or_choices_and_says_what_it_is(model: Model):
    fields = model.options().model_fields
    assert list(fields)[:2] == ["rank", "init_scale"]
    assert all(field.description and not field.is_required() for field in fields.values())


def test_the_default_weights_name_the_penalties(model: Model):
    check_penalties(penalty_names(model), dict(model.default_penalties))
    penalties = model.penalties(all_queries(), all_objects(all_queries())[:, 0])
    assert set(penalties) == set(model.default_penalties)
    assert all(penalty.shape == () and penalty >= 0 for penalty in penalties.values())


def test_doubling_a_penalty_weight_changes_the_loss(model: Model):
    if not model.default_penalties:
        pytest.skip("it has no penalties")
    events = random_events()
    batches = [
        QuestionPool(events, part.model.uses_time).batch(torch.arange(20).numpy()) for part in model.components()
    ]
    weights = dict.fromkeys(model.default_penalties, 0.1)
    before = loss_each(model.components(), batches, weights).total
    for name in weights:
        doubled = loss_each(model.components(), batches, {**weights, name: 0.2}).total
        assert doubled > before


def test_every_weight_gets_a_gradient(model: Model):
    batch = QuestionPool(random_events(), model.uses_time).batch(torch.arange(20).numpy())
    loss_each([Component("", 1.0, model)], [batch], dict.fromkeys(model.default_penalties, 0.1)).total.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


@pytest.mark.parametrize("loss", ["negatives", "margin"])
def test_every_weight_gets_a_gradient_from_wrong_answers_too(model: Model, loss: str):
    batch = QuestionPool(random_events(), model.uses_time).batch(torch.arange(20).numpy())
    SampledLoss(loss, 50.0, 4, 1.0, SIZES.entities, np.random.default_rng(0))(model, batch).backward()
    only_penalised = ("guide.transfer", "step")
    for name, parameter in model.named_parameters():
        assert name.endswith(only_penalised) or parameter.grad.abs().sum() > 0


def test_options_are_closed(model: Model):
    from foretime.errors import ConfigError

    name = next(name for name, kind in MODELS.items() if kind is type(model))
    with pytest.raises(ConfigError, match=r"^unknown key model\.rnk; did you mean 'rank'"):
        model_options(ModelConfig(name=name, rnk=3))


class Largest(TorchDispatchMode):
    """Notes how many numbers the largest tensor has that any operation makes."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        tensors = made if isinstance(made, tuple | list) else [made]
        self.numbers = max([self.numbers, *(tensor.numel() for tensor in tensors if isinstance(tensor, torch.Tensor))])
        return made


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"rules"}))
def test_ranking_all_entities_needs_no_tensor_of_questions_entities_and_rank(name: str):
    sizes, questions, rank = Sizes(entities=60, predicates=4, times=2), 50, 20
    model = build_model(ModelConfig(name=name, rank=rank), sizes, torch.Generator().manual_seed(0))
    queries = Queries(*(torch.arange(questions) % count for count in sizes[:3]))
    with Largest() as largest:
        model.score_objects(queries).sum().backward()
    assert 0 < largest.numbers <= max(4 * sizes.entities * 4 * rank, questions * sizes.entities)
