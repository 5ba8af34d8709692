"""As of when a question long after the last event is looked at."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.facts import Facts
from foretime.evidence.gap import largest_gap, looked_at_from

STEPS = st.sets(st.integers(0, 60), max_size=12)


def expected(step: int, events: set[int], max_gap: int) -> int:
    before = [event for event in events if event < step]
    return min(step, max(before) + max_gap) if before else step


def looked(asked: list[int], events: set[int], max_gap: int) -> list[int]:
    return looked_at_from(np.array(asked), np.array(sorted(events), dtype=np.int64), max_gap).tolist()


@given(STEPS, st.integers(1, 9))
def test_a_question_is_looked_at_from_no_farther_than_the_largest_gap_after_the_last_event(
    events: set[int], max_gap: int
):
    asked = list(range(80))
    found = looked(asked, events, max_gap)
    assert found == [expected(step, events, max_gap) for step in asked]
    assert looked(found, events, max_gap) == found


@given(STEPS, st.integers(1, 9), st.integers(0, 70))
def test_events_at_and_after_a_question_do_not_move_it(events: set[int], max_gap: int, step: int):
    assert looked([step], events, max_gap) == looked([step], {event for event in events if event < step}, max_gap)


def facts_at(steps: list[int]) -> Facts:
    nothing, time = np.zeros(len(steps), dtype=np.int64), np.array(steps, dtype=np.int64)
    return Facts(nothing, nothing, nothing, time, time)


def test_the_largest_gap_is_that_of_the_newer_half():
    assert largest_gap(facts_at([0, 50, 60, 61, 64, 66])) == 3
    assert largest_gap(facts_at([5, 5, 5])) == 1
    assert largest_gap(facts_at([])) == 1


@given(st.lists(st.integers(0, 200), min_size=1, max_size=30))
def test_no_question_of_the_newer_half_of_training_is_moved(steps: list[int]):
    newer = sorted(steps)[len(steps) // 2 :]
    max_gap = largest_gap(facts_at(steps))
    asked = [step for step in newer if step > min(newer)]
    assert looked(asked, set(steps), max_gap) == asked
