"""Files of results and curves."""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foretime.errors import ConfigError, DataError, RunError
from foretime.experiments.bench.curve import curve_of, has_converged, last_gain
from foretime.experiments.bench.rows import add_finished, read_rows, row_of_finished, write_row
from foretime.runs.folder import RunFolder
from result_rows import RISE, points, result


def test_a_curve_has_converged_if_its_last_quarter_brought_little():
    assert has_converged(points(0.1, 0.3, 0.4, 0.41), False) is False
    assert has_converged(points(0.1, 0.3, 0.4, 0.4015), False) is True
    assert has_converged(points(0.1, 0.3, 0.4, 0.2), False) is True
    assert has_converged(points(0.1, 0.3, 0.4), False) is None
    # out of patience: after little, after much and too soon, after much and late enough, and after too little to tell
    assert has_converged(points(0.1, 0.3, 0.4, 0.4015, 0.4), True) is True
    assert has_converged(points(*RISE, 0.09), True) is False
    assert has_converged(points(*RISE, 0.09, 0.09, 0.09), True) is True
    assert has_converged(points(0.1), True) is None
    assert has_converged(points(0.02, 0.05, 0.051, 0.052), False) is False  # little for others, much for such a model
    assert last_gain(points(0.1, 0.3, 0.4, 0.41)) == pytest.approx(0.01)
    assert curve_of([{"epoch": 1, "seconds": 2.0}, {"epoch": 2, "seconds": 4.0, "valid_mrr": 0.5}]) == [(2, 4.0, 0.5)]


def test_a_result_takes_the_place_of_that_of_its_name(tmp_path: Path):
    path = tmp_path / "new" / "results.jsonl"
    for row in (result("a", 0.5), result("b", 0.6), result("a", 0.7)):
        write_row(path, row)
    assert [(row["name"], row["test"]["mrr"]) for row in read_rows(path)] == [("a", 0.7), ("b", 0.6)]
    assert read_rows(tmp_path / "none.jsonl") == []
    half = json.dumps({key: value for key, value in result("a", 0.5).items() if key != "parameters"})
    for bad in ("{", "[]", '{"name": "a"}', '{"name": "a", "config_hash": "b", "status": "failed"}', half):
        path.write_text(json.dumps(result("a", 0.5)) + "\n" + bad + "\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"results\.jsonl:2: not a result of foretime bench \(.+\); fix the line"):
            read_rows(path)
    path.write_bytes(json.dumps(result("a", 0.5)).encode() + b"\n\xff\xfe\n")
    with pytest.raises(DataError, match=r"results\.jsonl:2: not a result of foretime bench"):
        read_rows(path)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"curve": 5}, "curve"), ({"curve": [[1]]}, "curve.0.1"), ({"test": "x"}, "test"),
        ({"seconds": None}, "seconds"),
        ({"test": {"hits@1": 0.1}}, "test.mrr"), ({"parameters": None}, "parameters"), ({"earlier": None}, "earlier"),
        ({"commit": 5}, "commit"), ({"data": "a/b"}, "data"), ({"status": "done"}, "status"),
        ({"test": {"mrr": float("nan")}}, "test.mrr"),
    ],
)  # fmt: skip
def test_a_line_of_another_shape_is_named_with_its_place(tmp_path: Path, changes: dict[str, object], place: str):
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(["", json.dumps(result("a", 0.5)), json.dumps(result("a", 0.5, **changes))]), "utf-8")
    with pytest.raises(DataError, match=rf"results\.jsonl:3: not a result of foretime bench \({re.escape(place)}: "):
        read_rows(path)


def test_a_result_tells_what_else_was_ranked_on_test_in_its_place(tmp_path: Path):
    path, earlier = tmp_path / "results.jsonl", []
    for config_hash, tested in (("a", True), ("b", True), ("b", True), ("c", False), ("d", True), ("a", True)):
        row = result("run-0", 0.5, config_hash=config_hash, **({} if tested else {"test": None, "status": "failed"}))
        write_row(path, row)
        earlier.append(read_rows(path)[0].get("earlier", []))
    assert earlier == [[], ["a"], ["a"], ["a"], ["a", "b"], ["b", "d"]]
    write_row(path, result("run-0", 0.6, config_hash="e", epochs=40, tested_before=[30], earlier=["a"]))  # it went on
    assert read_rows(path)[0]["earlier"] == ["b", "d", "a"]
    write_row(path, result("run-0", 0.6, config_hash="f"))
    assert read_rows(path)[0]["earlier"] == ["b", "d", "a", "e"]


