"""The traps of ICEWS, each by its name, on made-up rows."""

import pytest
from samples import ICEWS_COLUMNS, icews, icews_file, tabbed

from foretime.data.importers.icews import cameo_code
from foretime.errors import ConfigError, DataError


def test_a_row_becomes_a_fact_in_the_words_of_the_benchmarks(imported):
    found = imported("icews", "events.2014.tab", icews_file(icews()))
    assert found.facts == [("Angela Merkel", "Make a visit", "France", "2014-01-31")]


def test_the_file_of_2017_has_the_month_first(imported):
    found = imported("icews", "a.tab", icews_file(icews(Event_Date="1/31/2017"), icews(Event_Date="2/1/2017")))
    assert found.times == ["2017-01-31", "2017-02-01"]


def test_a_day_that_never_was_is_dropped_with_its_place(imported):
    found = imported("icews", "a.tab", icews_file(icews(), icews(Event_Date="2014-02-30")))
    assert found.dropped == {"the event date is no date": 1}
    assert found.report.dropped[0].places[0].endswith("a.tab:3"), "the header is line 1"
    assert found.dropped_rows[0][3] == "\t".join(icews(Event_Date="2014-02-30")), "the row is there as it stood"


def test_an_event_id_that_occurs_twice_is_two_events(imported):
    found = imported("icews", "a.tab", icews_file(icews(), icews(Event_Date="2014-02-01")))
    assert len(found.facts) == 2


def test_several_stories_of_one_fact_on_a_day_are_one_fact(imported):
    rows = icews_file(icews(), icews(Event_ID="2", Story_ID="9"), icews(Target_Name="Spain"))
    assert (found := imported("icews", "a.tab", rows)).report.merged == 1
    assert len(found.facts) == 2
    assert len(imported("icews", "a.tab", rows, merge=False).facts) == 3


def test_none_is_no_name_and_no_sector(imported):
    rows = icews_file(icews(Source_Sectors="None"), icews(Source_Name="None"), icews(Target_Name=""))
    found = imported("icews", "a.tab", rows)
    assert found.dropped == {"the source has no name": 1, "the target has no name": 1}
    assert found.entities["Angela Merkel"] == {"country": "Germany"}


def test_the_country_may_stand_for_an_actor_without_a_name(imported):
    rows = icews_file(icews(Source_Name="None"), icews(Source_Name="None", Source_Country="None"))
    found = imported("icews", "a.tab", rows, unnamed="country")
    assert [fact[0] for fact in found.facts] == ["Germany"]
    assert found.dropped == {"the source has no name": 1}


@pytest.mark.parametrize(
    ("written", "code"),
    [("042", "042"), ("42", "042"), ("20", "020"), ("251", "0251"), ("0251", "0251"), ("190", "190"), ("13y", "13y")],
)
def test_codes_are_text_get_their_leading_zero_back_and_may_have_letters(written: str, code: str):
    assert cameo_code(written) == code


def test_the_predicate_may_be_the_code(imported):
    found = imported("icews", "a.tab", icews_file(icews(CAMEO_Code="13y"), icews(CAMEO_Code="42")), predicate="code")
    assert [fact[1] for fact in found.facts] == ["13y", "042"]


def test_names_may_be_in_latin_1_or_utf_8(imported):
    text = icews_file(icews(Source_Name="José"))
    for encoding in ("utf-8", "latin-1"):
        assert imported("icews", "a.tab", text.encode(encoding)).facts[0][0] == "José", encoding


def test_a_quote_is_part_of_a_name_and_groups_nothing(imported):
    found = imported("icews", "a.tab", icews_file(icews(Source_Name='"Big" Ada'), icews(Source_Name='Bo "the')))
    assert [fact[0] for fact in found.facts] == ['"Big" Ada', 'Bo "the']


def test_sectors_and_countries_are_attributes_the_most_frequent_first(imported):
    rows = [icews(), icews(Event_Date="2014-02-02", Source_Sectors="Government"), icews(Source_Country="EU")]
    found = imported("icews", "a.tab", icews_file(*rows))
    assert found.entities["Angela Merkel"] == {"country": "Germany;EU", "sectors": "Government;Executive"}
    assert found.entities["France"] == {"country": "France", "sectors": ""}


def test_a_row_of_another_width_is_dropped_and_the_others_are_read(imported):
    found = imported("icews", "a.tab", icews_file(icews(), icews()[:7], ["x"] * 25) + "\n  \n")
    assert found.dropped == {"not 20 columns": 2}
    assert found.report.read == 3, "blank lines are no rows"


def test_columns_are_found_by_name_in_any_order(imported):
    order = list(reversed(range(20)))
    text = tabbed(*([row[i] for i in order] for row in (list(ICEWS_COLUMNS), icews())))
    assert imported("icews", "a.tab", text).facts == [("Angela Merkel", "Make a visit", "France", "2014-01-31")]


def test_a_missing_column_is_named(imported):
    with pytest.raises(DataError, match=r"a\.tab:1: no column 'CAMEO Code', 'Target Name' in the header"):
        imported("icews", "a.tab", tabbed(["Event Date", "Source Name", "Event Text"], ["1", "2", "3"]))


def test_an_option_that_the_source_does_not_have_is_refused(imported):
    with pytest.raises(ConfigError, match="import icews: unknown key root_only"):
        imported("icews", "a.tab", icews_file(icews()), root_only=True)
