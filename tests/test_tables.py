"""Tables: the same values in text, Markdown, HTML, CSV and data frames."""

import sys

import pytest

from foretime.errors import ForetimeError
from foretime.tables import SHOWN, WIDEST, Table

RECORDS = [
    {"name": "a|b", "count": 1234, "mrr": 0.51234, "mrr_interval": (0.5, 0.52), "note": None},
    {"name": "<c>", "count": None, "mrr": 0.4, "mrr_interval": None, "more": "two\nlines"},
]
TABLE = Table.of(RECORDS, "title & co", {"count": ",", "mrr": ".3f", "mrr_interval": ".2f"}, {"mrr": "MRR"})


def test_text_is_aligned_rounded_and_without_empty_columns():
    assert TABLE.to_text().splitlines() == [
        "title & co",
        "name  count    MRR  mrr_interval  more",
        "a|b   1,234  0.512     0.50–0.52",
        "<c>          0.400                two lines",
    ]
    assert Table.of([{"x": (-0.1, 0.2)}], formats={"x": "+.1f"}).cells() == [["-0.1 +0.2"]]


def test_markdown_and_html_escape_what_they_must():
    assert TABLE.to_markdown().splitlines() == [
        "| name | count | MRR | mrr_interval | more |",
        "| --- | ---: | ---: | ---: | --- |",
        "| a\\|b | 1,234 | 0.512 | 0.50–0.52 |  |",
        "| <c> |  | 0.400 |  | two lines |",
    ]
    html = TABLE.to_html()
    assert "<caption>title &amp; co</caption>" in html
    assert '<td style="text-align:left">&lt;c&gt;</td><td style="text-align:right"></td>' in html
    assert html.count("<tr>") == 3


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_frames_have_the_unrounded_values_and_intervals_as_two_columns(library):
    if library != "arrow":
        pytest.importorskip(library)
    frame = TABLE.to_frame(library)
    names = frame.column_names if library == "arrow" else list(frame.columns)
    assert names == ["name", "count", "mrr", "mrr_low", "mrr_high", "note", "more"]
    values = {name: frame[name].to_pylist() if library == "arrow" else list(frame[name]) for name in names}
    assert values["mrr"] == [0.51234, 0.4]
    assert values["mrr_high"][0] == 0.52


def test_csv_has_the_unrounded_values():
    assert TABLE.to_csv() == (
        'name,count,mrr,mrr_low,mrr_high,note,more\na|b,1234,0.51234,0.5,0.52,,\n<c>,,0.4,,,,"two\nlines"\n'
    )


def test_rows_and_columns_can_be_read_back():
    assert [row["name"] for row in TABLE] == TABLE.column("name") == ["a|b", "<c>"]
    assert next(iter(TABLE)) == {**RECORDS[0], "more": None}
    assert TABLE.head(1).rows == TABLE.rows[:1]


def test_long_texts_are_cut_and_many_rows_are_counted_where_a_reader_looks():
    long = Table.of([{"text": "x" * 200, "row": row} for row in range(1000 + SHOWN)])
    assert str(long) == repr(long)
    assert len(str(long).splitlines()) == SHOWN + 2
    assert "… 1,000 more rows" in str(long).splitlines()[-1]
    assert str(long).splitlines()[1].split()[0] == "x" * (WIDEST - 1) + "…"
    assert "1,000 more rows" in long._repr_html_()
    assert "x" * 200 in long.to_html()
    assert len(long.to_text().splitlines()) == len(long) + 1


@pytest.mark.parametrize("table", [Table(("a", "b"), ()), Table.of([])])
def test_an_empty_table_is_shown_as_one(table):
    assert table.to_text() == "  ".join(table.columns)
    assert len(table) == len(table.to_frame()) == table.to_html().count("<td") == 0
    assert table.to_csv() == ",".join(table.columns) + "\n"


def test_a_frame_of_a_library_that_is_absent_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ForetimeError, match="polars is not installed; pip install polars"):
        TABLE.to_frame("polars")
