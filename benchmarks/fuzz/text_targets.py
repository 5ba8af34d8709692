"""Readers of what people write: configurations, plans, rules, questions and changes of a graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import foretime as ft
from benchmarks.fuzz.data_targets import ROWS, columns_of, parquet, written
from benchmarks.fuzz.target import Reader, Target, by_first_byte, chosen
from foretime.cli.options import parse_settings
from foretime.config import config_text, override
from foretime.experiments.bench.lists import read_list
from foretime.experiments.tuning.plan import read_plan
from foretime.inference.changes import read_event, read_removal
from foretime.inference.questions import read_questions
from foretime.rules.imports import read_foreign
from foretime.rules.parsing import parse_rule
from foretime.runs.upgrade import upgrade

RULES = (
    'visits(x, y, t) <= sues(y, x, t+1)  [SC 0.90, HC 0.90, 9 of 10]\n"a (b)"(x, y) <= visits(x, y)\n'
    "sues(x, y, t) <= visits(x, z, t) ∧ sues(z, y, t) # a note\n"
)
AMIE = "?a  <visits>  ?b   => ?a  <sues>  ?b\t0.1\t0.9\t0.9\t10\t11\t11\t?a\n"
ANYBURL = "10\t9\t0.9\tvisits(X,Y) <= sues(Y,X)\n"
QUESTIONS = "subject\tpredicate\tobject\ttime\ttype\twhere\nAnn\tvisits\t?\t2024-02-01\tcity\tcountry=A\n"
PLAN = '[tune]\nconfig = "base.toml"\ntrials = 2\n[ranges]\nmodel.rank = { low = 2, high = 9 }\n'
LIST = (
    '[bench]\nruns = "r"\n[[run]]\nconfig = "base.toml"\nseeds = [0, 1]\nname = "n"\n[run.settings]\n"model.rank" = 4\n'
)


def file_reader(name: str, read: Callable[[Path], object]) -> Reader:
    """Return a reader of the file with a name, beside a configuration that it may name."""

    def read_file(content: bytes, folder: Path) -> None:
        written(config_text(ft.Config(data=ft.DataConfig(path="graph"))).encode(), folder, "base.toml")
        assert read(written(content, folder, name)) is not None

    return read_file


def read_settings(content: bytes, folder: Path) -> None:
    """Read settings as the command line does."""
    override(ft.Config(), parse_settings(content.decode("utf-8", "replace").split("\n")), "--set: ")


def read_rule_text(content: bytes, folder: Path, graph: ft.Graph) -> None:
    """Read the rule of a line, and what is printed of it again."""
    rule, measures = parse_rule(content.decode("utf-8", "replace"), graph.predicates)
    rules = ft.Rules.of([rule], [measures], graph.predicates)
    again, _ = parse_rule(str(next(iter(rules))), graph.predicates)
    assert again == rule, f"{rule} is read as {again} when it is printed"


def read_change(content: bytes, folder: Path, graph: ft.Graph) -> None:
    """Read an event or a rule that a question leaves out, or adds."""
    text = content[1:].decode("utf-8", "replace")
    (read_removal if content[:1] < b"m" else read_event)(text, graph)


def text_targets() -> list[Target]:
    """Return the readers of what people write."""
    graph = ft.load(columns_of(ROWS), valid_share=0, test_share=0)
    toml = config_text(ft.Config()).encode()
    rule, measures = parse_rule("visits(x, y, t) <= sues(y, x, t)", graph.predicates)
    rules = ft.Rules.of([rule], [measures], graph.predicates)
    lines = "".join(json.dumps(rule.to_dict()) + "\n" for rule in rules)
    return [
        Target(
            "configurations", (toml, b'[model]\nname = "lcge"\nrank = 8\n'), file_reader("c.toml", ft.read_config), 3
        ),
        Target("configurations: upgraded", (toml, b"[combiner]\nuse = true\n"), file_reader("c.toml", upgrade)),
        Target("configurations: settings", (b"training.epochs=20\nmodel.name=lcge", b"a.b={x=[1]}"), read_settings, 3),
        Target("configurations: plans", (PLAN.encode(),), file_reader("plan.toml", read_plan), 2),
        Target("configurations: lists", (LIST.encode(),), file_reader("list.toml", read_list), 2),
        Target(
            "rules",
            tuple(line.encode() for line in RULES.splitlines()),
            partial(read_rule_text, graph=graph),
            4,
        ),
        Target(
            "rules: files",
            chosen([[RULES.encode()], [lines.encode()], [parquet(rules.to_frame("arrow"))]]),
            by_first_byte([file_reader(f"rules{end}", ft.read_rules) for end in (".txt", ".jsonl", ".parquet")]),
            2,
        ),
        Target(
            "rules: of other miners",
            chosen([[AMIE.encode()], [ANYBURL.encode()]]),
            by_first_byte(
                [
                    file_reader("r.txt", partial(read_foreign, names=graph.predicates, miner=miner))
                    for miner in ("amie", "anyburl")
                ]
            ),
            2,
        ),
        Target(
            "questions",
            chosen(
                [
                    [QUESTIONS.encode()],
                    [QUESTIONS.replace("\t", ",").encode()],
                    [b'{"subject": "Ann", "predicate": "visits", "time": 2024, "where": {"country": ["A"]}}\n'],
                ]
            ),
            by_first_byte([file_reader(f"q{ending}", read_questions) for ending in (".tsv", ".csv", ".jsonl")]),
            3,
        ),
        Target(
            "questions: changes",
            (
                b"aAnn visits Zurich 2024-01-31",
                b'z["Ann", "visits", "Bob Lee", "2024-01-31"]',
                b"avisits(x, y) <= sues(x, y)",
            ),
            partial(read_change, graph=graph),
            2,
        ),
    ]
