"""The traps of ACLED, each by its name, on made-up rows."""

import json
from pathlib import Path

import pytest
from samples import ACLED_COLUMNS, acled, acled_file

import foretime as ft
from foretime.errors import DataError

FACT = ("Army of Utopia", "Armed clash", "Red Band", "2024-01-01", "2024-01-10")


def test_a_row_becomes_a_fact_though_its_notes_have_quotes_commas_and_line_breaks(imported):
    assert imported("acled", "a.csv", acled_file(acled())).facts == [FACT]


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("01 January 2024", "2024-01-01"),
        ("2024-01-01", "2024-01-01"),
        ("7-Feb-25", "2025-02-07"),
        ("31-12-2023", "2023-12-31"),
        ("04-10-2024", "2024-10-04"),
    ],
)
def test_every_way_in_which_acled_writes_days_is_read(imported, written: str, day: str):
    assert imported("acled", "a.csv", acled_file(acled(event_date=written))).times == [day]


def test_a_date_whose_order_nobody_knows_is_dropped(imported):
    found = imported("acled", "a.csv", acled_file(acled(), acled(event_id_cnty="UTO2", event_date="04/10/2024")))
    (reason,) = found.dropped
    assert reason.endswith("whether the day or the month comes first: say it with --date-order")


@pytest.mark.parametrize(
    ("order", "days"), [("day-first", ["2024-10-04", "2024-12-31"]), ("month-first", ["2024-04-10"])]
)
def test_the_order_of_a_spreadsheet_can_be_said(imported, order: str, days: list[str]):
    rows = [acled(event_date="04/10/2024"), acled(event_id_cnty="UTO2", event_date="31/12/2024")]
    found = imported("acled", "a.csv", acled_file(*rows), date_order=order)
    assert found.times == days
    assert found.dropped == ({} if order == "day-first" else {"event_date is no date": 1})


def test_actors_have_no_direction_so_both_may_be_wanted(imported):
    found = imported("acled", "a.csv", acled_file(acled()), direction="both")
    assert {fact[:3] for fact in found.facts} == {FACT[:3], ("Red Band", "Armed clash", "Army of Utopia")}
    assert (found.report.read, found.report.kept, found.report.facts) == (1, 1, 2), "one row gives two facts"


def test_both_directions_of_a_row_that_is_there_already_are_one_merged_row(imported):
    rows = [acled(), acled(event_id_cnty="UTO2", actor1="Red Band", actor2="Army of Utopia")]
    found = imported("acled", "a.csv", acled_file(*rows), direction="both")
    assert (found.report.kept, found.report.merged, found.report.facts) == (1, 1, 2)


def test_protests_without_a_second_actor_are_dropped_or_are_against_the_country(imported):
    rows = [acled(), acled(event_id_cnty="UTO2", actor1="Protesters (Utopia)", actor2="", inter2="")]
    assert imported("acled", "a.csv", acled_file(*rows)).dropped == {"actor2 is empty": 1}
    found = imported("acled", "a.csv", acled_file(*rows), unnamed="country")
    assert found.facts[1][2] == "Utopia"
    assert found.entities["Utopia"] == {"type": "", "active_in": ""}, "a country is no kind of actor"


def test_of_the_versions_of_an_event_the_latest_holds_wherever_it_stands(imported):
    rows = [
        acled(actor2="Blue Band", timestamp="1704844801"),
        acled(),
        acled(event_id_cnty="UTO2", actor2="Nobody"),
        acled(event_id_cnty="UTO2", actor2="Green Band"),
    ]
    found = imported("acled", "a.csv", acled_file(*rows))
    assert sorted(fact[2] for fact in found.facts) == ["Blue Band", "Green Band"], "of equal stamps the last row holds"
    assert found.dropped == {"an earlier version of an event that was revised": 2}


