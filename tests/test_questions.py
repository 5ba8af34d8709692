"""Files of questions in, files of answers out: every format, and every fault with its line."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import torch

from foretime import Question
from foretime.config import ModelConfig
from foretime.data.graph import read_graph
from foretime.errors import QuestionError
from foretime.evaluation.slots import SLOTS
from foretime.inference.predictor import Predictor
from foretime.inference.questions import ANSWER_FIELDS, answer_file, read_questions
from foretime.models import build_model
from foretime.reranker.scorer import Scorer
from foretime.runs.evaluation import softmax_at
from foretime.training.trainer import sizes_of

QUESTIONS = [
    Question(subject="state 1", predicate="praises", time="2020-03-01"),
    Question(predicate="visits", object="state 2", time="2020-04-05"),
    Question(subject="state 1", object="state 2", time="2020-05-01"),
    Question(subject="state 1", predicate="praises", object="state 2"),
]
TSV = (
    "subject\tpredicate\tobject\ttime\n"
    "state 1\tpraises\t?\t2020-03-01\n"
    "\tvisits\tstate 2\t2020-04-05\n"
    "\n"
    "state 1\t?\tstate 2\t2020-05-01\n"
    "state 1\tpraises\tstate 2\t\n"
)
CSV = TSV.replace("\t", ",").replace("state 2,2020-04-05", '"state 2",2020-04-05').replace("\n", "\r\n")
JSON_LINES = (
    '{"subject": "state 1", "predicate": "praises", "time": "2020-03-01"}\n'
    '{"subject": null, "predicate": "visits", "object": "state 2", "time": "2020-04-05"}\n'
    '{"subject": "state 1", "predicate": "?", "object": "state 2", "time": "2020-05-01"}\n\n'
    '{"subject": "state 1", "predicate": "praises", "object": "state 2", "time": ""}'
)
FORMATS = {
    "q.tsv": TSV,
    "q.csv": CSV,
    "q.jsonl": JSON_LINES,
    "q.ndjson": JSON_LINES,
    "q.txt": TSV,
    "bom.tsv": "\ufeff" + TSV,
}


@pytest.fixture(scope="module")
def predictor(small_run: Path) -> Predictor:
    return Predictor.open(small_run)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def read_answers(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of answers, with numbers as numbers and empty cells as nothing."""
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    reading = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if path.suffix == ".tsv" else {}
    rows = [{k: v or None for k, v in row.items()} for row in csv.DictReader(text.splitlines(), **reading)]
    number = {"rank": int, "score": float, "probability": float}
    return [{k: number[k](v) if v and k in number else v for k, v in row.items()} for row in rows]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_the_same_questions(tmp_path: Path, name: str):
    placed = read_questions(write(tmp_path, name, FORMATS[name]))
    assert list(placed.values()) == QUESTIONS
    first, places = 1 if "json" in name else 2, list(placed)
    assert places[0] == f"{tmp_path / name}:{first}"
    assert places[-1] == f"{tmp_path / name}:{first + 4}"  # a blank line stands between them


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet", ".TSV"])
def test_every_format_holds_the_same_answers(predictor: Predictor, tmp_path: Path, suffix: str):
    out = tmp_path / "deep" / f"answers{suffix}"
    assert answer_file(predictor, write(tmp_path, "q.tsv", TSV), out, 3, "mark") == 4
    rows = read_answers(out.rename(out.with_suffix(suffix.lower())))
    assert [list(row) for row in rows] == [list(ANSWER_FIELDS)] * 12
    wanted = [
        (
            question.subject,
            question.time,
            answer.rank,
            answer.name,
            answer.already_known,
            answer.score,
            answer.probability,
        )
        for question, answers in zip(QUESTIONS, predictor.predict_many(QUESTIONS, 3), strict=True)
        for answer in answers
    ]
    keys = ("subject", "time", "rank", "answer", "already_known", "score", "probability")
    assert [tuple(row[key] for key in keys) for row in rows] == wanted


