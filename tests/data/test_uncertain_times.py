"""Times that are less precise than others: they decide nothing, and nothing is made up for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foretime.data.graph import load
from foretime.errors import DataError, QuestionError

Write = Callable[[str, str | bytes], Path]
DAYS = [(f"2024-01-{day:02d}", f"2024-02-{day:02d}") for day in range(1, 13)]


def intervals(write: Write, ends: list[tuple[str, str]]) -> Path:
    return write("a.tsv", "".join(f"s{i % 5}\tp{i % 3}\to{i}\t{a}\t{b}\n" for i, (a, b) in enumerate(ends)))


def test_one_coarse_time_does_not_decide_the_step(write: Write) -> None:
    graph = load(intervals(write, [*DAYS, ("2024-##-##", "2024-03-01")]), valid_share=0, test_share=0)
    assert graph.timeline.unit == "day"
    assert list(graph.rows())[-1][3:] == ("", "2024-03-01"), "its start is not known to the day"
    said = "1 time is precise to the year only, and so not known to the step of one day"
    assert said in graph.describe().warnings()


def test_a_time_that_is_only_coarse_is_no_known_time(write: Write) -> None:
    path = intervals(write, [*DAYS, ("2024-##-##", "2024-##-##")])
    with pytest.raises(DataError, match=r"a.tsv:13: the start '2024-##-##' is precise to the year only, and a step is"):
        load(path)
    assert len(load(path, bad_rows="skip").facts()) == 12
    assert len(load(path, granularity="year").facts()) == 13


@pytest.mark.parametrize("ends", [("19##-##-##", "####-##-##"), ("195#", "195#"), ("1###", "")])
def test_a_fact_of_a_decade_or_a_century_has_no_time_for_no_step_is_so_long(
    write: Write, ends: tuple[str, str]
) -> None:
    graph = load(intervals(write, [("1960-##-##", "1970-##-##"), ("1961-##-##", "1962-##-##"), ends]), valid_share=0)
    assert len(graph.facts()) == 2
    assert len(graph.background) == 1
    assert any("1 of the 3 facts in" in note and "background" in note for note in graph.notes)


def test_many_coarse_times_decide_and_that_is_said(write: Write) -> None:
    graph = load(intervals(write, [*DAYS[:2], *[("1986-##-##", "1990-##-##")] * 9]))
    assert graph.timeline.unit == "year"
    assert any("one step is one year, for 18 times are no more precise; 4 would be finer" in d for d in graph.doubts)


def test_neither_few_nor_most_are_asked_about(write: Write) -> None:
    path = intervals(write, [*DAYS, *[("1986-##-##", "1990-##-##")] * 3])
    with pytest.raises(DataError, match=r"6 of 30 times are less precise than the day.*--granularity year.*day"):
        load(path)
    assert load(path, granularity="year").timeline.unit == "year"


@pytest.mark.parametrize("text", ["195#-##-##", "195#", "19##-##-##", "19##", "1###", "195X"])
def test_decades_and_centuries_are_ends_that_are_not_known(write: Write, text: str) -> None:
    years = [("1960-##-##", "1970-##-##"), ("1961-##-##", text), (text, "1975-##-##")]
    graph = load(intervals(write, years), valid_share=0, test_share=0)
    assert [row[3:] for row in graph.rows()] == [("1960", "1970"), ("1961", ""), ("", "1975")]
    assert (graph.describe().without_start, graph.describe().without_end) == (1, 1)
    with pytest.raises(QuestionError, match=r"is precise to the|is not a time"):
        graph.timeline.step("195#")


def test_years_before_our_era_are_those_of_iso(write: Write) -> None:
    graph = load(write("a.tsv", "a\tp\tb\t-0044-03-15\nb\tq\tc\t0000-01-01\nb\tq\ta\t0001-01-01\n"), granularity="year")
    assert graph.timeline.span == "-44 to 1", "-44 is 45 BCE, 0 is 1 BCE, and 1 is 1 CE: no year is missing"
    assert len(graph.timeline) == 46


@pytest.mark.parametrize(
    ("times", "unit", "note"),
    [
        (
            ["1986-01-01T00:00:00Z", "1990-01-01T00:00:00Z"],
            "year",
            "midnight on 1 January, so times are precise to the year",
        ),
        (["1986-01-01T00:00:00Z", "1990-05-01T00:00:00Z"], "day", "midnight, so times are precise to the day"),
        (["1986-01-01T00:00:00Z", "1990-05-01T10:00:00Z"], "day", ""),
        (["1986-01-01", "1990-01-01"], "day", ""),
    ],
)
def test_midnight_throughout_is_no_time_of_day(write: Write, times: list[str], unit: str, note: str) -> None:
    path = write("a.tsv", "".join(f"a{i}\tp{i}\tb\t{time}\n" for i, time in enumerate(times)))
    graph = load(path)
    assert graph.timeline.unit == unit
    assert any(note in one for one in graph.notes)
    if "T" in times[0]:
        assert load(path, granularity="hour", regular=False).timeline.unit == "hour", "it is as it was asked for"
