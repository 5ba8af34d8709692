"""Files of rules: what is written is read, to the last count where the form promises it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from foretime.config import RulesConfig
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.errors import DataError
from foretime.rules.files import read_rules
from foretime.rules.mining import facts_of, mine_rules, recount, sizes_of
from foretime.rules.static import mine_static
from foretime.rules.table import Rules, join

CONFIG = RulesConfig(window=5, static_support=3)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return read_graph(generate_world(2000).write(tmp_path_factory.mktemp("world")))


@pytest.fixture(scope="module")
def rules(world: Graph) -> Rules:
    static = mine_static(facts_of(world, CONFIG), *sizes_of(world)[:2], CONFIG)
    temporal = mine_rules(world, CONFIG)
    return join([replace(temporal, pca_body=np.zeros(len(temporal))), static])


def assert_equal(found: Rules, expected: Rules, *without: str) -> None:
    for name in set(vars(expected)) - {"predicates", *without}:
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name


@pytest.mark.parametrize("name", ["rules.jsonl", "rules.parquet", "rules.pq"])
def test_files_for_programs_keep_every_count(world: Graph, rules: Rules, tmp_path: Path, name: str):
    rules.save(tmp_path / name)
    assert_equal(read_rules(tmp_path / name, world), rules)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["rules.txt", "rules.rules"])
def test_text_keeps_rules_and_the_counts_behind_their_confidence(world: Graph, rules: Rules, tmp_path: Path, name: str):
    rules.save(tmp_path / name)
    found = read_rules(tmp_path / name, world)
    assert_equal(found, rules, "head_support", "head_count")
    assert found.head_coverage == pytest.approx(rules.head_coverage, abs=0.0051)
    again = tmp_path / "again.txt"
    found.save(again)
    assert again.read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("name", ["rules.txt", "rules.jsonl", "rules.parquet"])
def test_literal_measures_have_fractions_and_survive(world: Graph, tmp_path: Path, name: str):
    config = RulesConfig(window=5, static_support=3, counting="literal", confidence=0.01, head_coverage=0.0)
    rules = mine_rules(world, config)
    assert any(value % 1 for value in rules.support)
    rules.save(tmp_path / name)
    assert read_rules(tmp_path / name, world).confidence.tolist() == rules.confidence.tolist()


@pytest.mark.parametrize("name", ["rules.txt", "rules.jsonl", "rules.parquet"])
def test_literal_sums_above_the_number_of_steps_survive_where_that_counting_makes_them(
    world: Graph, tmp_path: Path, name: str
):
    (tmp_path / "joint.txt").write_text("Arrest(x, y, t+t1) <= Accuse(x, y, t) & Threaten(x, y, t) [SC 1.50, 4.5 of 3]")
    rules = read_rules(tmp_path / "joint.txt", world)
    rules.save(tmp_path / name)
    assert read_rules(tmp_path / name, world).confidence.tolist() == [1.5]


@pytest.mark.parametrize("name", ["rules.txt", "rules.jsonl", "rules.parquet"])
def test_no_rules_are_a_file_too(world: Graph, rules: Rules, tmp_path: Path, name: str):
    rules.take(slice(0)).save(tmp_path / name)
    assert len(read_rules(tmp_path / name, world)) == 0


@pytest.mark.parametrize("name", ["rules.txt", "rules.jsonl", "rules.parquet"])
def test_rules_can_be_read_without_their_graph(world: Graph, rules: Rules, tmp_path: Path, name: str):
    rules.save(tmp_path / name)
    difference = read_rules(tmp_path / name).compare(rules)
    assert difference[:3] == ([], [], [])
    assert difference.common == len(rules)


def test_hand_written_rules_have_no_counts_and_comments_are_left_out(world: Graph, tmp_path: Path):
    path = tmp_path / "mine.txt"
    path.write_text(
        "\ufeff# what we know\n\n"
        "Criticise(a, b, t) <= Accuse(a, b, t)   # as always\r\n"
        "# vetoed: Arrest(x, y, t) <= Accuse(x, y, t)\n"
        "Criticise(a, b, t+t1) <= Accuse(a, b, t)  [SC 0.80]\n",
        encoding="utf-8",
    )
    rules = read_rules(path, world)
    assert rules.pattern.tolist() == ["accompanies", "follows"]
    assert rules.body_count.tolist() == [0, 1]
    assert rules.confidence.tolist() == [0, 0.8]


def test_the_planted_rules_of_a_world_are_a_file_of_rules(world: Graph, tmp_path: Path):
    made = generate_world(2000)
    made.write(tmp_path)
    rules = read_rules(tmp_path / "rules.txt", world)
    assert rules.pattern.tolist() == [rule.pattern for rule in made.rules]
    whole = recount(rules, world, RulesConfig(window=5, splits=["train", "valid", "test"]))
    assert whole.support.tolist() == [rule.support for rule in made.rules]
    assert whole.body_count.tolist() == [rule.bodies for rule in made.rules]


def test_counting_anew_gives_the_counts_of_the_miner(world: Graph, rules: Rules):
    order = np.random.default_rng(0).permutation(len(rules))
    blank = {name: np.zeros(len(rules)) for name in ("support", "body_count", "head_support", "head_count", "pca_body")}
    assert_equal(recount(replace(rules, **blank).take(order), world, CONFIG), rules.take(order))


def test_all_bad_lines_are_reported_together_with_their_place(world: Graph, tmp_path: Path):
    path = tmp_path / "bad.txt"
    lines = [
        "Criticise(x, y) <= Accuse(x, y)",
        "Critcise(x, y) <= Accuse(x, y)",
        "Criticise(b, a) <= Accuse(b, a)",
        "no",
    ]
    path.write_text("\n".join(lines) + "\n" + "no\n" * 30)
    with pytest.raises(DataError) as caught:
        read_rules(path, world)
    report = str(caught.value).split("\n")
    assert report[0].startswith(f"{path}:2: unknown predicate 'Critcise'; did you mean 'Criticise'")
    assert report[1] == f"{path}:3: the same rule as in {path}:1; leave one of them out"
    assert report[2].startswith(f"{path}:4: expected an atom, NAME(x, y, t) or NAME(x, y), found 'no'")
    assert len(report) == 3, "one line for each kind"
    assert f"(30 more rows like it: {path}:5, 6, 7, " in report[2]


GOOD = {"text": "Criticise(x, y) <= Accuse(x, y)"}
OBJECTS = {
    "{": "{f}:1: not valid JSON: ",
    "[]": '{f}:1: expected an object with "text", or with "head" and "body"',
    json.dumps({"head": {}, "body": []}): '{f}:1: an atom is {"predicate": …',
    json.dumps({**GOOD, "support": "many"}): "{f}:1: support, body_count, head_support, head_count, pca_body must be n",
    json.dumps({**GOOD, "support": -1}): "{f}:1: support, body_count, head_support, head_count, pca_body must be fin",
    json.dumps({**GOOD, "support": 5, "body_count": 3}): "{f}:1: SC is more than 1: support and body_count are 5 of 3",
    json.dumps({**GOOD, "support": 5}): "{f}:1: SC is more than 1: support and body_count are 5 of 0; correct one",
    json.dumps({**GOOD, "head_support": 2, "head_count": 1}): "{f}:1: HC is more than 1: head_support and head_count a",
    json.dumps(
        {
            **GOOD,
            "head": {"predicate": "Accuse", "subject": "x", "object": "y"},
            "body": [{"predicate": "Criticise", "subject": "x", "object": "y"}],
        }
    ): '{f}:1: "text" and the atoms say different rules; correct one',
}


@pytest.mark.parametrize("line", OBJECTS)
def test_a_bad_object_is_named(world: Graph, tmp_path: Path, line: str):
    path = tmp_path / "bad.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match="^" + re.escape(OBJECTS[line].replace("{f}", str(path)))):
        read_rules(path, world)


def test_an_object_needs_no_more_than_its_text(world: Graph, tmp_path: Path):
    (tmp_path / "few.jsonl").write_text(json.dumps(GOOD) + "\n\n")
    assert read_rules(tmp_path / "few.jsonl", world).body_count.tolist() == [0]


def test_files_that_are_none_are_named(world: Graph, rules: Rules, tmp_path: Path):
    import pyarrow as pa
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"head": ["a"]}), tmp_path / "other.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    (tmp_path / "broken.txt").write_bytes(b"\xff\xfe")
    for name, message in {
        "rules.csv": "a file of rules ends in .txt, .rules, .jsonl, .parquet or .pq",
        "none.txt": "no such file of rules",
        "none.parquet": "no such file of rules",
        "other.parquet": "not a table of rules, it has no column text, support",
        "broken.parquet": "cannot be read as Parquet: ",
        "broken.txt": "cannot be read as rules: ",
    }.items():
        with pytest.raises(DataError, match=re.escape(f"{tmp_path / name}: {message}")):
            read_rules(tmp_path / name, world)
    with pytest.raises(DataError, match="the rules cannot be written"):
        rules.save(tmp_path / "no" / "rules.txt")


def test_rules_of_two_files_are_compared_whatever_the_order_of_their_names(tmp_path: Path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("H(x, y, t) <= A(x, y, t) ∧ B(x, y, t) [9 of 10]\nH(x, y, t) <= A(x, y, t) [1 of 2]\n")
    second.write_text("H(y, x, t) <= B(y, x, t) ∧ A(y, x, t) [5 of 10]\nH(x, y, t) <= B(x, y, t) [1 of 2]\n")
    difference = read_rules(first).compare(read_rules(second), by=0.3)
    assert [str(line) for line in difference.only_first] == ["H(x, y, t) <= A(x, y, t)  [SC 0.50, 1 of 2]"]
    assert [str(line) for line in difference.only_second] == ["H(x, y, t) <= B(x, y, t)  [SC 0.50, 1 of 2]"]
    assert difference.changed == [("H(x, y, t) <= A(x, y, t) ∧ B(x, y, t)", 0.9, 0.5)]
    assert read_rules(first).compare(read_rules(second), by=0.5).changed == []
