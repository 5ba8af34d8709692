from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.granularity import choose_unit
from foretime.data.times import (
    NO_TICK,
    NOT_KNOWN,
    UNITS,
    Moment,
    check_granularity,
    parse_time,
    parse_times,
    tick_text,
    ticks_of,
)
from foretime.errors import ConfigError, DataError

DAY = 86400


def nowhere(number: int) -> str:
    return f"place {number}"


def known(texts: list[str]) -> np.ndarray:
    """Each text occurs once, those that are not known not at all."""
    return np.array([int(text not in ("", "####-##-##")) for text in texts])


@pytest.mark.parametrize(
    ("text", "precision", "value"),
    [
        ("1970-01-02", "day", DAY),
        ("1970-01-01T00:00:01", "second", 1),
        ("1970-01-01 00:01", "minute", 60),
        ("1970-01-01T02", "hour", 7200),
        ("1970-01-01T00:00:01.999999", "second", 1),
        ("1970-01-01T00:00:01Z", "second", 1),
        ("1970-01-01T01:00:00+01:00", "second", 0),
        ("1969-12-31T19:00:00-0500", "second", 0),
        ("1970-##-##", "year", 0),
        ("1970-02-##", "month", 31 * DAY),
        ("1970-02", "month", 31 * DAY),
        ("1970-W01", "week", 0),
        ("986", "step", 986),
        ("-44", "step", -44),
        ("0", "step", 0),
        ("2014", "step", 2014),
        ("1970-##", "year", 0),
        ("02 January 1970", "day", DAY),
        ("2 Jan 1970", "day", DAY),
        ("2-Jan-70", "day", DAY),
        ("1-Jan-69", "day", -365 * DAY),
        ("1-Jan-68", "day", 35794 * DAY),
        ("January 2, 1970", "day", DAY),
        ("1970-Jan-02", "day", DAY),
        ("Jan 1970", "month", 0),
        ("1970/01/02", "day", DAY),
        ("197#-##-##", "decade", 0),
        ("197#", "decade", 0),
        ("197X-XX-XX", "decade", 0),
        ("1970-XX", "year", 0),
        ("19##-##-##", "century", -25567 * DAY),
        ("2###", "millennium", 10957 * DAY),
        ("-4#", "decade", -737425 * DAY),
        ("0013-05-14", "day", -714646 * DAY),
    ],
)
def test_a_text_names_a_time(text: str, precision: str, value: int) -> None:
    assert parse_time(text) == Moment(precision, value)


@pytest.mark.parametrize("text", ["####-##-##", "####", "####-##", "XXXX-XX-XX"])
def test_hashes_alone_are_an_unknown_time(text: str) -> None:
    assert parse_time(text) == NOT_KNOWN


@pytest.mark.parametrize(
    "text",
    [
        "2014-13-01",
        "2014-02-30",
        "2014-1-1",
        "13/05/2014",
        "May",
        "2014-05-13T25:00",
        "2014-##-13",
        "2014-##-##T10:00",
        "1.5",
        "2014-W54",
        "٢٠١٤",
        "2014-05-13T09:60",
        "2014-05-13Z",
        "####-05-13",
        "2014-05-13T",
        "13-05-14",
        "13-05",
        "04/10/2024",
        "4.10.2024",
        "31 Foo 2024",
        "31 February 2024",
        "2014/13/01",
        "1986-00-00",
        "19#5",
    ],
)
def test_a_text_that_names_no_time_gives_nothing(text: str) -> None:
    assert parse_time(text) is None


@given(st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)))
def test_every_date_time_of_the_calendar_is_read_as_the_calendar_has_it(moment: dt.datetime) -> None:
    expected = (moment.replace(microsecond=0) - dt.datetime(1970, 1, 1)) // dt.timedelta(seconds=1)
    assert parse_time(moment.isoformat()) == Moment("second", expected)


@given(st.dates(), st.sampled_from(UNITS))
def test_a_tick_of_a_date_is_what_the_calendar_says(date: dt.date, unit: str) -> None:
    days = (date - dt.date(1970, 1, 1)).days
    expected = {
        "year": date.year,
        "month": date.year * 12 + date.month - 1,
        "week": (days + 3) // 7,
        "day": days,
        "hour": days * 24,
        "minute": days * 24 * 60,
        "second": days * DAY,
    }
    assert ticks_of(parse_times([f"{date}T00:00:00"]), unit).tolist() == [expected[unit]]
    finer = unit in ("hour", "minute", "second")
    assert ticks_of(parse_times([f"{date}"]), unit).tolist() == [NO_TICK if finer else expected[unit]]


@given(st.dates(), st.sampled_from(UNITS))
def test_the_text_of_a_tick_is_a_time_with_that_tick(date: dt.date, unit: str) -> None:
    tick = int(ticks_of(parse_times([f"{date}T00:00:00"]), unit)[0])
    assert ticks_of(parse_times([tick_text(tick, unit)]), unit).tolist() == [tick]


