"""The traps of POLECAT, each by its name, on made-up rows."""

from samples import POLECAT_COLUMNS, polecat, polecat_file, tabbed

FACT = ("Ada Lee", "CONSULT", "Bo Ray", "2021-03-01", "2021-03-02")


def test_a_row_becomes_a_fact_that_was_known_when_its_story_came_out(imported):
    assert imported("polecat", "a.txt", polecat_file(polecat())).facts == [FACT]


def test_the_day_of_the_story_may_be_the_time(imported):
    found = imported("polecat", "a.txt", polecat_file(polecat(), polecat(Publication_Date="None")), date="report")
    assert found.times == ["2021-03-02"]
    assert found.dropped == {"the date of the story is no date": 1}


def test_a_header_with_a_headline_that_the_rows_do_not_have_is_not_believed(imported):
    header = [*POLECAT_COLUMNS[:7], "Headline", *POLECAT_COLUMNS[7:]]
    assert imported("polecat", "a.txt", tabbed(header, polecat(), polecat())).facts == [FACT]


def test_a_headline_that_the_rows_do_have_is_a_column(imported):
    header, row = [*POLECAT_COLUMNS[:7], "Headline", *POLECAT_COLUMNS[7:]], polecat()
    assert imported("polecat", "a.txt", tabbed(header, [*row[:7], "They met", *row[7:]])).facts == [FACT]


def test_excess_tabs_at_the_end_of_rows_and_of_the_header_are_empty_columns(imported):
    text = tabbed([*POLECAT_COLUMNS, "", ""], [*polecat(), "", "", ""], polecat(Recipient_Name="Cy"))
    found = imported("polecat", "a.txt", text)
    assert [fact[2] for fact in sorted(found.facts)] == ["Bo Ray", "Cy"]
    assert found.dropped == {}


def test_a_cell_too_many_that_is_not_empty_is_a_bad_row(imported):
    found = imported("polecat", "a.txt", polecat_file(polecat(), [*polecat(), "more"]))
    assert found.dropped == {"not 40 columns": 1}


def test_lists_within_cells_are_several_sectors(imported):
    found = imported("polecat", "a.txt", polecat_file(polecat(Actor_Sectors="GOV; MIL;None")))
    assert found.entities["Ada Lee"] == {"country": "Utopia", "type": "GOV", "sectors": "GOV;MIL"}


def test_none_is_no_actor_and_no_mode(imported):
    rows = [polecat(Actor_Name="None"), polecat(Event_Mode="None"), polecat(Event_Date="2021-03-02")]
    found = imported("polecat", "a.txt", polecat_file(*rows), predicate="mode")
    assert found.dropped == {"the actor has no name": 1}
    assert [fact[1] for fact in found.facts] == ["CONSULT", "CONSULT: visit"]
    stood_in = imported("polecat", "a.txt", polecat_file(*rows), unnamed="country")
    assert stood_in.facts[0][0] == "Utopia"


def test_a_type_beyond_the_sixteen_is_kept_and_remarked_on(imported):
    found = imported("polecat", "a.txt", polecat_file(polecat(), polecat(Event_Type="DANCE")))
    assert found.report.notes == {"with an event type that is none of PLOVER's sixteen": 1}
    assert len(found.facts) == 2


def test_a_fact_of_two_stories_is_known_since_the_first(imported):
    rows = [polecat(Publication_Date=day) for day in ("2021-03-05", "None", "2021-03-03", "2021-03-04")]
    found = imported("polecat", "a.txt", polecat_file(*rows))
    assert found.facts == [(*FACT[:4], "2021-03-03")]
    assert found.report.merged == 3
