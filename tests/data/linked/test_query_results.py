"""Results of queries on Wikidata, in every form in which the query service gives them."""

from __future__ import annotations

import io
import json

import pytest

from foretime.data.linked.dates import GUESSED_PRECISION, UNKNOWN
from foretime.data.linked.query_cells import plain_cell
from foretime.data.linked.query_results import (
    EMPTY,
    NOT_A_ROW,
    NOT_UTF8,
    WRONG_WIDTH,
    ResultColumns,
    find_columns,
    result_rows,
    row_facts,
)
from foretime.data.linked.statements import LeftOut, LinkedFact
from foretime.data.linked.wikidata_entities import BAD_TIME, NO_ENTITY, TIMELESS, UNKNOWN_VALUE
from foretime.errors import ConfigError, DataError

WD = "http://www.wikidata.org/"
HEADER = ["s", "p", "o", "from", "fromPrecision", "to", "toPrecision"]
ROW = [f"{WD}entity/Q1", f"{WD}prop/direct/P39", f"{WD}entity/Q2", "1986-01-01T00:00:00Z", "9", "", ""]
FACT = LinkedFact("Q1", "P39", "Q2", "1986-##-##", UNKNOWN)
INSTANT = "http://www.w3.org/2001/XMLSchema#dateTime"


def facts(content: str | bytes, ending: str, **options: object) -> list[LinkedFact | LeftOut]:
    data = content.encode() if isinstance(content, str) else content
    variables, rows = result_rows(io.BytesIO(data), ending, "r")
    predicate = str(options.get("predicate", ""))
    columns = ResultColumns(find_columns(variables, options.pop("columns", {}), predicate, "r"), **options)  # type: ignore[arg-type]
    made: list[LinkedFact | LeftOut] = []
    for row in rows:
        made += [row.found] if isinstance(row.found, LeftOut) else row_facts(row.found, columns)
    return made


def test_the_csv_of_the_query_service_is_read() -> None:
    assert facts("\r\n".join([",".join(HEADER), ",".join(ROW)]), ".csv") == [FACT]


def test_plain_and_verbose_tsv_are_read_alike() -> None:
    assert facts("\n".join(["\t".join(HEADER), "\t".join(ROW)]), ".tsv") == [FACT]
    terms = [f"<{cell}>" for cell in ROW[:3]] + [f'"{ROW[3]}"^^<{INSTANT}>', '"9"^^<…#integer>', "", ""]
    assert facts("\n".join(["\t".join(f"?{name}" for name in HEADER), "\t".join(terms)]), ".tsv") == [FACT]
    assert plain_cell(r'"a \"b\"\t"@en') == 'a "b"\t'


def test_plain_and_verbose_json_are_read_alike() -> None:
    cells = {name: cell for name, cell in zip(HEADER, ROW, strict=True) if cell}
    bindings = [{name: {"type": "literal", "value": cell} for name, cell in cells.items()}]
    verbose = {"head": {"vars": HEADER}, "results": {"bindings": bindings}}
    assert facts(json.dumps(verbose), ".json") == [FACT]
    assert facts(json.dumps([cells]), ".json") == [FACT]


def simple(row: str, header: str = "s,p,o,time", **options: object) -> LinkedFact | LeftOut:
    (made,) = facts(f"{header}\n{row}", ".csv", **options)
    return made


def test_a_time_without_its_precision_is_no_second_and_it_is_said() -> None:
    year = simple("Q1,P39,Q2,1986-01-01T00:00:00Z")
    assert year == LinkedFact("Q1", "P39", "Q2", "1986-##-##", "1986-##-##", (GUESSED_PRECISION,))
    assert simple("Q1,P39,Q2,1986-05-13T00:00:00Z")[3] == "1986-05-13"
    assert simple("Q1,P39,Q2,1986-01-01T00:00:00Z", precision="day")[3] == "1986-01-01"
    assert simple("Q1,P39,Q2,1986-05-13T00:00:00Z", precision="year")[3] == "1986-##-##"


def test_years_before_the_year_1_are_those_of_rdf() -> None:
    assert simple("Q1,P39,Q2,-0457-01-01T00:00:00Z,9", "s,p,o,time,timePrecision")[3] == "-0457-##-##"


def test_a_query_about_one_property_names_it() -> None:
    assert simple("Q1,Q2", "item,value", predicate="P39") == LinkedFact("Q1", "P39", "Q2", "", "")
    with pytest.raises(DataError, match="no column for the predicate among item, value; name it with --predicate"):
        simple("Q1,Q2", "item,value")


def test_columns_can_be_said_and_must_not_be_ambiguous() -> None:
    columns = {"subject": "player", "object": "club"}
    assert simple("Q1,Q2", "player,club", columns=columns, predicate="P54")[:3] == ("Q1", "P54", "Q2")
    with pytest.raises(DataError, match="s and item may both be the subject; say which with --columns"):
        simple("Q1,Q1,P1,Q2", "item,s,p,o")
    with pytest.raises(DataError, match="there is no column 'club'; the columns are s, p, o, time"):
        simple("Q1,P1,Q2,", columns={"object": "club"})
    with pytest.raises(ConfigError, match="'tail' is no role"):
        simple("Q1,P1,Q2,", columns={"tail": "o"})


LEFT = {
    f"Q1,P39,{WD}.well-known/genid/8a,": UNKNOWN_VALUE,
    "Q1,P39,t123,": UNKNOWN_VALUE,
    "Q1,P39,Berlin,": NO_ENTITY,
    "Q1,,Q2,": EMPTY,
    "Q1,P39,Q2,yesterday": BAD_TIME,
    "Q1,P39,Q2": WRONG_WIDTH,
}


@pytest.mark.parametrize("row", LEFT)
def test_a_row_that_is_no_fact_is_left_out_with_its_reason(row: str) -> None:
    left = simple(row)
    assert isinstance(left, LeftOut)
    assert left.reason == LEFT[row]


def test_rows_without_a_time_can_be_left_out() -> None:
    assert simple("Q1,P39,Q2,")[3:5] == ("", "")
    assert simple("Q1,P39,Q2,", timeless=False)[0] == TIMELESS
    assert simple(f"Q1,P39,Q2,{WD}.well-known/genid/8a")[3:5] == ("", ""), "an unknown time is none"


def test_bytes_that_are_no_text_and_rows_of_another_shape_are_left_out() -> None:
    assert [left[0] for left in facts(b"s,p,o\nQ1,P\xff,Q2\n", ".csv")] == [NOT_UTF8]
    assert [left[0] for left in facts('[{"s": "Q1", "p": "P1", "o": "Q2"}, {"s": {"type": "uri"}}]', ".json")][1:] == [
        NOT_A_ROW
    ]


@pytest.mark.parametrize("content", ["{", "3", '{"results": 3}', '{"head": {"vars": []}, "results": {"bindings": 7}}'])
def test_json_of_another_kind_is_refused(content: str) -> None:
    with pytest.raises(DataError, match="no result of a query in JSON"):
        facts(content, ".json")
