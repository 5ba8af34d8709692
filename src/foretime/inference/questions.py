"""Many questions at once: a file of questions in, a file of answers out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foretime.errors import QuestionError
from foretime.files import write_bytes, write_text
from foretime.inference.predictor import Answer, Predictor, Question

FIELDS = ("subject", "predicate", "object", "time", "start", "end")
ANSWER_FIELDS = (*FIELDS, "rank", "answer", "confidence", "score", "known")
WHY = "why"
"""The column of reasons, where these are wanted: a list in JSON Lines, in other files a text."""
OPEN = ("", "?")
"""What stands in a question's open column."""
SHOWN_AT_MOST = 20


@dataclass(frozen=True)
class PlacedQuestion:
    """A question and where it stands in its file."""

    place: str
    question: Question


def read_questions(path: Path) -> list[PlacedQuestion]:
    """Return the questions of a TSV, CSV or JSON Lines file.

    TSV and CSV files have a header of some of the columns subject, predicate, object, time, start, end; the open slot
    is empty or `?`. JSON Lines have an object with some of these keys in each line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise QuestionError(f"{path}: no such file of questions") from None
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    json_lines = path.suffix.lower() in (".jsonl", ".ndjson")
    problems: list[str] = []
    rows = list(_json_rows(path, text, problems) if json_lines else _table_rows(path, text, problems))
    _raise_together(problems)
    questions = [PlacedQuestion(place, _question(row)) for place, row in rows]
    if not questions:
        raise QuestionError(f"{path}: no question in the file; write a header and one question in each line")
    return questions


def answer_file(predictor: Predictor, path: Path, out: Path, top: int, known: str, why: int = 0) -> int:
    """Answer every question of a file, write the answers to another, and return how many questions there were.

    Every question is checked before any is answered; the wrong ones are reported together. With `why`, the column of
    that name has the first reasons of each answer.
    """
    writer = _writer(out)
    questions = read_questions(path)
    _check(predictor, questions)
    answers = predictor.complete_many([placed.question for placed in questions], top, known)  # type: ignore[arg-type]
    pairs = [(placed.question, found) for placed, found in zip(questions, answers, strict=True)]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        writer(out, list(answer_rows(pairs) if why == 0 else _rows_with_reasons(predictor, pairs, why)))
    except OSError as error:
        raise QuestionError(f"{out}: cannot be written: {error.strerror}; name another file") from None
    return len(questions)


def answer_rows(pairs: Iterable[tuple[Question, list[Answer]]]) -> Iterator[dict[str, Any]]:
    """Yield one flat row for each answer, its question's slots repeated."""
    for question, answers in pairs:
        asked = {name: getattr(question, name) for name in FIELDS}
        for answer in answers:
            yield {
                **asked,
                "rank": answer.rank,
                "answer": answer.name,
                "confidence": answer.confidence,
                "score": answer.score,
                "known": answer.known,
            }


