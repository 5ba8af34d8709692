from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.facts import UNKNOWN
from foretime.data.timeline import Timeline
from foretime.data.times import NO_TICK, parse_times, ticks_of
from foretime.errors import DataError, QuestionError

ticks = st.lists(st.integers(-500, 2500), min_size=1, max_size=40)


def timeline_of(*texts: str, unit: str = "day", granularity: str = "auto", regular: bool = True) -> Timeline:
    found = ticks_of(parse_times(texts), unit)
    return Timeline.build(unit, found, found, granularity, regular)


@given(ticks)
def test_a_regular_timeline_has_every_step_between_the_first_and_the_last(values: list[int]) -> None:
    timeline = Timeline.build("year", np.array(values), np.array(values))
    expected = list(range(min(values), max(values) + 1))
    assert len(timeline) == len(expected)
    assert timeline.steps(np.array(values)).tolist() == [expected.index(value) for value in values]
    assert [timeline.label(step) for step in range(len(timeline))] == [str(year) for year in expected]


@given(ticks)
def test_an_irregular_timeline_has_the_steps_with_an_event(values: list[int]) -> None:
    timeline = Timeline.build("step", np.array(values), np.array(values), regular=False)
    expected = sorted(set(values))
    assert [timeline.label(step) for step in range(len(timeline))] == [str(value) for value in expected]
    assert timeline.steps(np.array(values)).tolist() == [expected.index(value) for value in values]


@given(ticks, st.integers(1, 6), st.lists(st.integers(-1000, 3000), max_size=5))
def test_bins_cover_all_times_in_order_and_never_cut_one(training: list[int], bins: int, others: list[int]) -> None:
    if len(set(training)) < bins:
        return
    timeline = Timeline.build("step", np.array(training + others), np.array(training), f"bins:{bins}")
    steps = timeline.steps(np.array(sorted(training + others)))
    assert 1 <= len(timeline) <= bins
    assert steps.min() >= 0
    assert (np.diff(steps) >= 0).all()
    assert len(set(timeline.steps(np.array(training)).tolist())) == len(timeline)


@given(st.integers(1, 20), st.integers(1, 20))
def test_bins_of_different_times_hold_equally_many_training_events(bins: int, share: int) -> None:
    training = np.arange(bins * share) * 3
    timeline = Timeline.build("step", training, training, f"bins:{bins}")
    assert np.bincount(timeline.steps(training)).tolist() == [share] * bins


def test_bins_are_made_from_training_events_only() -> None:
    training, others = np.arange(10), np.arange(1000, 1100)
    timeline = Timeline.build("step", np.concatenate([training, others]), training, "bins:2")
    assert [timeline.label(step) for step in range(2)] == ["0 … 4", "5 … 1099"]


@given(ticks, st.sampled_from(["auto", "bins:1"]), st.booleans())
def test_a_label_names_its_step(values: list[int], granularity: str, regular: bool) -> None:
    for unit in ("year", "month", "week", "day", "hour", "minute", "second", "step"):
        timeline = Timeline.build(unit, np.array(values), np.array(values), granularity, regular)
        for step in {0, len(timeline) // 2, len(timeline) - 1}:
            assert timeline.step(timeline.label(step)) == step


@given(ticks, st.booleans(), st.sampled_from(["auto", "bins:1"]))
def test_a_timeline_survives_json(values: list[int], regular: bool, granularity: str) -> None:
    timeline = Timeline.build("day", np.array(values), np.array(values), granularity, regular)
    again = Timeline.from_dict(json.loads(json.dumps(timeline.to_dict())))
    assert again.to_dict() == timeline.to_dict()
    assert [again.label(i) for i in range(len(again))] == [timeline.label(i) for i in range(len(timeline))]
    assert again.granularity == timeline.granularity


def test_an_unknown_time_has_no_step() -> None:
    timeline = Timeline.build("year", np.array([5, NO_TICK]), np.array([5]))
    assert timeline.steps(np.array([NO_TICK, 5])).tolist() == [UNKNOWN, 0]


def test_years_of_all_ages_are_on_one_timeline() -> None:
    timeline = timeline_of("19-##-##", "-44-##-##", "2018-##-##", unit="year")
    assert len(timeline) == 2018 + 44 + 1
    assert (timeline.label(0), timeline.label(44), timeline.label(63)) == ("-44", "0", "19")
    assert timeline.step("2018") == len(timeline) - 1


def test_a_more_precise_time_finds_its_step() -> None:
    timeline = timeline_of("2014-01-01", "2014-12-31")
    assert timeline.step("2014-01-02T23:59:59") == 1
    assert timeline_of("19-##-##", "2020-##-##", unit="year").step("986-05-13") == 986 - 19


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yesterday", "'yesterday' is not a time; write it as in 2014-01-01 .2014-01-01 to 2014-12-31."),
        ("####-##-##", "is not a time"),
        ("2015-01-01", "'2015-01-01' is not on the timeline, 2014-01-01 to 2014-12-31; ask for a time between"),
        ("2013-12-31", "not on the timeline"),
        ("2014-05", "'2014-05' is precise to the month only; write a day, as in 2014-01-01"),
        ("2014", "'2014' is not a day; write it as in 2014-01-01"),
    ],
)
def test_a_time_that_has_no_step_is_a_question_error(text: str, message: str) -> None:
    with pytest.raises(QuestionError, match=message):
        timeline_of("2014-01-01", "2014-12-31").step(text)


def test_a_date_on_a_timeline_of_integers_is_a_question_error() -> None:
    with pytest.raises(QuestionError, match="is not a step; write it as in 3"):
        timeline_of("3", "9", unit="step").step("2014-01-01")


def test_a_time_without_an_event_on_an_irregular_timeline_has_neighbours() -> None:
    timeline = timeline_of("2014-01-01", "2014-01-05", regular=False)
    with pytest.raises(QuestionError, match="nearest times with one are 2014-01-01 and 2014-01-05"):
        timeline.step("2014-01-03")


def test_too_many_steps_are_refused_with_a_remedy() -> None:
    with pytest.raises(
        DataError, match=r"1970-01-01T00:00:00 to .* 1,000,001 steps of one second.* as minute, or bins:N"
    ):
        Timeline.build("second", np.array([0, 1_000_000]), np.array([0]))


def test_a_million_steps_are_possible_and_irregular_ones_may_lie_far_apart() -> None:
    assert len(Timeline.build("second", np.array([0, 999_999]), np.array([0]))) == 1_000_000
    assert len(Timeline.build("second", np.array([0, 10**9]), np.array([0]), regular=False)) == 2
    assert len(Timeline.build("second", np.array([0, 10**9]), np.array([0, 10**9]), "bins:2")) == 2


def test_more_bins_than_times_are_refused() -> None:
    with pytest.raises(DataError, match="bins:3 needs 3 different times in train, found 2"):
        Timeline.build("step", np.array([1, 2, 2]), np.array([1, 2, 2]), "bins:3")