@given(st.integers(-99_999, 99_999), st.sampled_from(UNITS))
def test_years_before_christ_and_far_away_are_on_the_same_line(year: int, unit: str) -> None:
    text = f"{year:+06d}-03-15"
    tick = int(ticks_of(parse_times([f"{text}T00:00:00"]), unit)[0])
    again = int(ticks_of(parse_times([tick_text(tick, unit)]), unit)[0])
    assert again == tick
    if unit == "year":
        assert tick == year
    if unit == "day":
        cycles = year // 400 - 5
        assert tick == (dt.date(2000 + year % 400, 3, 15) - dt.date(1970, 1, 1)).days + cycles * 146_097


def test_the_text_of_a_week_is_its_iso_week() -> None:
    tick = int(ticks_of(parse_times(["2014-02-12"]), "week")[0])
    assert tick_text(tick, "week") == "2014-W07"


@pytest.mark.parametrize(
    ("texts", "granularity", "unit"),
    [
        (["2014-05-13"], "auto", "day"),
        (["2014-05-13T10:00"], "auto", "day"),
        (["2014-05-13T10:00"], "hour", "hour"),
        (["986-##-##", "-44-##-##"], "auto", "year"),
        (["986-##-##", "2014"], "auto", "year"),
        (["2014-05-13", "986-##-##"], "auto", "year"),
        (["2014-05-13", "2014-05-14", "2014-05-15", "986-##-##"], "auto", "day"),
        (["2014-05-13", "195#"], "auto", "day"),
        (["986-##-##", "195#", "19##-##-##"], "auto", "year"),
        (["2014-05-13", "986-##-##"], "year", "year"),
        (["2014-05-13", "986-##-##"], "day", "day"),
        (["2014-05-##", "2014-06"], "auto", "month"),
        (["2014-05-##", "2014-##-##"], "auto", "year"),
        (["2014-05-##"], "year", "year"),
        (["2014-05-##"], "month", "month"),
        (["986", "-44"], "auto", "step"),
        (["986", "-44"], "year", "year"),
        (["2014-05-13", "2013"], "year", "year"),
        (["2014-05-13T10:00:00", "2014-05-13"], "bins:2", "day"),
        (["17", "18"], "bins:2", "step"),
        (["2014-05-13", "####-##-##", ""], "auto", "day"),
    ],
)
def test_a_unit_is_chosen(texts: list[str], granularity: str, unit: str) -> None:
    assert choose_unit(parse_times(texts), known(texts), granularity, nowhere).unit == unit


@pytest.mark.parametrize(
    ("texts", "granularity", "message"),
    [
        (["2014-05-13", "7"], "auto", "place 0 is a date\n  place 1 is an integer\n.*--granularity year"),
        (["7", "2014-05"], "month", "place 1 is a date\n  place 0 is an integer"),
        (["7"], "day", "plain integers and have no day; use --granularity step, or year"),
        (["2014-05-13"], "step", "the times are dates and have no integer step"),
        (["986-##-##"], "day", "place 0 is precise to the year only; use --granularity year"),
        (
            ["2014-05-13"] * 8 + ["986-##-##"] * 2,
            "auto",
            "2 of 10 times are less precise than the day, as place 8; say --granularity year",
        ),
        (["195#"], "auto", "place 0 is precise to the decade only; use --granularity year"),
        (["2014-05-13"], "hour", "place 0 is precise to the day only; use --granularity day"),
    ],
)
def test_times_that_do_not_fit_the_granularity_are_refused(texts: list[str], granularity: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        choose_unit(parse_times(texts), known(texts), granularity, nowhere)


@pytest.mark.parametrize(
    ("granularity", "message"),
    [("dya", "did you mean 'day'"), ("bins:", "as in bins:100"), ("bins:0", "as in bins:100"), ("3", "one of auto")],
)
def test_an_unknown_granularity_is_refused(granularity: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_granularity(granularity)


def test_an_unknown_time_has_no_tick() -> None:
    assert ticks_of(parse_times(["####-##-##", "", "7"]), "step").tolist() == [NO_TICK, NO_TICK, 7]


def test_integers_and_dates_are_years_together() -> None:
    assert ticks_of(parse_times(["986", "986-##-##", "986-05-13", "-44"]), "year").tolist() == [986, 986, 986, -44]


def test_an_integer_among_dates_is_a_year_and_no_number_of_days() -> None:
    assert ticks_of(parse_times(["986", "986-05-13"]), "day").tolist()[0] == NO_TICK
    assert ticks_of(parse_times(["986"]), "month").tolist() == [NO_TICK]


def test_parsing_many_times_keeps_their_order() -> None:
    moments = parse_times(["5", "x", "2014-05-13"])
    assert moments.precision.tolist() == ["step", "", "day"]
    assert moments.value.dtype == np.int64


texts_of_time = st.one_of(
    st.datetimes(dt.datetime(1, 1, 1)).map(lambda moment: moment.isoformat(" ")),
    st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)).map(lambda moment: moment.isoformat("T", "seconds")),
    st.sampled_from(
        ["2014-02-30T00:00:00", "2014-05-13T24:00:00", "2014-05-13T00:00:60", "7", "soon", "2014-05-13T10:00:00Z"]
    ),
)


@given(st.lists(texts_of_time, max_size=8))
def test_many_times_at_once_are_read_as_one_by_one(texts: list[str]) -> None:
    moments = parse_times(texts)
    one_by_one = [parse_time(text) or Moment("", 0) for text in texts]
    assert list(zip(moments.precision.tolist(), moments.value.tolist(), strict=True)) == one_by_one
