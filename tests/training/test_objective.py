"""The loss against torch's own cross entropy on every question, one by one."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from foretime.config import ModelConfig
from foretime.data.facts import Events
from foretime.errors import ConfigError
from foretime.models import Queries, Sizes, build_model
from foretime.training.batches import QuestionPool, step_rows
from foretime.training.objective import check_penalties, cross_entropy, loss_each, penalty_names

SIZES = Sizes(entities=6, predicates=4, times=3)
EVENT = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 5), st.integers(0, 2))
EVENTS = st.lists(EVENT, min_size=1, max_size=40)


def columns(rows: list[tuple[int, ...]]) -> Events:
    return Events(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))


def model(name: str = "lcge", **options: float):
    config = ModelConfig(name=name, rank=3, init_scale=0.7, **options)
    return build_model(config, SIZES, torch.Generator().manual_seed(0))


def gradients(module: torch.nn.Module) -> list[torch.Tensor]:
    found = [parameter.grad.clone() for parameter in module.parameters() if parameter.grad is not None]
    module.zero_grad()
    return found


def test_counted_cross_entropy_is_the_mean_over_pairs():
    scores = torch.randn(3, 5, requires_grad=True)
    row, answer = torch.tensor([0, 0, 2, 1, 0]), torch.tensor([1, 4, 2, 0, 1])
    expected = 0.3 * functional.cross_entropy(scores[row], answer)
    expected.backward()
    wanted, scores.grad = scores.grad, None
    loss = cross_entropy(scores * 1.0, row, answer, weight=0.3)
    loss.backward()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(scores.grad, wanted)


def test_large_scores_do_not_overflow():
    loss = cross_entropy(torch.tensor([[1e4, -1e4, 0.0]]), torch.tensor([0]), torch.tensor([1]))
    assert loss.item() == pytest.approx(2e4)


@settings(max_examples=30, deadline=None)
@given(EVENTS)
def test_distinct_questions_give_the_gradient_of_all_questions(rows):
    """E1 on distinct (s, p, t) and E2 on distinct (s, p), against every question scored on its own."""
    lcge, events = model(), columns(rows)
    weights = {"event_n3": 0.1, "event_smoothness": 0.2, "event_rules": 0.0, "commonsense_n3": 0.3}
    pools = [QuestionPool(events, part.model.uses_time) for part in lcge.components()]
    loss_each(lcge.components(), [pool.batch(pool.order(0, 0)) for pool in pools], weights).total.backward()
    found = gradients(lcge)

    subject, predicate, objects, time = (torch.from_numpy(column) for column in events)
    queries = Queries(subject, predicate, time)
    terms = lcge.score_terms(queries)
    penalties = lcge.penalties(queries, objects)
    event = functional.cross_entropy(terms[0].scores, objects)
    event = event + 0.1 * penalties["event_n3"] + 0.2 * penalties["event_smoothness"]
    commonsense = functional.cross_entropy(terms[1].scores, objects) + 0.3 * penalties["commonsense_n3"]
    (event + lcge.commonsense_weight * commonsense).backward()
    for ours, plain in zip(found, gradients(lcge), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-6)


@given(rows=EVENTS, steps=st.integers(1, 5), uses_time=st.booleans())
def test_an_epoch_asks_every_question_once(rows, steps, uses_time):
    pool = QuestionPool(columns(rows), uses_time)
    order = pool.order(seed=1, epoch=2)
    asked, scale = [], 0.0
    for step in range(steps):
        batch = pool.batch(step_rows(order, step, steps), steps)
        asked += list(zip(*(t.tolist() for t in (*batch.questions, batch.objects)), strict=True))
        scale += batch.scale
        assert torch.equal(batch.queries.subject[batch.row], batch.questions.subject)
        assert torch.equal(batch.queries.predicate[batch.row], batch.questions.predicate)
    assert sorted(asked) == sorted((s, p, t, o) for s, p, o, t in rows)
    assert scale == pytest.approx(steps)
    assert pool.distinct == len({(s, p, t if uses_time else 0) for s, p, o, t in rows})


def test_epochs_have_different_orders_and_the_same_epoch_the_same():
    pool = QuestionPool(columns([(s, p, 0, 0) for s in range(6) for p in range(4)]), uses_time=True)
    assert pool.order(0, 1).tolist() == pool.order(0, 1).tolist()
    assert pool.order(0, 1).tolist() != pool.order(0, 2).tolist()
    assert pool.order(0, 1).tolist() != pool.order(1, 1).tolist()


def test_a_penalty_without_a_weight_is_an_error():
    with pytest.raises(ConfigError, match=r"penalties\.smoothness is missing: write its weight, 0 to switch it off"):
        check_penalties(penalty_names(model("tcomplex")), {"n3": 0.1})


def test_a_weight_without_a_penalty_is_an_error():
    message = r"^unknown key penalties\.smoothnes; this model has n3, smoothness; did you mean 'smoothness'\?$"
    with pytest.raises(ConfigError, match=message):
        check_penalties(penalty_names(model("tcomplex")), {"n3": 0.1, "smoothnes": 0.1})