def test_what_was_ranked_on_the_test_of_another_graph_is_not_counted(tmp_path: Path):
    path = tmp_path / "results.jsonl"
    for config_hash, graph in (("a", "one"), ("b", "one"), ("c", "two"), ("d", "two")):
        write_row(path, result("run-0", 0.5, config_hash=config_hash, data_fingerprint=graph))
    assert read_rows(path)[0]["earlier"] == ["c"]


def test_a_finished_result_stays_until_another_one_is_finished(tmp_path: Path):
    path, kept = tmp_path / "results.jsonl", []
    statuses = ("interrupted", "failed", "finished", "interrupted", "failed", "over budget", "finished")
    for number, status in enumerate(statuses):
        write_row(path, result("a", 0.5, status=status, seed=number))
        kept += [row["seed"] for row in read_rows(path)]
    assert kept == [0, 1, 2, 2, 2, 2, 6]


def test_results_that_are_written_in_parallel_are_all_kept(tmp_path: Path):
    path = tmp_path / "results.jsonl"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: write_row(path, result(f"run-{number}", 0.5)), range(40)))
    assert {row["name"] for row in read_rows(path)} == {f"run-{number}" for number in range(40)}


def test_a_finished_run_can_be_put_among_the_results(small_run: Path, tmp_path: Path):
    row = row_of_finished(RunFolder(small_run))
    assert (row["name"], row["model"], row["commit"]) == ("small-0", "lcge", None)
    assert row["test"]["mrr"] == RunFolder(small_run).report()["test"]["all"]["mrr"]
    assert row["converged"] is None  # three evaluations tell nothing
    (tmp_path / "run").mkdir()
    for name in ("config.toml", "graph.json", "facts.safetensors"):
        (tmp_path / "run" / name).write_bytes((small_run / name).read_bytes())
    with pytest.raises(RunError, match="the run is not finished; resume it with foretime train --resume"):
        row_of_finished(RunFolder(tmp_path / "run"))


def test_two_runs_do_not_take_one_place_among_the_results(small_run: Path, tmp_path: Path):
    results, copy = tmp_path / "results.jsonl", Path(shutil.copytree(small_run, tmp_path / small_run.name))
    with pytest.raises(ConfigError, match="two runs would be called small-0; add one of them with another --name"):
        add_finished(results, [RunFolder(small_run), RunFolder(copy)])
    assert not results.exists()
    add_finished(results, [RunFolder(small_run)])
    add_finished(results, [RunFolder(small_run)], variant="-TIS")
    add_finished(results, [RunFolder(copy)], name="other")
    assert [(row["name"], row["variant"]) for row in read_rows(results)] == [
        ("small-0", ""), ("small-TIS-0", "-TIS"), ("other-0", ""),
    ]  # fmt: skip
    write_row(results, result("small-0", 0.5))
    ((row, old),) = add_finished(results, [RunFolder(small_run)])
    assert (row["name"], old["config_hash"]) == ("small-0", "ab")
    assert add_finished(results, [RunFolder(small_run)]) == [(row, None)]
    with pytest.raises(ConfigError, match=r"--variant 'a\|b': a variant is made of letters, digits, \+ and -, as -TIS"):
        add_finished(results, [RunFolder(small_run)], variant="a|b")
    with pytest.raises(ConfigError, match=r"--name 'a\|b': a name is made of letters, digits, spaces"):
        add_finished(results, [RunFolder(small_run)], name="a|b")
    (copy / "made.json").write_text(json.dumps({"commit": "d" * 40}), encoding="utf-8")  # a list has begun it
    ((row, _),) = add_finished(results, [RunFolder(copy)], name="begun")
    assert row["commit"] == "d" * 40
