"""Times of Wikidata and RDF become what is known of them, and both ways of counting years meet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.linked.dates import (
    COARSE_BCE,
    GUESSED_PRECISION,
    JULIAN_DAY,
    TOO_COARSE,
    UNKNOWN,
    XSD,
    KnownTime,
    UnreadableTimeError,
    literal_time,
    stamp_time,
    wikidata_time,
)
from foretime.data.times import parse_time


def value(time: str, precision: int, calendar: str = "Q1985727") -> dict[str, object]:
    entity = f"http://www.wikidata.org/entity/{calendar}"
    return {"time": time, "timezone": 0, "before": 0, "after": 0, "precision": precision, "calendarmodel": entity}


PRECISIONS = {
    "a day": ("+1986-05-13T00:00:00Z", 11, "1986-05-13"),
    "a month": ("+1986-05-00T00:00:00Z", 10, "1986-05-##"),
    "a month with a day that means nothing": ("+1986-05-13T00:00:00Z", 10, "1986-05-##"),
    "a year": ("+1986-00-00T00:00:00Z", 9, "1986-##-##"),
    "a year as some bots write it": ("+1986-01-01T00:00:00Z", 9, "1986-##-##"),
    "a decade": ("+1950-00-00T00:00:00Z", 8, "195#-##-##"),
    "a century, written as its last year": ("+1900-00-00T00:00:00Z", 7, "18##-##-##"),
    "a century, written as its first year": ("+1901-00-00T00:00:00Z", 7, "19##-##-##"),
    "a millennium, written as its last year": ("+2000-00-00T00:00:00Z", 6, "1###-##-##"),
    "a day of which only the year is given": ("+1986-00-00T00:00:00Z", 11, "1986-##-##"),
    "an early year, padded": ("+0013-05-14T00:00:00Z", 11, "0013-05-14"),
    "eleven digits, as old dumps write years": ("+00000001986-05-13T00:00:00Z", 11, "1986-05-13"),
}


@pytest.mark.parametrize("case", PRECISIONS)
def test_a_precision_code_leaves_what_is_known(case: str) -> None:
    time, precision, text = PRECISIONS[case]
    assert wikidata_time(value(time, precision)) == KnownTime(text), case


def test_what_is_coarser_than_a_millennium_is_not_known_and_it_is_said() -> None:
    assert wikidata_time(value("-13798000000-00-00T00:00:00Z", 3)) == KnownTime(UNKNOWN, TOO_COARSE)


def test_years_before_the_year_1_are_the_same_in_json_and_in_rdf() -> None:
    json_year = wikidata_time(value("-0458-00-00T00:00:00Z", 9)).text
    assert json_year == "-0457-##-##"
    assert stamp_time("-0457-01-01T00:00:00Z", 9).text == json_year
    assert literal_time("-0457", XSD + "gYear").text == json_year
    assert wikidata_time(value("-0001-00-00T00:00:00Z", 9)).text == stamp_time("0000-01-01T00:00:00Z", 9).text


def test_a_decade_before_the_year_1_has_no_common_digits_and_is_not_known() -> None:
    assert wikidata_time(value("-0455-00-00T00:00:00Z", 8)) == KnownTime(UNKNOWN, COARSE_BCE)


def test_a_julian_day_becomes_the_gregorian_day() -> None:
    october_revolution = wikidata_time(value("+1917-10-25T00:00:00Z", 11, "Q1985786"))
    assert october_revolution == KnownTime("1917-11-07", JULIAN_DAY)
    assert wikidata_time(value("+1500-02-29T00:00:00Z", 11, "Q1985786")).text == "1500-03-10"
    assert wikidata_time(value("-0044-03-15T00:00:00Z", 11, "Q1985786")).text == "-0043-03-13"


def test_a_julian_year_stays_the_year() -> None:
    assert wikidata_time(value("+1500-00-00T00:00:00Z", 9, "Q1985786")) == KnownTime("1500-##-##")


BAD = {
    "no year 0 in JSON": value("+0000-00-00T00:00:00Z", 9),
    "no 30 February": value("+1999-02-30T00:00:00Z", 11),
    "no 30 February in the Julian calendar either": value("+1500-02-30T00:00:00Z", 11, "Q1985786"),
    "a calendar that is not known": value("+1999-02-03T00:00:00Z", 11, "Q12138"),
    "a precision that is not known": value("+1999-02-03T00:00:00Z", 15),
    "no time": {"precision": 9},
    "a year out of reach": value("+13798000000-00-00T00:00:00Z", 9),
    "words": value("last year", 9),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_not_a_time_is_refused(case: str) -> None:
    with pytest.raises(UnreadableTimeError):
        wikidata_time(BAD[case])


def test_a_stamp_without_a_precision_is_believed_no_further_than_it_may_mean() -> None:
    assert stamp_time("1986-01-01T00:00:00Z", None) == KnownTime("1986-##-##", GUESSED_PRECISION)
    assert stamp_time("1986-05-01T00:00:00Z", None) == KnownTime("1986-05-##", GUESSED_PRECISION)
    assert stamp_time("1986-05-13T00:00:00Z", None) == KnownTime("1986-05-13", GUESSED_PRECISION)
    assert stamp_time("1986-01-01T00:00:00Z", 11) == KnownTime("1986-01-01")


LITERALS = {
    ("2014", "gYear"): "2014-##-##",
    ("2014+02:00", "gYear"): "2014-##-##",
    ("2014-05", "gYearMonth"): "2014-05-##",
    ("2014-05-13", "date"): "2014-05-13",
    ("2014-05-13Z", "date"): "2014-05-13",
    ("2014-05-13T09:30:00Z", "dateTime"): "2014-05-13T09:30:00Z",
    ("2014-05-13T09:30:15.25+02:00", "dateTimeStamp"): "2014-05-13T09:30:15.25+02:00",
    ("2014", "integer"): "2014-##-##",
    ("2014", "string"): "2014-##-##",
    ("2014-05-13", "string"): "2014-05-13",
}


@pytest.mark.parametrize("literal", LITERALS)
def test_the_datatype_of_a_literal_gives_the_precision(literal: tuple[str, str]) -> None:
    assert literal_time(literal[0], XSD + literal[1]).text == LITERALS[literal]


@pytest.mark.parametrize(
    ("lexical", "datatype"),
    [("2014", "date"), ("--05-13", "gMonthDay"), ("1400000000", "integer"), ("soon", "string"), ("2014-02-30", "date")],
)
def test_a_literal_that_is_no_time_is_refused(lexical: str, datatype: str) -> None:
    with pytest.raises(UnreadableTimeError, match="is not a date, a month or a year"):
        literal_time(lexical, XSD + datatype)


@given(st.dates())
def test_every_gregorian_day_comes_through_unchanged(day: object) -> None:
    assert wikidata_time(value(f"+{day}T00:00:00Z", 11)).text == str(day)


@given(st.integers(-9999, 9999).filter(bool), st.integers(1, 12), st.integers(1, 28))
def test_a_julian_day_can_always_be_read_and_is_days_away(year: int, month: int, day: int) -> None:
    stamp = f"{'-' if year < 0 else '+'}{abs(year):04d}-{month:02d}-{day:02d}T00:00:00Z"
    moment = parse_time(wikidata_time(value(stamp, 11, "Q1985786")).text)
    plain = parse_time(wikidata_time(value(stamp, 11)).text)
    assert moment is not None
    assert plain is not None
    assert abs(moment.value - plain.value) <= 90 * 86400
