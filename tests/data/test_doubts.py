"""What a reader guesses is said, and what is doubtful about it too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foretime.data.graph import load
from foretime.data.summary import alike_names
from foretime.errors import DataError

Write = Callable[[str, str | bytes], Path]
ROWS = "a\tp\tb\t2014-01-01\nb\tq\tc\t2014-01-02\nc\tp\ta\t2014-01-03\n"


def test_every_guess_is_printed(write: Write) -> None:
    notes = load(write("a.txt", ROWS)).notes
    assert notes == (
        "tab-separated, no header",
        "columns in the order subject, predicate, object, time",
        "times such as '2014-01-01'; one step is one day",
        "split at random: 10% valid, 10% test, seed 0",
    )


def test_what_was_said_is_no_guess(write: Write) -> None:
    columns = {"subject": 1, "predicate": 2, "object": 3, "time": 4}
    said = {"columns": columns, "delimiter": "\t", "header": False, "granularity": "day", "split": "time"}
    assert load(write("a.txt", ROWS), **said).notes == ()


def test_files_that_are_laid_out_differently_are_named(write: Write) -> None:
    write("g/train.tsv", "head\trelation\ttail\tdate\n" + ROWS)
    write("g/valid.tsv", ROWS)
    notes = load(write("g/test.tsv", ROWS).parent).notes
    assert any(note.endswith("train.tsv: tab-separated, the first row is a header") for note in notes)
    assert any(note.endswith("test.tsv: tab-separated, no header") for note in notes)


@pytest.mark.parametrize(
    ("header", "taken", "left"),
    [
        ("subject_id,subject,relation,object,date", "subject", "subject_id"),
        ("subject,relation,object,year,date", "date", "year"),
        ("subject,relation,object,date,year", "date", "year"),
    ],
)
def test_of_two_columns_for_one_role_the_one_that_says_more_is_taken(
    write: Write, header: str, taken: str, left: str
) -> None:
    cells = {
        "subject_id": "7",
        "subject": "Ann",
        "relation": "p",
        "object": "Bob",
        "date": "2014-05-01",
        "year": "2014",
    }
    row = ",".join(cells[name] for name in header.split(","))
    graph = load(write("a.csv", f"{header}\n{row}\n"))
    assert next(graph.rows()) == ("Ann", "p", "Bob", "2014-05-01")
    assert any(f"was read from column {taken!r} and not from {left!r}" in doubt for doubt in graph.doubts)


def test_two_columns_that_say_as_much_are_asked_about(write: Write) -> None:
    path = write("a.csv", "actor1,source,event_type,actor2,event_date\na,CNN,p,b,2014-05-01\n")
    with pytest.raises(DataError) as caught:
        load(path)
    assert str(caught.value) == (
        f"{path}: the subject may be column 'actor1' or 'source'; say which column is which, as in "
        '--columns "subject=actor1,predicate=event_type,object=actor2,time=event_date"'
    )


def test_an_object_that_lacks_a_name_is_not_read_by_position(write: Write) -> None:
    with pytest.raises(DataError, match="name no subject, predicate, object and time in this order"):
        load(write("a.jsonl", '{"subject": "a", "predicate": "p", "time": 3, "note": 4}\n'))


@pytest.mark.parametrize("constant", ["0", "-1"])
def test_a_fifth_column_that_means_nothing_may_have_a_bad_row(write: Write, constant: str) -> None:
    rows = "".join(f"a{i % 7}\tp{i % 3}\tb\t{i % 9}\t{constant}\n" for i in range(60))
    graph = load(write("a.tsv", rows + f"a\tp\tb\tsoon\t{constant}\na\tp\tb\t3\t7\n"), bad_rows="skip")
    assert not graph.has_intervals
    assert [bad.line for bad in graph.bad_rows.rows] == [61, 62]


def test_an_end_that_never_changes_is_doubtful(write: Write) -> None:
    graph = load(write("a.tsv", "a\tp\tb\t0\t9\na\tq\tb\t3\t9\nc\tq\tb\t5\t9\n"))
    assert graph.has_intervals
    assert any(doubt.startswith("every fact ends 9: is that the end") for doubt in graph.doubts)


def test_quotes_after_a_backslash_are_refused_or_said(write: Write) -> None:
    with pytest.raises(DataError, match=r'a.csv:1: a quote within quotes is written \\"; write it twice'):
        load(write("a.csv", 'a,p,"Bob \\"Al\\" Smith",2014-01-01\nb,p,c,2014-01-02\n'))
    graph = load(write("b.csv", 'a,p,"C:\\",2014-01-01\nb,q,c,2014-01-02\n'))
    assert "C:\\" in graph.entities
    assert any('b.csv:1: \\" was read as a backslash' in doubt for doubt in graph.doubts)


def test_names_that_look_the_same_are_found() -> None:
    assert alike_names(["Z\u00fcrich", "Zu\u0308rich", "Bern", "b\u200b", "b", "\ufeffc", "Genf"]) == [
        ["Z\u00fcrich", "Zu\u0308rich"],
        ["b\u200b", "b"],
    ]


def test_one_predicate_or_one_time_only_is_doubtful(write: Write) -> None:
    warnings = load(write("a.tsv", "a\tp\tb\t7\nb\tp\tc\t7\n")).describe().warnings()
    assert any(warning.startswith("one predicate only") for warning in warnings)
    assert any(warning.startswith("one time only, 7") for warning in warnings)
    assert not any(
        "only" in warning for warning in load(write("b.tsv", ROWS)).describe().warnings() if "one " in warning
    )
