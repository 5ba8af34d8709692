"""`foretime mine` and `foretime rules …` on a small world, as a shell would call them."""

import json
from pathlib import Path

import pytest

from foretime.data.graph import read_graph
from foretime.data.synthetic import generate_world
from foretime.rules.files import read_rules

MINE = ("--window", 5, "--static-support", 3)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_world(1500).write(tmp_path_factory.mktemp("world"))


@pytest.fixture
def mined(foretime, world: Path, tmp_path: Path) -> Path:
    out = tmp_path / "mined.txt"
    outcome = foretime("mine", world, "--out", out, *MINE)
    assert outcome.code == 0, outcome.err
    return out


def test_mine_writes_the_rules_and_shows_the_best_and_their_patterns(foretime, world: Path, tmp_path: Path):
    out = tmp_path / "rules.jsonl"
    outcome = foretime("mine", world, "--out", out, *MINE, "--splits", "train,valid")
    rules = [json.loads(line) for line in out.read_text().splitlines()]
    assert outcome.code == 0
    assert f"{len(rules)} rules: " in outcome.out
    assert f"{sum(rule['pattern'] == 'follows' for rule in rules)} follows" in outcome.out
    assert f"written to {out}" in outcome.err
    assert [rule["confidence"] for rule in rules] == sorted((rule["confidence"] for rule in rules), reverse=True)


def test_mine_takes_every_threshold_and_prints_json(foretime, world: Path):
    outcome = foretime(
        "mine", world, "--json", "--window", 4, "--support", 12, "--confidence", 0.3, "--head-coverage", 0.2,
        "--counting", "windowed",
        "--static-support", 5, "--static-head-coverage", 0.02, "--static-confidence", 0.2,
        "--static-pca-confidence", 0.1, "--best-pattern-only", "--granularity", "day",
    )  # fmt: skip
    report = json.loads(outcome.out)
    assert sum(report["patterns"].values()) == len(report["rules"]) > 0
    assert min(rule["confidence"] for rule in report["rules"]) >= 0.3
    assert min(rule["head_coverage"] for rule in report["rules"]) >= 0.2
    assert min(rule["support"] for rule in report["rules"]) >= 12


