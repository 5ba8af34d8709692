"""The figures of the agenda: precision, recall and reliability as they are defined."""

import numpy as np
import pytest
from benchmarks.agenda import add_figures, reliability


def test_precision_is_of_k_and_recall_of_all_that_came():
    figures = {f"{name}@{top}": [] for name in ("precision", "recall") for top in (10, 20, 100)}
    add_figures(figures, np.array([True, False, True, *[False] * 27]), wanted=4)
    assert figures["precision@10"] == [0.2]
    assert figures["recall@10"] == figures["recall@100"] == [0.5]


def test_reliability_counts_what_came_in_each_bin():
    found = reliability(np.array([0.15, 0.15, 0.95, 0.001]), np.array([True, False, True, False]))
    assert [(row["from"], row["events"], row["came"]) for row in found["table"]] == [
        (0.0, 1, 0),
        (0.1, 2, 0.5),
        (0.9, 1, 1),
    ]
    assert found["likely_events"] == 3
    assert found["brier"] == pytest.approx((0.85**2 + 0.15**2 + 0.05**2 + 0.001**2) / 4)