def test_deleted_events_are_dropped(imported, tmp_path: Path):
    rows = acled_file(acled(), acled(event_id_cnty="UTO2", actor2="Blue Band"))
    for number, content in enumerate(("UTO1\n", "event_id_cnty,deleted_timestamp\nUTO1,1704844800\n")):
        (tmp_path / f"deleted{number}.csv").write_text(content, encoding="utf-8")
        found = imported("acled", "a.csv", rows, deleted=str(tmp_path / f"deleted{number}.csv"))
        assert found.dropped == {"deleted by ACLED": 1}
        assert [fact[2] for fact in found.facts] == ["Blue Band"]


def test_dates_that_are_not_precise_are_remarked_on_or_dropped(imported):
    rows = [acled(event_id_cnty=f"UTO{precision}", time_precision=precision) for precision in "123"]
    found = imported("acled", "a.csv", acled_file(*rows))
    assert found.report.notes == {"with a date that is precise to the week or the month only": 2}
    precise = imported("acled", "a.csv", acled_file(*rows), precise_only=True)
    assert precise.dropped == {"the date is precise to the week or the month only": 2}


def test_kinds_of_actors_are_words_or_numbers(imported):
    for kind in ("State forces", "1"):
        found = imported("acled", "a.csv", acled_file(acled(inter1=kind)))
        assert found.entities["Army of Utopia"] == {"type": "State forces", "active_in": "Utopia"}


def test_older_exports_have_names_in_capitals_and_more_columns_and_some_have_semicolons(imported):
    header = ("DATA_ID", "ISO3", *(name.upper() for name in ACLED_COLUMNS))
    for delimiter in ",;":
        text = acled_file(["7", "UTO", *acled()], header=header, delimiter=delimiter)
        assert imported("acled", "a.csv", "\ufeff" + text).facts == [FACT]


def test_an_export_without_ids_and_stamps_is_read(imported):
    names = ("event_date", "event_type", "sub_event_type", "actor1", "actor2")
    row = [acled()[ACLED_COLUMNS.index(name)] for name in names]
    found = imported("acled", "a.csv", acled_file(row, row, header=names), predicate="event")
    assert found.facts == [("Army of Utopia", "Battles", "Red Band", "2024-01-01")]


def test_a_quote_that_is_never_closed_is_reported_and_not_read(imported):
    rows = [acled(), acled(event_id_cnty="UTO2", notes="open"), acled(event_id_cnty="UTO3", notes="")]
    text = acled_file(*rows).replace(",open,", ',"open,')
    found = imported("acled", "a.csv", text)
    assert list(found.dropped) == ["a quote is opened and never closed: the rest of the file is in this row"]


def test_rows_of_another_width_and_bytes_that_are_no_utf_8_are_dropped(imported):
    text = acled_file(acled(), acled(event_id_cnty="UTO2")[:-1]).encode()
    text += acled_file(acled(event_id_cnty="UTO3", actor1="José")).split("\n", 1)[1].encode("latin-1")
    assert imported("acled", "a.csv", text).dropped == {"not 31 columns": 1, "not valid UTF-8": 1}


def test_a_list_of_deletions_that_is_empty_is_refused(imported, tmp_path: Path):
    (tmp_path / "none.csv").write_text("event_id_cnty\n", encoding="utf-8")
    with pytest.raises(DataError, match="no ids of deleted events"):
        imported("acled", "a.csv", acled_file(acled()), deleted=str(tmp_path / "none.csv"))


@pytest.mark.parametrize("source", ["acled", None])
@pytest.mark.parametrize("rows", [1, 3_000])
def test_json_of_the_api_is_refused_with_what_to_ask_for(tmp_path: Path, source: str | None, rows: int):
    row = {"event_id_cnty": "UTO1", "event_date": "2024-01-01", "actor1": "Army", "actor2": "Band"}
    path = tmp_path / "read.json"
    path.write_text(json.dumps({"status": 200, "success": True, "data": [row] * rows}))
    with pytest.raises(DataError, match=r"read.json: is JSON, .*_format=csv"):
        ft.import_events(source, [path], tmp_path / "out")