def test_a_column_of_parquet_without_any_value_still_has_a_type(predictor: Predictor, tmp_path: Path):
    answer_file(predictor, write(tmp_path, "q.tsv", TSV), tmp_path / "a.parquet", 1, "hide")
    kinds = {field.name: str(field.type) for field in pyarrow.parquet.read_schema(tmp_path / "a.parquet")}
    assert list(kinds) == list(ANSWER_FIELDS)
    assert kinds["probability"] == kinds["score"] == "double"
    assert kinds["start"] == kinds["already_known"] == "string"


def test_known_answers_can_be_hidden(predictor: Predictor, tmp_path: Path):
    out = tmp_path / "answers.jsonl"
    answer_file(predictor, write(tmp_path, "q.tsv", TSV), out, 1000, "hide")
    assert {row["already_known"] for row in read_answers(out)} <= {None, "test"}


def test_all_wrong_questions_are_reported_together_with_their_lines(predictor: Predictor, tmp_path: Path):
    lines = ["subject\tpredicate\ttime", "stat 1\tpraises\t2020-03-01", "state 1\tpraises\t2020-03-01"]
    lines += ["state 1\tprayses\t2020-03-01", "state 1\tpraises\t2031-01-01", "state 1\t\t"]
    path = write(tmp_path, "q.tsv", "\n".join(lines))
    with pytest.raises(QuestionError) as caught:
        answer_file(predictor, path, tmp_path / "answers.tsv", 3, "mark")
    found = str(caught.value).split("\n")
    assert [line.split(": ")[0] for line in found] == [f"{path}:{number}" for number in (2, 4, 5, 6)]
    assert "unknown entity 'stat 1'; did you mean 'state 1'" in found[0]
    assert "unknown predicate 'prayses'; did you mean 'praises'" in found[1]
    assert "'2031-01-01' is not on the timeline" in found[2]
    assert "predicate, object and time are left open" in found[3]
    assert not (tmp_path / "answers.tsv").exists()


