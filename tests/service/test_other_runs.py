"""Runs of other kinds: a re-ranker, intervals, and forecasts of times that the timeline does not have."""

from pathlib import Path

import pytest
from live_service import Live

from foretime.config import Config, override
from foretime.data.graph import Graph, read_graph
from foretime.runs.life import train
from foretime.service.settings import Settings

QUESTION = {"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}
FAST = {"evidence.use": True, "model.rank": 4, "training.epochs": 1, "rules.support": 2, "training.valid_every": 1}
RERANKER = {"use": True, "with_valid": True, "folds": 3, "top": 3, "trees": 6, "leaves": 4, "leaf_candidates": 4}


@pytest.fixture(scope="module")
def others(small_graph: Graph, small_config: Config, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("others")
    fast = override(small_config, FAST)
    reranked = {f"reranker.{name}": value for name, value in RERANKER.items()}
    train(small_graph, override(fast, reranked), folder / "reranked")
    train(small_graph, override(fast, {"evidence.past_only": True}), folder / "past")
    spans = read_graph(intervals(folder / "intervals.tsv"))
    train(spans, fast, folder / "intervals")
    train(spans, override(fast, reranked), folder / "intervals-reranked")
    with Live([folder], Settings(port=0)) as live:
        yield live


def intervals(path: Path) -> Path:
    spans = [(1900 + 7 * k % 60, 1900 + 7 * k % 60 + k % 9) for k in range(200)]
    unknown = "####-##-##"
    rows = [
        (
            f"person {k % 11}",
            ("lives in", "works for")[k % 2],
            f"place {k % 7}",
            str(a),
            unknown if k % 10 == 3 else str(b),
        )
        for k, (a, b) in enumerate(spans)
    ]
    path.write_text("".join("\t".join(row) + "\n" for row in dict.fromkeys(rows)))
    return path


def test_all_are_served(others: Live):
    found = {run["name"]: run for run in others.found("/runs")["runs"]}
    assert found["reranked"]["reranker"]
    assert found["past"]["forecasts"]
    assert found["intervals"]["intervals"]
    assert found["intervals-reranked"]["intervals"]
    assert {name: run["valid_fitted"] for name, run in found.items()} == {
        "reranked": True,
        "past": False,
        "intervals": False,
        "intervals-reranked": True,
    }
    assert len({run["loaded"] for run in found.values()}) == 4
    for name in found:
        others.found(f"/runs/{name}")


def test_base_model_and_reranker_are_shown(others: Live):
    answers = others.found("/runs/reranked/complete", **QUESTION, top=12)
    assert "reranker" in answers["answers"][0]["terms"]
    names = [answer["name"] for answer in answers["answers"]]
    for competitor in (names[1], names[-1]):  # on the shortlist, and behind it
        found = others.found("/runs/reranked/explain", **QUESTION, object=names[0], competitor=competitor, full=True)
        assert found["full"]["features"]
        assert found["competitor"]["answer"] == competitor


def test_two_different_runs_are_compared(others: Live):
    found = others.found("/compare", left="reranked", right="past", **QUESTION, top=4)
    sides = {
        side: others.found(f"/runs/{run}/complete", **QUESTION, top=4)
        for side, run in (("left", "reranked"), ("right", "past"))
    }
    ranks = {side: {answer["name"]: answer["rank"] for answer in one["answers"]} for side, one in sides.items()}
    assert ranks["left"] != ranks["right"]
    for side, one in sides.items():
        assert found[side]["run"] == one["run"]
        assert [answer["name"] for answer in found[side]["answers"]] == [answer["name"] for answer in one["answers"]]
    rows = {row["name"]: (row["left"], row["right"]) for row in found["answers"]}
    assert rows == {
        name: (ranks["left"].get(name), ranks["right"].get(name))
        for name in ranks["left"].keys() | ranks["right"].keys()
    }
    best = [min(rank for rank in pair if rank is not None) for pair in rows.values()]
    assert best == sorted(best)
    assert found["shared"] == len(ranks["left"].keys() & ranks["right"].keys())


def test_a_forecast_reaches_any_later_time(others: Live):
    for time in ("2020-12-31", "2999-01-01", "99999-01-01"):
        asked = {**QUESTION, "time": time}
        assert others.found("/runs/past/complete", **asked)["answers"]
        others.found("/runs/past/explain", **asked)
    assert others.get("/runs/reranked/complete", **{**QUESTION, "time": "2999-01-01"}).status_code == 422


def test_intervals_have_a_start_and_an_end(others: Live):
    facts = others.found("/runs/intervals/facts", limit=500)
    assert any(fact["start"] and fact["end"] and not fact["time"] for fact in facts["facts"])
    assert any(fact["start"] and not fact["end"] and not fact["time"] for fact in facts["facts"])
    then = others.found("/runs/intervals/facts", limit=500, **{"from": "1930", "to": "1930"})["facts"]
    assert then
    for fact in then:
        start, end = fact["time"] or fact["start"], fact["time"] or fact["end"]
        assert (start or end) <= "1930" <= (end or start)
    asked = {"subject": "person 1", "predicate": "works for", "start": "1930", "end": "1933"}
    assert others.found("/runs/intervals/complete", **asked)["question"] == asked
    others.found("/runs/intervals/explain", **asked)


def test_shared_neighbours_that_support_an_answer_are_named(others: Live):
    asked = {"subject": "person 1", "predicate": "works for", "start": "1930", "end": "1933"}
    found = others.found("/runs/intervals-reranked/explain", **asked, full=True)
    shared = found["full"]["shared_neighbours"]
    assert shared["paths"] >= shared["count"] >= len(shared["co_neighbours"]) > 0
    assert {one["name"] for one in shared["co_neighbours"]} <= {f"person {k}" for k in range(11)} - {"person 1"}


@pytest.mark.parametrize("run", ["past", "intervals"])
@pytest.mark.parametrize(
    "time", ["9223372036854775807", "9" * 40, "-5", "0", "٣", "1e5", "nan", "2024-13-45", " … ", "0001-01-01"]
)
def test_times_that_are_none_are_refused(others: Live, run: str, time: str):
    example = others.found(f"/runs/{run}")["example"]
    asked = {name: example[name] for name in ("subject", "predicate")}
    for path, slots in (("complete", {"time": time}), ("explain", {"time": time}), ("complete", {"end": time})):
        assert others.get(f"/runs/{run}/{path}", **asked, **slots).status_code == 422
    assert others.get(f"/runs/{run}/facts", **{"from": time}).status_code == 422
