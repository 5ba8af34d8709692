"""Many questions at once: a file of questions in, a file of answers out."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from foretime.data.restrictions import BETWEEN
from foretime.errors import QuestionError
from foretime.files import make_folder, parse_json, read_text, write_bytes, write_text
from foretime.inference.answers import GIVEN, WHERE, AlreadyKnown, Answers, Question
from foretime.inference.predictor import Predictor

FIELDS = (*GIVEN, "type", WHERE)
ANSWER_FIELDS = (*GIVEN, "rank", "answer", "probability", "score", "already_known")
REASONS = "reasons"
"""The column of reasons, where these are wanted: a list in JSON Lines, in other files a text."""
OPEN = ("", "?")
"""What stands in a question's open column."""
SHOWN_AT_MOST = 20
_TABS: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}
Row = dict[str, Any]


class Wanted(NamedTuple):
    """What is wanted of every question: how many answers, which, and with how many reasons."""

    top: int
    already_known: AlreadyKnown
    reasons: int
    flat: bool
    """Whether reasons are one text."""


class Answered(NamedTuple):
    """A row for each answer to a question, and the names that were taken for others: the slot and both names."""

    rows: list[Row]
    taken: list[list[str]]


def read_questions(path: Path) -> dict[str, Question]:
    """Return the questions of a TSV, CSV or JSON Lines file by their places, as in `questions.tsv:2`.

    TSV and CSV files have a header of some of the columns subject, predicate, object, time, start, end; the open slot
    is empty or `?`. `type` and `where` restrict the answers: `city;state`, and `country=Norway;sector=Police`. JSON
    Lines have an object with some of these keys in each line.
    """
    try:
        text = read_text(path, encoding="utf-8-sig")
    except FileNotFoundError:
        raise QuestionError(f"{path}: no such file of questions") from None
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    problems: list[str] = []
    read = _json_rows if path.suffix.lower() in (".jsonl", ".ndjson") else _table_rows
    questions = {}
    for place, row in read(path, text, problems):
        try:
            questions[place] = _question(row)
        except QuestionError as error:
            problems.append(f"{place}: {error}")
    _raise_together(problems)
    if not questions:
        raise QuestionError(f"{path}: no question in the file; write a header and one question in each line")
    return questions


def answer_file(
    predictor: Predictor,
    path: Path,
    out: Path,
    top: int = 10,
    already_known: AlreadyKnown = "mark",
    reasons: int = 0,
    note: Callable[[str], None] = warnings.warn,
    answer: Callable[[list[Question], Wanted], list[Answered]] | None = None,
) -> int:
    """Answer every question of a file, write the answers to another, and return how many questions there were.

    Every question is checked before any is answered; the wrong ones are reported together. With `reasons`, the column
    of that name has the first reasons of each answer. `note` hears of names that were taken for others. `answer` has
    them answered elsewhere.
    """
    write = WRITERS.get(out.suffix.lower())
    if write is None:
        raise QuestionError(f"{out}: answers are written as {', '.join(WRITERS)}; end the name with one of these")
    questions = read_questions(path)
    _check(predictor, questions)
    asked, wanted = list(questions.values()), Wanted(top, already_known, reasons, write is not _write_json_lines)
    restricted = any(question.restriction for question in asked)
    columns = (*ANSWER_FIELDS, *([WHERE] if restricted else []), *([REASONS] if reasons else []))
    with _told_of(out):
        make_folder(out.parent)
    found = answer(asked, wanted) if answer else answer_all(predictor, asked, wanted)
    with _told_of(out):
        write(out, columns, [{name: row[name] for name in columns} for one in found for row in one.rows])
    for text in _taken(questions, found):
        note(text)
    return len(questions)


