"""Growth: worlds have the sizes asked for, slopes are right, and a stage out of bounds is stopped."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.growth.extrapolation import Graph, extrapolated
from benchmarks.growth.processes import Limits, run_apart
from benchmarks.growth.slopes import slopes
from benchmarks.growth.worlds import write_world

from foretime.data.graph import read_graph


def test_a_world_has_its_entities_about_its_events_and_hubs(tmp_path: Path) -> None:
    write_world(tmp_path, events=20_000, entities=2_000, asked=100)
    graph = read_graph(tmp_path)
    assert len(graph.entities) == 2_000
    assert len(graph.valid) == len(graph.test) == 100
    assert 18_000 < len(graph.train) <= 19_800
    degree = np.sort(np.bincount(graph.train.subject, minlength=2_000))[::-1]
    assert degree[:20].sum() > 0.1 * len(graph.train)  # one hundredth of the entities has a tenth of the events


def test_exponents_are_those_of_a_power_law_with_one_unfinished_size() -> None:
    rows = [
        {"stage": "mine", "events": n, "entities": 10, "status": "done", "whole_seconds": 2e-6 * n**1.5,
         "memory_mb": 300 + n / 1000, "empty_mb": 300}
        for n in (10**4, 10**5, 10**6)
    ]  # fmt: skip
    rows.append({**rows[0], "events": 10**7, "status": "stopped: longer than 900 s"})
    (found,) = slopes(rows)
    assert (found["over"], found["from"], found["to"]) == ("events", 10**4, 10**6)
    assert found["whole_seconds"] == {"all": 1.5, "last": 1.5}
    assert found["own_mb"] == {"all": 1.0, "last": 1.0}


@pytest.mark.parametrize(
    ("limits", "said"), [(Limits(60, 1), "more than 1 MB"), (Limits(0.1, 9999), "longer than 0 s")]
)
def test_a_stage_out_of_bounds_is_stopped_and_says_so(tmp_path: Path, limits: Limits, said: str) -> None:
    found = run_apart(["--stage", "read", "--folder", str(tmp_path), "--scratch", str(tmp_path)], limits)
    assert said in found["status"]
    assert found["whole_seconds"] is None


def test_what_was_not_measured_follows_both_exponents() -> None:
    def row(events: float, entities: float) -> dict[str, object]:
        own = events * 1e-4 + entities * 0
        return {"stage": "mine", "events": events, "entities": entities, "status": "done", "memory_mb": 300 + own,
                "empty_mb": 300, "whole_seconds": 3600e-6 * events * (entities / 100) ** 0.5}  # fmt: skip

    rows = [row(10**5, 100), row(10**6, 100), row(10**5, 10_000)]
    found = extrapolated(rows, slopes(rows), "mine", Graph(10**9, 10**8))
    assert found is not None
    assert found["hours"] == pytest.approx(1e-6 * 10**9 * 10**3, rel=0.01)
    assert found["gb"] == pytest.approx(100, rel=0.05)
    assert extrapolated(rows[:1], slopes(rows[:1]), "mine", Graph(10**9, 10**8)) is None
