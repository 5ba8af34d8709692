"""Counts and shares that are quantised."""

import numpy as np
import pytest

from foretime.reranker.features import intervals as spans
from foretime.reranker.features.words import FAR, PROFILE_FEATURES, value_in_words
from foretime.reranker.quantising import is_count, is_share, quantise


def quantised(feature: str, value: float) -> float:
    values = np.array([[value]], dtype=np.float32)
    quantise([feature], values)
    return float(values[0, 0])


def test_counts_are_rounded_to_orders_of_magnitude():
    assert [quantised("events", n) for n in (0, 1, 2, 3, 4, 5, 10, 11, 21, 22, 57)] == [
        0,
        1,
        3,
        3,
        3,
        7,
        7,
        15,
        15,
        31,
        63,
    ]
    assert [quantised("pair_recent", x) for x in (0.0, 0.3, 0.5, 1.0)] == [0, 0, 1, 1]


def test_shares_are_rounded_to_powers_of_two():
    assert [quantised("pair_share", x) for x in (1.0, 0.6, 0.5, 0.26, 0.1)] == [1.0, 0.5, 0.5, 0.25, 0.125]
    assert quantised("object_habit", 0.0) == 2.0**-16


def test_distances_and_the_predicate_stay_as_they_are():
    exact = [name for name in PROFILE_FEATURES if not is_count(name) and not is_share(name)]
    assert [quantised(name, 57.0) for name in exact] == [57.0] * len(exact)
    assert quantised("pair_before", FAR) == FAR
    assert set(exact) == {
        "pair_before", "pair_after", "pair_nearest", "same_before", "same_after", "inverse_before", "inverse_after",
        "object_before", "object_after", "active_before", "active_after", "name_overlap", "predicate",
    }  # fmt: skip


def test_counts_of_facts_that_lie_in_time_are_quantised_too():
    counts = [name for name in spans.INTERVAL_FEATURES if is_count(name)]
    assert [quantised(name, 57.0) for name in counts] == [63.0] * len(counts)
    said = ("overlapping", "covering", "within", "same_span", "same_start", "same_end", "following", "preceding")
    assert set(counts) == {f"{whose}_{name}" for whose in ("object", "active") for name in said}
    assert quantised("shared_neighbours_same_now", 0.3) == pytest.approx(0.3)


def test_one_fact_less_is_seen_in_few_counts_only():
    """Only at the edges between orders of magnitude, which are few, does a missing fact show."""
    edges = [n for n in range(1, 100_000) if quantised("events", n) != quantised("events", n - 1)]
    assert edges == [1, 2, 5, 11, 22, 45, 90, 181, 362, 724, 1448, 2896, 5792, 11585, 23170, 46340, 92681]


@pytest.mark.parametrize(
    ("feature", "value", "text"),
    [("events", 63.0, "about 63"), ("events", 1.0, "1"), ("events", 0.0, "0"),
     ("events", 8191.0, "about 8,200"), ("pair_share", 0.25, "about 0.25"),
     ("pair_share", 1.0, "about 1"), ("pair_share", 2.0**-16, "none"),
     ("pair_before", 57.0, "57"), ("pair_before", FAR, "none"), ("events at the end", 7.0, "about 7")],
)  # fmt: skip
def test_explanations_say_that_a_count_is_quantised(feature: str, value: float, text: str):
    assert value_in_words(feature, value) == text
