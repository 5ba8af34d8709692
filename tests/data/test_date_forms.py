"""Dates in every form that real files have: read right, or refused with the option that says what they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from foretime.data.date_forms import DateForm, Misreadings, check_date_format, parse_as, read_dates
from foretime.data.graph import Graph, load
from foretime.data.times import tick_text, ticks_of
from foretime.errors import ConfigError, DataError

Write = Callable[[str, str | bytes], Path]


def days(texts: list[str], form: str = "auto", granularity: str = "auto") -> list[str]:
    moments, _ = read_dates(texts, form, granularity)
    return [tick_text(int(tick), "day") for tick in ticks_of(moments, "day")]


def events(write: Write, times: list[str], **settings: Any) -> Graph:
    rows = (f"s{i % 5}\tp{i % 3}\to{i % 4}\t{time}\n" for i, time in enumerate(times))
    return load(write("a.tsv", "".join(rows)), valid_share=0, test_share=0, **settings)


def times_of(graph: Graph) -> list[str]:
    return [row[3] for row in graph.rows()]


@pytest.mark.parametrize(
    ("texts", "form", "read"),
    [
        (["20150131", "20150201"], "auto", ["2015-01-31", "2015-02-01"]),
        (["20150131", "2015-02-01"], "auto", ["2015-01-31", "2015-02-01"]),
        (["20150131235959", "20150201"], "auto", ["2015-01-31", "2015-02-01"]),
        (["01 January 2024", "7-Feb-25", "4 Oct 2024"], "auto", ["2024-01-01", "2025-02-07", "2024-10-04"]),
        (["04/10/2024", "4/1/2024"], "%d/%m/%Y", ["2024-10-04", "2024-01-04"]),
        (["04/10/2024"], "%m/%d/%Y", ["2024-04-10"]),
        (["13-05-14"], "%Y-%m-%d", ["0013-05-14"]),
        (["13-05-14"], "%y-%m-%d", ["2013-05-14"]),
        (["13-05-14"], "%d-%m-%y", ["2014-05-13"]),
        (["20150131"], "%Y%m%d", ["2015-01-31"]),
        (["Jan 31, 2015"], "%b %d, %Y", ["2015-01-31"]),
        (["1422662400", "1422662400.5"], "unix", ["2015-01-31", "2015-01-31"]),
        (["1422662400123"], "unix-ms", ["2015-01-31"]),
        (["20150131 10:05"], "%Y%m%d %H:%M", ["2015-01-31"]),
    ],
)
def test_a_form_is_read(texts: list[str], form: str, read: list[str]) -> None:
    assert days(texts, form) == read


def test_the_end_of_a_month_is_one_step_long(write: Write) -> None:
    graph = events(write, ["20150131", "20150201"])
    assert len(graph.timeline) == 2, "and not the 70 integers between"
    assert "integers such as 20150131 are dates, %Y%m%d" in graph.notes
    assert len(events(write, ["20150131", "20150201"], date_format="integer").timeline) == 71
    assert len(events(write, ["20150131", "20150201"], granularity="step").timeline) == 71


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["201501", "201512"], "integers such as 201501 may be the months of years .* say --date-format %Y%m, or"),
        (["1420070400", "1420156800"], "may be seconds since 1970 or plain integers; say --date-format unix, or"),
        (["1420070400000", "1420156800000"], "may be milliseconds since 1970 .* --date-format unix-ms, or"),
        (["20150131", "20150201", "7", "8"], "most integers look like dates, as 20150131, but 7 is none"),
    ],
)
def test_integers_that_may_be_dates_are_asked_about(write: Write, texts: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        events(write, texts)
    assert times_of(events(write, texts, date_format="integer", regular=False)) == texts


@pytest.mark.parametrize("texts", [["17", "0", "-3"], ["1986", "1990"], ["99999", "123456"], ["20150001", "20151301"]])
def test_other_integers_stay_steps(write: Write, texts: list[str]) -> None:
    graph = events(write, texts)
    assert graph.timeline.unit == "step"
    assert times_of(graph) == texts


@pytest.mark.parametrize(
    ("texts", "proposed"),
    [
        (["04/10/2024"], "say --date-format %d/%m/%Y or --date-format %m/%d/%Y"),
        (["04/10/2024", "13/10/2024"], "say --date-format %d/%m/%Y"),
        (["4.10.2024", "5.31.2024"], "say --date-format %m.%d.%Y"),
        (["13-05-14"], "say --date-format %d-%m-%y or --date-format %y-%m-%d"),
    ],
)
def test_an_ambiguous_date_names_the_forms_that_fit_them_all(write: Write, texts: list[str], proposed: str) -> None:
    with pytest.raises(DataError) as caught:
        events(write, texts)
    first = str(caught.value).splitlines()[0]
    assert f"a.tsv:1: the time {texts[0]!r} is an ambiguous date; {proposed}" in first
    assert first.endswith(proposed) or len(texts) > 1


def test_one_row_in_another_form_is_one_bad_row(write: Write) -> None:
    times = [f"2024-01-{day:02d}" for day in range(1, 29)]
    for odd, words in {"04/10/2024": "an ambiguous date", "17": "an integer among dates"}.items():
        graph = events(write, [*times, odd], bad_rows="skip")
        assert times_of(graph) == times
        assert [bad.line for bad in graph.bad_rows.rows] == [29]
        assert words in graph.bad_rows.rows[0].reasons[0]
    graph = events(write, ["20240131"] * 3 + ["20240201", "20240202", "20240230"], bad_rows="skip")
    assert len(graph.train) == 5, "there is no 30 February"


def test_two_digit_years_are_said(write: Write) -> None:
    graph = events(write, ["7-Feb-25", "8-Feb-25"])
    assert any("years of two digits, as in '7-Feb-25', were read as 1969 to 2068" in doubt for doubt in graph.doubts)


def test_an_integer_year_can_be_confirmed(write: Write) -> None:
    graph = events(write, ["1986", "-44", "19##"], date_format="year", bad_rows="skip")
    assert times_of(graph) == ["1986", "-44"]
    assert graph.timeline.unit == "year"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("unx", "unknown date_format 'unx'; did you mean 'unix'"),
        ("dd/mm", "unknown date_format 'dd/mm'; write one such as %d/%m/%Y"),
        ("%d/%m", "expected a year, and with it the month"),
        ("%Y-%d", "expected a year, and with it the month"),
        ("%Y-%q", "expected a year, and with it the month"),
        ("%Y %Y", "expected a year, and with it the month"),
    ],
)
def test_a_wrong_form_is_refused(form: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_date_format(form)


def test_a_form_with_digits_that_touch_has_all_of_them() -> None:
    form = DateForm.of("%Y%m%d")
    assert form.parse("2015131") is None
    assert form.parse("20150131") is not None


def test_texts_that_are_no_dates_are_not_called_ambiguous() -> None:
    assert Misreadings(["soon", "99/99/2024"]).reason("99/99/2024")[0] == "no time"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.csv", "subject,predicate,object,year\n{0},p,b,2000.0\n{0},p,c,2003.0\nb,p,c,\n"),
        (
            "e.jsonl",
            '{{"subject": "{0}", "predicate": "p", "object": "b", "year": 2000.0}}\n'
            '{{"subject": "{0}", "predicate": "p", "object": "c", "year": 2003.0}}\n'
            '{{"subject": "b", "predicate": "p", "object": "c", "year": null}}\n',
        ),
    ],
)
def test_years_that_pandas_has_given_a_fraction_are_read_and_said(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text.format("a"))
    graph = load(tmp_path / name)
    assert (len(graph.timeline), graph.timeline.span, len(graph.background)) == (4, "2000 to 2003", 1)
    assert "times such as '2000.0' are whole numbers, and were read as 2000" in graph.notes


def test_a_frame_of_years_with_a_missing_one_is_read() -> None:
    columns = {"subject": ["a", "b", "a"], "predicate": ["p"] * 3, "object": ["c", "c", "d"]}
    graph = load(pa.table({**columns, "start": [1990, 1991, 1992], "end": [1995.0, float("nan"), 1999.0]}))
    assert sorted(row[3:] for row in graph.rows()) == [("1990", "1995"), ("1991", ""), ("1992", "1999")]


def test_a_fraction_among_dates_says_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("a,p,b,2000-01-03\na,p,c,2001.0\nb,p,c,2003-01-03\nb,p,a,2005-01-03\n")
    with pytest.raises(
        DataError, match=r"e.csv:2: .*'2001.0' is a whole number with a fraction.*; write 2001 \(in pandas"
    ):
        load(tmp_path / "e.csv")


@pytest.mark.parametrize(
    ("times", "form", "first"),
    [
        (("1/5/2024 3:04 PM", "2/28/2024 12:10 AM"), "%m/%d/%Y %I:%M %p", "2024-01-05T15:04"),
        (("5.1.2024 3:04:09pm", "28.2.2024 12:10:00am"), "%d.%m.%Y %I:%M:%S%p", "2024-01-05T15:04"),
        (("2024-01-05 03:04 p.m.", "2024-02-28 12:10 a.m."), "%Y-%m-%d %I:%M %p", "2024-01-05T15:04"),
        (("1/5/2024 15:04", "2/28/2024 0:10"), "%m/%d/%Y %H:%M", "2024-01-05T15:04"),
    ],
)
def test_a_clock_of_twelve_hours_names_its_form_and_is_read_with_it(
    tmp_path: Path, times: tuple[str, str], form: str, first: str
) -> None:
    path = tmp_path / "e.csv"
    path.write_text("".join(f"a,p,b,{time}\n" for time in times))
    with pytest.raises(DataError, match=re.escape(f"say --date-format {form!r}")):
        load(path)
    graph = load(path, date_format=form, granularity="minute")
    assert graph.timeline.label(0) == first
    assert graph.timeline.label(len(graph.timeline) - 1).startswith("2024-02-28T00:10")


@pytest.mark.parametrize("form", ["%Y-%m-%d %I:%M", "%Y-%m-%d %H:%M %p", "%p"])
def test_a_form_needs_half_and_hours_of_twelve_together(form: str) -> None:
    with pytest.raises(ConfigError, match="date_format"):
        check_date_format(form)
    assert parse_as(["2024-01-05 13:04 PM", "2024-01-05 0:04 AM"], "%Y-%m-%d %I:%M %p").precision.tolist() == ["", ""]