@contextmanager
def _told_of(out: Path) -> Iterator[None]:
    """Tell that a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise QuestionError(f"{out}: cannot be written: {error.strerror}; name another file") from None


def answer_all(predictor: Predictor, questions: list[Question], wanted: Wanted) -> list[Answered]:
    """Return the answers to questions as rows of a file."""
    found = zip(questions, predictor.predict_many(questions, wanted.top, wanted.already_known), strict=True)
    return [
        Answered(
            list(_answer_rows(question, answers, wanted)),
            [[slot, given, getattr(answers.question, slot)] for slot, given in answers.taken.items()],
        )
        for question, answers in found
    ]


def _taken(questions: Iterable[str], answered: list[Answered]) -> Iterator[str]:
    """Yield a line for each name that was taken for another, with the place of the first question that has it."""
    said: set[tuple[str, str]] = set()
    for place, found in zip(questions, answered, strict=True):
        for slot, given, name in found.taken:
            if (given, name) not in said:
                said.add((given, name))
                yield f"{place}: the {slot} {given!r} is taken for {name!r}"


def _answer_rows(question: Question, answers: Answers, wanted: Wanted) -> Iterator[Row]:
    """Yield one row for each answer, its question as it was given."""
    for answer in answers:
        found = vars(question) | vars(answer) | {"answer": answer.name}
        row = {name: found[name] for name in ANSWER_FIELDS} | {WHERE: str(question.restriction) or None}
        if wanted.reasons:
            why = answer.reasons(wanted.reasons)
            row[REASONS] = " | ".join(one.brief for one in why) if wanted.flat else [one.to_dict() for one in why]
        yield row


def _check(predictor: Predictor, questions: dict[str, Question]) -> None:
    problems = []
    for place, question in questions.items():
        try:
            predictor.check(question)
        except QuestionError as error:
            problems.append(f"{place}: {error}")
    _raise_together(problems)


def _raise_together(problems: list[str]) -> None:
    if problems:
        more = len(problems) - SHOWN_AT_MOST
        raise QuestionError("\n".join([*problems[:SHOWN_AT_MOST], *([f"… and {more} more"] if more > 0 else [])]))


def _question(row: Row) -> Question:
    given = {name: value for name, value in row.items() if value is not None and value not in OPEN}
    types, where = (given.pop(name, "") for name in ("type", WHERE))
    types = types if isinstance(types, list) else [kind.strip() for kind in str(types).split(BETWEEN) if kind.strip()]
    texts = {name: str(value) for name, value in given.items()}
    return Question(**texts, type=types, where=where if isinstance(where, dict) else str(where))


def _unknown_column(names: Iterable[str]) -> str:
    """Return what is wrong with the names of columns, or an empty string."""
    unknown = [name for name in names if name not in FIELDS]
    return f"unknown column {unknown[0]!r}; the columns are {', '.join(FIELDS)}" if unknown else ""


def _table_rows(path: Path, text: str, problems: list[str]) -> Iterator[tuple[str, Row]]:
    tabs = "\t" in text.split("\n", 1)[0] or path.suffix == ".tsv"
    reader = csv.reader(io.StringIO(text, newline=""), **(_TABS if tabs else {}))
    try:
        header = next(reader, [])
        if header and (fault := _header_fault(header)):
            raise QuestionError(f"{path}:1: {fault}")
        for cells in reader:
            place = f"{path}:{reader.line_num}"
            if len(cells) == len(header):
                yield place, dict(zip(header, cells, strict=True))
            elif cells:
                problems.append(f"{place}: expected {len(header)} fields as in the header, found {len(cells)}")
    except csv.Error as error:
        raise QuestionError(f"{path}:{reader.line_num}: not a table: {error}; fix the line") from None


def _header_fault(header: list[str]) -> str:
    if not set(header) & set(FIELDS):
        return f"the first line must name the columns, some of {', '.join(FIELDS)}"
    twice = next((name for name in header if header.count(name) > 1), None)
    return _unknown_column(header) or (f"the column {twice!r} is there twice; leave one" if twice else "")


def _json_rows(path: Path, text: str, problems: list[str]) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except ValueError as error:
            problems.append(f"{path}:{number}: not valid JSON: {error}")
            continue
        wanted = f"expected a JSON object with some of the keys {', '.join(FIELDS)}"
        if fault := _unknown_column(row) if isinstance(row, dict) else wanted:
            problems.append(f"{path}:{number}: {fault}")
        else:
            yield f"{path}:{number}", row


def _write_table(out: Path, columns: Sequence[str], rows: list[Row]) -> None:
    tabs = out.suffix.lower() == ".tsv"
    if tabs and (broken := [cell for row in rows for cell in row.values() if set(str(cell)) & set("\t\n\r")]):
        raise QuestionError(
            f"{out}: the name {broken[0]!r} has a tab or a line end, which TSV cannot hold; "
            "end the name of the file with .csv, .jsonl or .parquet"
        )
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, columns, lineterminator="\n", **(_TABS if tabs else {}))
    writer.writeheader()
    writer.writerows(rows)
    write_text(out, stream.getvalue())


def _write_json_lines(out: Path, columns: Sequence[str], rows: list[Row]) -> None:
    write_text(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _write_parquet(out: Path, columns: Sequence[str], rows: list[Row]) -> None:
    import pyarrow
    import pyarrow.parquet

    numbers = {"rank": pyarrow.int64(), "probability": pyarrow.float64(), "score": pyarrow.float64()}
    # without a schema, a column without any value would have no type
    schema = pyarrow.schema([(name, numbers.get(name, pyarrow.string())) for name in columns])
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), sink)
    write_bytes(out, sink.getvalue().to_pybytes())


WRITERS: dict[str, Callable[[Path, Sequence[str], list[Row]], None]] = {
    ".tsv": _write_table,
    ".csv": _write_table,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
}
"""How answers are written, by the ending of the file."""
