"""The model that reads the latest events of the subject, and how it finds them."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from foretime.config import ModelConfig
from foretime.errors import ConfigError
from foretime.models import Queries, Recent, Sizes, build_model
from foretime.models.carried import CarriedModel, TrainedIds
from foretime.models.ensemble import Ensemble
from foretime.models.past_events import PastEvents
from foretime.models.recent import STEP
from foretime.training.trainer import new_model

SIZES = Sizes(entities=3, predicates=2, times=9)


def by_hand(*events: tuple[int, int, int, int]) -> Recent:
    """Return a model of rank 1 that points at twice the mean of what it reads: (entity, time, other, predicate)."""
    model = build_model(
        ModelConfig(name="recent", rank=1, dropout=0.0, weight=1.0), SIZES, torch.Generator().manual_seed(0)
    )
    assert isinstance(model, Recent)
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
        model.attention.entities.copy_(torch.tensor([[1.0], [2.0], [3.0]]) / STEP)
        model.attention.messages.copy_(torch.tensor([[0.5], [-1.0]]) / STEP)
        model.attention.gates.copy_(torch.tensor([[9.0], [2.0]]) / STEP)
        model.attention.popularity.copy_(torch.tensor([[0.0], [0.0], [10.0]]) / STEP)
        model.attention.fading.fill_(math.log(math.log(2)) / STEP)  # an event counts half as much as one a step later
    return model.reading(past(*events))


def past(*events: tuple[int, int, int, int]) -> PastEvents:
    owner, time, other, predicate = (np.array(column, dtype=np.int64) for column in zip(*sorted(events), strict=True))
    first = np.searchsorted(owner, np.arange(SIZES.entities + 1))
    return PastEvents.of(first, time, other, predicate, time)


def ask(subject: int, predicate: int, time: int) -> Queries:
    return Queries(torch.tensor([subject]), torch.tensor([predicate]), torch.tensor([time]))


def test_the_answer_is_whom_the_mean_of_the_events_points_at():
    model = by_hand((0, 3, 1, 0))
    # one event with entity 1 under predicate 0: c = 2 + 0.5 in each head; x = 2.5 · 2; 5 · (1, 2, 3) + (0, 0, 10)
    torch.testing.assert_close(model.score_objects(ask(0, 1, 4)), torch.tensor([[5.0, 10.0, 25.0]]))


def test_an_older_event_counts_less():
    model = by_hand((0, 3, 1, 0), (0, 2, 2, 1))
    # 2.5 one step ago and 3 - 1 = 2 two steps ago, which weigh 2 : 1: c = 7/3, x = 14/3
    expected = torch.tensor([[14 / 3, 28 / 3, 24.0]])
    torch.testing.assert_close(model.score_objects(ask(0, 1, 4)), expected)


def test_without_events_there_is_nothing_to_point_at():
    torch.testing.assert_close(by_hand((0, 3, 1, 0)).score_objects(ask(0, 1, 3)), torch.tensor([[0.0, 0.0, 10.0]]))


def test_events_after_the_last_step_of_training_are_read():
    late = by_hand((0, 3, 1, 0)).reading(past((0, 3, 1, 0), (0, 30, 2, 1)))
    nearly = late.score_objects(ask(0, 1, 31))  # 28 steps are 28 halvings
    torch.testing.assert_close(nearly, torch.tensor([[4.0, 8.0, 22.0]]))


@given(
    st.lists(st.tuples(*(st.integers(0, top) for top in (2, 8, 2, 1, 8))), max_size=30),
    st.integers(0, 2), st.integers(0, 12), st.integers(1, 6),
)  # fmt: skip
def test_the_latest_events_are_those_that_a_plain_loop_finds(
    rows: list[tuple[int, int, int, int, int]], subject: int, time: int, count: int
):
    rows = sorted(rows, key=lambda row: row[:2])
    owner, at, other, predicate, twin = (np.array([row[i] for row in rows], dtype=np.int64) for i in range(5))
    events = PastEvents.of(np.searchsorted(owner, np.arange(4)), at, other, predicate, twin)
    found = events.latest(torch.tensor([subject]), torch.tensor([time]), count)
    shown = [
        (int(o), int(p), int(age)) for o, p, age, seen in zip(*(column[0] for column in found), strict=True) if seen
    ]
    before = [row for row in rows if row[0] == subject and row[1] < time][::-1][:count]
    assert shown == [(row[2], row[3], time - row[1]) for row in before if row[4] != time]


def test_a_carried_model_reads_the_events_that_it_has_embeddings_for():
    model = by_hand((0, 3, 1, 0))
    # in the other graph entity 1 is new, and what was entity 1 is entity 2
    carried = CarriedModel(model, TrainedIds(torch.tensor([0, -1, 1, 2]), torch.tensor([1, 0]), 9))
    first = np.array([0, 3, 3, 3, 3])
    events = PastEvents.of(first, np.array([3, 4, 5]), np.array([2, 1, 2]), np.array([1, 0, 1]), np.array([3, 4, 5]))
    scores = carried.reading(events).score_objects(ask(0, 0, 6))
    torch.testing.assert_close(scores, torch.tensor([[5.0, 40 / 3, 10.0, 25.0]]))  # the new one has the mean


def test_an_ensemble_reads_other_events_too():
    model = by_hand((0, 3, 1, 0))
    both = Ensemble([model, by_hand((0, 3, 1, 0))]).reading(past((0, 3, 2, 1)))
    assert both.reads_events
    torch.testing.assert_close(
        both.score_objects(ask(0, 1, 4)), model.reading(past((0, 3, 2, 1))).score_objects(ask(0, 1, 4))
    )


def test_what_is_left_out_is_drawn_anew_at_each_step_and_the_same_after_a_restart():
    def fresh() -> Recent:
        config = ModelConfig(name="recent", rank=4)
        model = build_model(config, SIZES, torch.Generator().manual_seed(3))
        assert isinstance(model, Recent)
        return model.reading(past((0, 3, 1, 0), (0, 2, 2, 1)))

    one, other = fresh(), fresh()
    first, second = one.score_objects(ask(0, 1, 4)), one.score_objects(ask(0, 1, 4))
    assert not torch.equal(first, second)
    other.score_objects(ask(0, 1, 4))
    resumed = fresh()
    resumed.load_state_dict(other.state_dict())
    torch.testing.assert_close(resumed.score_objects(ask(0, 1, 4)), second, rtol=0, atol=0)


def test_the_weight_is_that_of_its_term_and_not_of_its_loss():
    model = build_model(ModelConfig(name="recent", rank=4, weight=0.5), SIZES, torch.Generator().manual_seed(3)).eval()
    with torch.inference_mode():
        alone = model.components()[0].model.score_objects(ask(0, 1, 4))
        torch.testing.assert_close(model.score_objects(ask(0, 1, 4)), 0.5 * alone)


def test_nothing_is_left_out_of_an_answer():
    model = build_model(ModelConfig(name="recent", rank=4), SIZES, torch.Generator().manual_seed(3))
    with torch.inference_mode():
        assert torch.equal(model.score_objects(ask(0, 1, 4)), model.score_objects(ask(0, 1, 4)))


def test_it_needs_evidence_to_read_events(small_graph):
    from foretime.config import Config, override

    config = override(Config(), {"model.name": "recent", "evidence.use": False})
    with pytest.raises(ConfigError, match=r"recent reads events through the evidence; set evidence\.use to true"):
        new_model(config, small_graph)