def _rows_with_reasons(
    predictor: Predictor, pairs: list[tuple[Question, list[Answer]]], count: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of all answers with their first reasons in the column `why`."""
    from foretime.inference.explainer import Explainer  # slow to load, and few files of answers have reasons

    explainer = Explainer(predictor)
    for question, answers in pairs:
        for row, answer in zip(answer_rows([(question, answers)]), answers, strict=True):
            yield {**row, WHY: explainer.reasons_for(question, answer, count)}


def _check(predictor: Predictor, questions: list[PlacedQuestion]) -> None:
    problems = []
    for placed in questions:
        try:
            predictor.check(placed.question)
        except QuestionError as error:
            problems.append(f"{placed.place}: {error}")
    _raise_together(problems)


def _raise_together(problems: list[str]) -> None:
    if problems:
        shown = problems[:SHOWN_AT_MOST]
        more = [f"… and {len(problems) - len(shown)} more"] if len(problems) > len(shown) else []
        raise QuestionError("\n".join([*shown, *more]))


def _question(row: dict[str, Any]) -> Question:
    return Question(**{name: str(value) for name, value in row.items() if value is not None and value not in OPEN})


def _unknown_column(names: Iterable[str]) -> str:
    """Return what is wrong with the names of columns, or an empty string."""
    unknown = [name for name in names if name not in FIELDS]
    return f"unknown column {unknown[0]!r}; the columns are {', '.join(FIELDS)}" if unknown else ""


def _table_rows(path: Path, text: str, problems: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    first = text.split("\n", 1)[0]
    tabs = "\t" in first or path.suffix == ".tsv"
    quoting: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if tabs else {}
    reader = csv.reader(io.StringIO(text, newline=""), **quoting)
    try:
        header = next(reader, [])
        _check_header(path, header)
        for cells in reader:
            place = f"{path}:{reader.line_num}"
            if len(cells) == len(header):
                yield place, dict(zip(header, cells, strict=True))
            elif cells:
                problems.append(f"{place}: expected {len(header)} fields as in the header, found {len(cells)}")
    except csv.Error as error:
        raise QuestionError(f"{path}:{reader.line_num}: not a table: {error}; mend the line") from None


def _check_header(path: Path, header: list[str]) -> None:
    if not header:
        return  # an empty file, which is an error of its own
    if not set(header) & set(FIELDS):
        raise QuestionError(f"{path}:1: the first line must name the columns, some of {', '.join(FIELDS)}")
    if fault := _unknown_column(header):
        raise QuestionError(f"{path}:1: {fault}")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise QuestionError(f"{path}:1: the column {twice!r} stands there twice; leave one")


def _json_rows(path: Path, text: str, problems: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            problems.append(f"{place}: not valid JSON: {error}")
            continue
        if not isinstance(row, dict):
            problems.append(f"{place}: expected a JSON object with some of the keys {', '.join(FIELDS)}")
        elif fault := _unknown_column(row):
            problems.append(f"{place}: {fault}")
        else:
            yield place, row


def _writer(out: Path) -> Any:
    writers = {".tsv": _write_tsv, ".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
    found = writers.get(out.suffix.lower())
    if found is None:
        raise QuestionError(f"{out}: answers are written as {', '.join(writers)}; end the name with one of these")
    return found


def _write_tsv(out: Path, rows: list[dict[str, Any]]) -> None:
    fields, rows = _with_text(rows)
    lines = ["\t".join(fields)]
    for row in rows:
        cells = ["" if row[name] is None else str(row[name]) for name in fields]
        if broken := next((cell for cell in cells if set(cell) & set("\t\n\r")), None):
            raise QuestionError(
                f"{out}: the name {broken!r} has a tab or a line end, which TSV cannot hold; "
                "end the name of the file with .csv, .jsonl or .parquet"
            )
        lines.append("\t".join(cells))
    write_text(out, "\n".join(lines) + "\n")


def _write_csv(out: Path, rows: list[dict[str, Any]]) -> None:
    fields, rows = _with_text(rows)
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(out, stream.getvalue())


def _write_jsonl(out: Path, rows: list[dict[str, Any]]) -> None:
    plain = [row | ({WHY: [reason.to_dict() for reason in row[WHY]]} if WHY in row else {}) for row in rows]
    write_text(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in plain))


def _write_parquet(out: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow
    import pyarrow.parquet

    fields, rows = _with_text(rows)
    numbers = {"rank": pyarrow.int64(), "confidence": pyarrow.float64(), "score": pyarrow.float64()}
    # without a schema, a column in which nothing is known would have no type
    schema = pyarrow.schema([(name, numbers.get(name, pyarrow.string())) for name in fields])
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), sink)
    write_bytes(out, sink.getvalue().to_pybytes())


def _with_text(rows: list[dict[str, Any]]) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Return the names of the columns, and the rows with their reasons, if there are any, as text."""
    if not any(WHY in row for row in rows):
        return ANSWER_FIELDS, rows
    return (*ANSWER_FIELDS, WHY), [row | {WHY: " | ".join(reason.brief for reason in row[WHY])} for row in rows]