def test_an_interrupted_mining_leaves_no_file_and_says_so(foretime, world: Path, tmp_path: Path, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("foretime.rules.mining.mine_rules", interrupted)
    outcome = foretime("mine", world, "--out", tmp_path / "rules.txt")
    assert (outcome.code, outcome.out, list(tmp_path.iterdir())) == (130, "", [])
    assert "stopped; nothing was written" in outcome.err


def test_faults_of_mine_are_told_before_anything_is_mined(foretime, world: Path, tmp_path: Path):
    for words, message in {
        ("--out", tmp_path / "rules.csv"): "a file of rules ends in .txt, .rules, .jsonl, .parquet or .pq",
        ("--window", 0): "rules.window = 0: should be greater than or equal to 1",
        ("--splits", "train,exam"): "rules.splits.1 = 'exam': should be 'train', 'valid' or 'test'",
        ("--confidence", 2): "should be less than or equal to 1",
    }.items():
        outcome = foretime("mine", world, *words)
        assert (outcome.code, message in outcome.err) == (2, True), outcome.err


def test_show_filters_and_sorts(foretime, mined: Path):
    rules = json.loads(foretime("rules", "show", mined, "--top", 0, "--json").out)
    assert len(rules) == len(mined.read_text().splitlines())
    heads = json.loads(foretime("rules", "show", mined, "--head", "HOST A", "--body", "make", "--json").out)
    assert heads
    assert all("Host a visit" in rule["head"]["predicate"] for rule in heads)
    by_support = json.loads(foretime("rules", "show", mined, "--sort", "support", "--top", 3, "--json").out)
    assert [rule["support"] for rule in by_support] == sorted((rule["support"] for rule in rules), reverse=True)[:3]
    in_order = json.loads(foretime("rules", "show", mined, "--sort", "file", "--pattern", "follows", "--json").out)
    assert {rule["pattern"] for rule in in_order} == {"follows"}
    for rule in in_order:
        assert mined.read_text().splitlines()[rule["number"] - 1].startswith(rule["text"])
    table = foretime("rules", "show", mined, "--sort", "head_coverage", "--top", 2).out
    assert f"2 of {len(rules)} rules that fit, of {len(rules)} in {mined}" in table


def test_show_reads_the_rules_of_a_run(foretime, world: Path, tmp_path: Path):
    assert "a folder without rules.parquet" in foretime("rules", "show", tmp_path).err
    foretime("mine", world, "--out", tmp_path / "rules.parquet", *MINE)
    assert "1 of " in foretime("rules", "show", tmp_path, "--top", 1).out


def test_show_prints_brackets_in_names_as_they_are(foretime, tmp_path: Path):
    (tmp_path / "odd.txt").write_text("[b]A(x, y) <= [red]B(x, y)\n")
    assert "[b]A(x, y) <= [red]B(x, y)" in foretime("rules", "show", tmp_path / "odd.txt", "--pattern", "static").out


def test_check_agrees_with_the_miner_and_finds_what_was_changed(foretime, world: Path, mined: Path, tmp_path: Path):
    same = foretime("rules", "check", mined, world, "--window", 5, "--strict")
    assert same.code == 0, same.out
    assert ", 0 differ" in same.out
    changed = tmp_path / "changed.txt"
    changed.write_text(
        "Host a visit(y, x, t) <= Make a visit(x, y, t)  [SC 0.90, HC 0.90, 9 of 10]\n"
        "Make a visit(x, y, t+t1) <= Make a visit(x, y, t)\n"
    )
    outcome = foretime("rules", "check", changed, world, "--window", 5, "--strict", "--json")
    first, second = json.loads(outcome.out)
    assert outcome.code == 1
    assert (first["given"], first["differs"]) == ("SC 0.90, HC 0.90, 9 of 10", True)
    assert (second["given"], second["differs"]) == ("", False)
    assert " of " in second["counted"]
    assert foretime("rules", "check", changed, world).code == 0


def test_check_compares_head_coverage_at_the_precision_that_the_file_gives(foretime, world: Path, tmp_path: Path):
    text, rule = tmp_path / "rules.txt", "Host a visit(y, x, t) <= Make a visit(x, y, t)"
    text.write_text(rule + "\n")
    objects = tmp_path / "rules.jsonl"
    foretime("rules", "check", text, world, "--out", objects)
    counted = json.loads(objects.read_text())
    share = counted["head_coverage"]

    def differs(path: Path, content: str) -> bool:
        path.write_text(content)
        return foretime("rules", "check", path, world, "--strict").code == 1

    assert not differs(text, f"{rule} [HC {share:.2f}]")
    assert not differs(text, f"{rule} [HC {share:.5f}]")
    assert differs(text, f"{rule} [HC {share - 0.02:.2f}]")
    assert differs(text, f"{rule} [HC {share - 0.001:.5f}]")
    assert not differs(objects, json.dumps(counted))
    assert differs(objects, json.dumps({**counted, "head_support": counted["head_support"] - 1}))


def test_check_writes_the_rules_as_they_are_counted(foretime, world: Path, tmp_path: Path):
    out = tmp_path / "counted.jsonl"
    outcome = foretime("rules", "check", world / "rules.txt", world, "--window", 5, "--out", out)
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("new") == 10
    assert (read_rules(out, read_graph(world)).body_count > 0).all()


def test_a_misspelt_rule_is_named_with_its_line(foretime, world: Path, tmp_path: Path):
    path = tmp_path / "mine.txt"
    path.write_text("# mine\nHost a vist(y, x, t) <= Make a visit(x, y, t)\n")
    outcome = foretime("rules", "check", path, world)
    assert outcome.code == 2
    assert f"error: {path}:2: unknown predicate 'Host a vist'; did you mean 'Host a visit'" in outcome.err


def test_diff_tells_what_only_one_file_has_and_what_changed(foretime, tmp_path: Path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("A(x, y, t) <= B(x, y, t) [9 of 10]\nA(x, y, t) <= C(x, y, t)\n")
    second.write_text("A(x, y, t) <= B(x, y, t) [5 of 10]\nA(y, x, t) <= C(x, y, t)\n")
    outcome = foretime("rules", "diff", first, second)
    assert outcome.out.splitlines() == [
        f"only in {first}: 1 rules",
        "  A(x, y, t) <= C(x, y, t)",
        f"only in {second}: 1 rules",
        "  A(y, x, t) <= C(x, y, t)",
        "in both: 1 rules, 1 with another confidence",
        "  0.900 → 0.500  A(x, y, t) <= B(x, y, t)",
    ]
    report = json.loads(foretime("rules", "diff", first, second, "--by", 0.4, "--json").out)
    assert (report["common"], report["changed"]) == (1, [])


def test_diff_mines_two_graphs(foretime, world: Path, tmp_path: Path):
    other = generate_world(1500, seed=1).write(tmp_path / "other")
    report = json.loads(foretime("rules", "diff", world, other, "--mine", "--json").out)
    assert report["common"] > 0
    assert json.loads(foretime("rules", "diff", world, world, "--mine", "--json").out)["only_first"] == []


def test_diff_mines_as_mine_does_and_refuses_flags_that_would_do_nothing(foretime, world: Path, mined: Path):
    # one graph against itself, mined as the fixture mines it: what is common is what was mined
    flags = (*MINE, "--confidence", 0.2, "--support", 6, "--granularity", "day")
    expected = json.loads(foretime("mine", world, "--json", *flags).out)["rules"]
    assert json.loads(foretime("rules", "diff", world, world, "--mine", "--json", *flags).out)["common"] == len(
        expected
    )
    outcome = foretime("rules", "diff", mined, mined, "--window", 5, "--static-support", 3, "--irregular")
    assert outcome.code == 2
    assert "--window, --static-support, --irregular: how graphs are read and mined; add --mine" in outcome.err


def test_examples_are_dated_events_of_the_graph(foretime, world: Path, mined: Path):
    events = {tuple(line.split("\t")) for line in (world / "train.tsv").read_text().splitlines()}
    rule = "Hold consultations with(x, y, t+t1) <= Express intent to meet(x, y, t)"
    report = json.loads(foretime("rules", "example", mined, world, "--rule", rule, "--window", 5, "--json").out)
    assert (report["rule"], len(report["examples"])) == (rule, 5)
    for body, head in report["examples"]:
        assert [body.pop("role"), head.pop("role")] == ["body", "head"]
        assert {tuple(body.values()), tuple(head.values())} <= events
    misses = foretime("rules", "example", mined, world, "--rule", rule, "--window", 5, "--misses", "-n", 2).out
    assert misses.count("no head in the window") == 2
    first = foretime("rules", "example", mined, world, "--rule", 1, "--window", 5, "--count", 1).out
    assert mined.read_text().startswith(first.splitlines()[0])


def test_a_rule_that_cannot_be_chosen_is_named(foretime, world: Path, mined: Path):
    count = len(mined.read_text().splitlines())
    assert (
        f"--rule 999: {mined} has rules 1 to {count}" in foretime("rules", "example", mined, world, "--rule", 999).err
    )
    assert "--rule: expected an atom" in foretime("rules", "example", mined, world, "--rule", "none").err
    never = "Arrest(x, y, t) <= Trade with(x, y, t)"
    assert "the rule never holds" in foretime("rules", "example", mined, world, "--rule", never).out


@pytest.mark.parametrize(
    ("miner", "line", "constant"),
    [
        ("amie", "?a  <Accuse>  ?b   => ?a  <Criticise>  ?b\t.5\t.5\t.6\t43\t71\t60\t?a", "?a  p  Mali   => ?a  p  ?b"),
        ("anyburl", "71\t43\t0.6\tCriticise(X,Y) <= Accuse(X,Y)", "7\t3\t0.4\tCriticise(X,Mali) <= Accuse(X,Y)"),
    ],
)  # fmt: skip
def test_import_reads_the_rules_of_another_miner_in_time(
    foretime, world: Path, tmp_path: Path, miner: str, line: str, constant: str
):
    (tmp_path / "theirs").write_text(f"{line}\n{constant}\n")
    out = tmp_path / "ours.txt"
    outcome = foretime("rules", "import", miner, tmp_path / "theirs", world, "--out", out, "--window", 5)
    assert outcome.code == 0, outcome.err
    assert "1 rules read, 1 left out\n  1: a constant; the first is" in outcome.err
    assert out.read_text().startswith("Criticise(x, y, t) <= Accuse(x, y, t)  [SC 0.")


def test_import_and_check_take_the_folder_of_a_run_as_a_graph(foretime, world: Path, mined: Path, tmp_path: Path):
    read_graph(world).save(tmp_path / "run")
    assert ", 0 differ" in foretime("rules", "check", mined, tmp_path / "run", "--window", 5).out