@pytest.mark.parametrize("line", ["nobody\tpraises\t2020-03-01", "too\tfew"])
def test_more_than_twenty_wrong_lines_are_counted(predictor: Predictor, tmp_path: Path, line: str):
    path = write(tmp_path, "q.tsv", "subject\tpredicate\ttime\n" + f"{line}\n" * 25)
    with pytest.raises(QuestionError) as caught:
        answer_file(predictor, path, tmp_path / "answers.tsv", 3, "mark")
    found = str(caught.value).split("\n")
    assert len(found) == 21
    assert found[-1] == "… and 5 more"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.tsv", "subject\tpredicate\twhen\na\tb\tc\n", r"q\.tsv:1: unknown column 'when'; the columns are subject, "),
        ("q.jsonl", '{"subjekt": "a"}', r"q\.jsonl:1: unknown column 'subjekt'; the columns are subject, predicate"),
        ("q.tsv", "subject\tsubject\ttime\na\tb\tc\n", r"q\.tsv:1: the column 'subject' is there twice; leave one"),
        ("q.tsv", "subject\tpredicate\ttime\na\tb\n", r"q\.tsv:2: expected 3 fields as in the header, found 2"),
        ("q.csv", "subject,predicate,time\na,b,c,d\n", r"q\.csv:2: expected 3 fields as in the header, found 4"),
        ("q.csv", f"subject,predicate,time\n{'a' * 200_000},b,c\n", r"q\.csv:2: not a table: field larger than .*fix"),
        ("q.jsonl", '{"subject": "a"}\n{"subject": \n', r"q\.jsonl:2: not valid JSON: "),
        ("q.jsonl", '["a", "b"]', r"q\.jsonl:1: expected a JSON object with some of the keys subject, predicate"),
        ("q.tsv", "state 1\tpraises\t\t2020-03-01\n", r"q\.tsv:1: the first line must name the columns, some of subj"),
        ("q.tsv", "", r"q\.tsv: no question in the file; write a header and one question in each line"),
        ("q.tsv", "subject\tpredicate\ttime\n\n", r"q\.tsv: no question in the file"),
        ("q.jsonl", "\n\n", r"q\.jsonl: no question in the file"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_where(predictor: Predictor, tmp_path: Path, name, text, message):
    path, out = write(tmp_path, name, text), tmp_path / "answers.tsv"
    with pytest.raises(QuestionError, match=message):
        answer_file(predictor, path, out, 3, "mark")
    assert not out.exists()


def test_a_file_that_is_missing_or_no_text_is_named(predictor: Predictor, tmp_path: Path):
    with pytest.raises(QuestionError, match=r"none\.tsv: no such file of questions"):
        answer_file(predictor, tmp_path / "none.tsv", tmp_path / "a.tsv", 3, "mark")
    (tmp_path / "latin.tsv").write_bytes("subject\tpredicate\nCôte\tvisits\n".encode("latin-1"))
    with pytest.raises(QuestionError, match=r"latin\.tsv: cannot be read as UTF-8 text"):
        answer_file(predictor, tmp_path / "latin.tsv", tmp_path / "a.tsv", 3, "mark")
    with pytest.raises(QuestionError, match="cannot be read"):
        answer_file(predictor, tmp_path, tmp_path / "a.tsv", 3, "mark")


def test_an_ending_that_cannot_be_written_is_named_before_anything_else(predictor: Predictor, tmp_path: Path):
    with pytest.raises(
        QuestionError, match=r"a\.xlsx: answers are written as \.tsv, \.csv, \.jsonl, \.parquet; end the"
    ):
        answer_file(predictor, tmp_path / "none.tsv", tmp_path / "a.xlsx", 3, "mark")


def test_a_place_that_cannot_be_written_to_is_named(predictor: Predictor, tmp_path: Path):
    path = write(tmp_path, "q.tsv", TSV)
    (tmp_path / "folder.tsv").mkdir()
    for out in (tmp_path / "folder.tsv", path / "answers.tsv"):
        with pytest.raises(QuestionError, match=r"cannot be written: .*; name another file"):
            answer_file(predictor, path, out, 3, "mark")


def test_too_few_answers_are_an_error_and_nothing_is_written(predictor: Predictor, tmp_path: Path):
    with pytest.raises(QuestionError, match="top is 0"):
        answer_file(predictor, write(tmp_path, "q.tsv", TSV), tmp_path / "a.tsv", 0, "mark")
    assert not (tmp_path / "a.tsv").exists()


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    """A graph of names that a line of tab-separated values cannot hold."""
    names = ["plain", "with\ta tab", "with\na line end", 'with "quotes", and a comma']
    text = "subject,predicate,object,time\n" + "".join(
        '"{}",meets,"{}",{}\n'.format(a.replace('"', '""'), b.replace('"', '""'), 2000 + i)
        for i, (a, b) in enumerate((a, b) for a in names for b in names)
    )
    path = tmp_path_factory.mktemp("strange") / "graph.csv"
    path.write_text(text, encoding="utf-8", newline="")
    graph = read_graph(path)
    model = build_model(ModelConfig(name="complex", rank=2), sizes_of(graph), torch.Generator().manual_seed(0))
    return Predictor(Scorer(model.eval(), graph), graph, {slot: softmax_at(slot) for slot in SLOTS})


def test_a_name_with_a_tab_or_line_end_is_not_written_as_tsv(strange: Predictor, tmp_path: Path):
    path = write(tmp_path, "q.jsonl", '{"subject": "plain", "predicate": "meets", "time": 2003}')
    for suffix in (".csv", ".jsonl", ".parquet"):
        answer_file(strange, path, tmp_path / f"a{suffix}", 9, "mark")
    with pytest.raises(
        QuestionError, match=r"a\.tsv: the name 'with.*' has a tab or a line end, .* \.csv, \.jsonl or \.pa"
    ):
        answer_file(strange, path, tmp_path / "a.tsv", 9, "mark")
    assert not (tmp_path / "a.tsv").exists()
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as stream:
        names = {row["answer"] for row in csv.DictReader(stream)}
    assert names == set(strange.graph.entities.names)
    assert {row["answer"] for row in read_answers(tmp_path / "a.parquet")} == names
