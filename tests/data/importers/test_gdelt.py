"""The traps of GDELT, each by its name, on made-up rows."""

import pytest
from samples import gdelt, tabbed

import foretime
from foretime.data.importers.gdelt import ROOTS, event_text
from foretime.errors import DataError


def test_the_end_of_a_month_is_a_day_and_not_a_number(imported):
    found = imported("gdelt", "a.CSV", tabbed(gdelt(), gdelt(SQLDATE="20150201", DATEADDED="20150201000000")))
    assert found.times == ["2015-01-31", "2015-02-01"]
    assert len(foretime.load(found.folder).timeline) == 2, "there are two steps, not 71"


def test_a_file_without_a_header_and_with_tabs_is_read_in_spite_of_its_ending(imported):
    found = imported("gdelt", "20150218230000.export.CSV", tabbed(gdelt()), predicate="code")
    assert found.facts == [("JAPAN", "0251", "CHINA", "2015-01-31", "2015-01-31")]


def test_codes_are_text_with_their_leading_zero_on_every_level(imported):
    codes = {
        level: imported("gdelt", "a.CSV", tabbed(gdelt()), predicate="code", level=level).facts[0][1]
        for level in ("full", "base", "root")
    }
    assert codes == {"full": "0251", "base": "025", "root": "02"}


def test_codes_are_shown_with_the_words_of_their_root():
    assert event_text("0251") == "Appeal (0251)"
    assert event_text("20") == "Engage in unconventional mass violence (20)"
    assert event_text("X") == "X"
    assert len(ROOTS) == 20


def test_rows_with_an_empty_actor_are_dropped_and_counted(imported):
    rows = [gdelt(), gdelt(Actor1Name=""), gdelt(Actor2Name="", Actor2Code=""), gdelt(Actor1Name="", Actor2Name="")]
    found = imported("gdelt", "a.CSV", tabbed(*rows))
    assert found.dropped == {"actor 1 has no name": 2, "actor 2 has no name": 1}
    stood_in = imported("gdelt", "a.CSV", tabbed(*rows), unnamed="code")
    assert sorted(fact[0] for fact in stood_in.facts) == ["JAPAN", "JPNGOV", "JPNGOV"]


def test_an_event_that_was_added_long_after_its_day_is_known_from_then_and_remarked_on(imported):
    text = tabbed(gdelt(SQLDATE="20050131", DATEADDED="20150131234500"), gdelt())
    found = imported("gdelt", "a.CSV", text)
    assert [fact[3:] for fact in found.facts] == [("2005-01-31", "2015-01-31"), ("2015-01-31", "2015-01-31")]
    assert found.report.notes == {"reported more than 30 days after the event": 1}
    by_report = imported("gdelt", "a.CSV", text, date="report")
    assert by_report.times == ["2015-01-31"], "both were known on that day, as one fact"
    assert by_report.report.notes == {}


def test_only_root_events_are_taken_unless_all_are_wanted(imported):
    text = tabbed(gdelt(), gdelt(IsRootEvent="0", EventCode="190"))
    assert imported("gdelt", "a.CSV", text).dropped == {"not a root event": 1}
    assert len(imported("gdelt", "a.CSV", text, root_only=False).facts) == 2


def test_a_fact_is_kept_once_a_day(imported):
    text = tabbed(gdelt(), gdelt(GLOBALEVENTID="2", SOURCEURL="http://example.org/b"))
    assert imported("gdelt", "a.CSV", text).report.merged == 1


@pytest.mark.parametrize("width", [57, 58])
def test_the_files_of_the_first_version_have_57_or_58_columns_and_a_day_of_adding(imported, width: int):
    given = {"SOURCEURL": "http://example.org/a"} if width == 58 else {}
    rows = [gdelt(width, DATEADDED="20150202", **given)]
    found = imported("gdelt", "20150202.export.CSV", tabbed(*rows), predicate="code")
    assert found.facts == [("JAPAN", "0251", "CHINA", "2015-01-31", "2015-02-02")]


def test_types_countries_and_more_are_attributes_of_the_actors(imported):
    row = gdelt(Actor1Type2Code="MIL", Actor2KnownGroupCode="UNO", Actor2Religion1Code="BUD", Actor2EthnicCode="han")
    found = imported("gdelt", "a.CSV", tabbed(row)).entities
    assert (found["JAPAN"]["country"], found["JAPAN"]["type"]) == ("JPN", "GOV;MIL")
    assert (found["CHINA"]["group"], found["CHINA"]["religion"], found["CHINA"]["ethnic"]) == ("UNO", "BUD", "han")


def test_dates_that_are_none_and_empty_codes_are_dropped(imported):
    rows = [gdelt(), gdelt(SQLDATE="20150230"), gdelt(SQLDATE=""), gdelt(EventCode="---"), gdelt(EventCode="")]
    assert imported("gdelt", "a.CSV", tabbed(*rows)).dropped == {"SQLDATE is no date": 2, "no event code": 2}


def test_a_file_of_mentions_is_no_file_of_events(imported):
    with pytest.raises(DataError, match=r"a\.CSV:1: expected 61 columns .* found 16; give files of events"):
        imported("gdelt", "a.CSV", tabbed(["1"] * 16))
