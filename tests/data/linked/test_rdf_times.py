"""The ways in which RDF attaches time to a statement, each with made-up data, and every trap of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyoxigraph")

import pyarrow.parquet as parquet

import foretime
from foretime.data.linked.dates import GUESSED_PRECISION
from foretime.data.linked.rdf_times import graph_name_time

PREFIXES = """
@prefix : <http://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix time: <http://www.w3.org/2006/time#> .
@prefix sem: <http://semanticweb.cs.vu.nl/2009/11/sem/> .
@prefix ekg: <http://eventKG.l3s.uni-hannover.de/schema/> .
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix s: <http://www.wikidata.org/entity/statement/> .
@prefix v: <http://www.wikidata.org/value/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix pqv: <http://www.wikidata.org/prop/qualifier/value/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
"""
Row = tuple[str | None, ...]


class Imported:
    """An import, as its rows and its report."""

    def __init__(self, folder: Path, text: str, ending: str, options: dict[str, Any]) -> None:
        file = folder / f"data{ending}"
        file.write_text(PREFIXES + text if ending in (".ttl", ".trig") else text, encoding="utf-8")
        self.report = foretime.import_events("rdf", file, folder / "graph", **options)
        table = parquet.read_table(folder / "graph" / "events.parquet").to_pylist()
        self.rows: set[Row] = {
            tuple(row[role] for role in ("subject", "predicate", "object", "start", "end")) for row in table
        }
        self.dropped = {each.reason: each.rows for each in self.report.dropped}


Import = Callable[..., Imported]


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    return lambda text, ending=".ttl", **options: Imported(tmp_path, text, ending, options)


RELATION = """
:r1 a ekg:Relation ; rdf:subject :ada ; rdf:object :utopia ; sem:roleType :heads ;
  sem:hasBeginTimeStamp "1986-01-01"^^xsd:date ; ekg:startUnitType time:unitYear ;
  sem:hasEndTimeStamp "1990-05-31"^^xsd:date ; ekg:endUnitType time:unitMonth .
"""


def test_eventkg_relations_are_facts_with_the_granularity_of_each_end(imported: Import) -> None:
    assert imported(RELATION).rows == {("ada", "heads", "utopia", "1986-##-##", "1990-05-##")}


def test_eventkg_decades_and_centuries_and_days_keep_their_precision(imported: Import) -> None:
    text = RELATION.replace("time:unitYear", "ekg:unitDecade").replace("time:unitMonth", "time:unitDay")
    assert imported(text).rows == {("ada", "heads", "utopia", "198#-##-##", "1990-05-31")}


def test_eventkg_relations_with_two_roles_are_two_facts_of_one_statement(imported: Import) -> None:
    made = imported(RELATION + ":r1 sem:roleType :governs .")
    assert {row[1] for row in made.rows} == {"heads", "governs"}
    assert made.report.kept == 1


def test_eventkg_relations_in_the_graphs_of_two_sources_are_one_fact(imported: Import) -> None:
    quads = "".join(f"GRAPH :source{number} {{ {RELATION} }}\n" for number in (1, 2))
    made = imported(quads, ".trig")
    assert made.rows == {("ada", "heads", "utopia", "1986-##-##", "1990-05-##")}
    assert made.report.merged == 1


def test_eventkg_literal_relations_and_halves_are_counted(imported: Import) -> None:
    made = imported(
        RELATION
        + ':r2 rdf:subject :ada ; rdf:object "7" ; sem:roleType :age . :r3 rdf:object :bo ; sem:roleType :knows .'
    )
    assert made.report.set_aside["the object is a literal"] == 1
    assert made.dropped == {"a statement without its subject or its predicate": 1}


def test_the_name_of_a_graph_is_the_time_if_it_ends_in_a_date(imported: Import) -> None:
    made = imported("GRAPH <http://g/2014-05-13> { :a :p :b } GRAPH <http://g/2014-05> { :a :p :c }", ".trig")
    assert made.rows == {("a", "p", "b", "2014-05-13", "2014-05-13"), ("a", "p", "c", "2014-05-##", "2014-05-##")}


def test_digits_at_the_end_of_a_graph_are_a_time_only_if_it_is_said(imported: Import) -> None:
    text = "GRAPH <http://g/2014> { :a :p :b } GRAPH <http://g/20140513> { :a :p :c }"
    assert {row[3] for row in imported(text, ".trig").rows} == {None}
    assert {row[3] for row in imported(text, ".trig", graph_time="name").rows} == {"2014-##-##", "2014-05-13"}
    assert {row[3] for row in imported("GRAPH <http://g/2014-05-13> { :a :p :b }", ".trig", graph_time="no").rows} == {
        None
    }
    assert graph_name_time("http://g/2014-13-45", "name") is None, "no such date: the graph is called so"


def test_what_is_said_of_a_graph_dates_what_it_states(imported: Import) -> None:
    made = imported('GRAPH :g { :a :p :b } :g :date "2014-05-13"^^xsd:date .', ".trig")
    assert made.rows == {("a", "p", "b", "2014-05-13", "2014-05-13")}


STAR = {
    "a quoted triple": '<<:a :p :b>> :since "2014"^^xsd:gYear .',
    "an annotation": ':a :p :b {| :since "2014"^^xsd:gYear |} .',
    "a reifier": '_:r rdf:reifies <<( :a :p :b )>> ; :since "2014"^^xsd:gYear .',
    "a reifier with a name": '<<:a :p :b ~ :r>> :since "2014"^^xsd:gYear .',
    "RDF 1.0": ':r rdf:subject :a ; rdf:predicate :p ; rdf:object :b ; :since "2014"^^xsd:gYear .',
}


@pytest.mark.parametrize("way", STAR)
def test_time_on_a_quoted_triple_is_the_time_of_the_fact(imported: Import, way: str) -> None:
    assert imported(STAR[way]).rows == {("a", "p", "b", "2014-##-##", None)}


def test_an_asserted_statement_that_is_dated_elsewhere_is_not_a_second_fact_without_a_time(imported: Import) -> None:
    made = imported(':a :p :b . <<:a :p :b>> :since "2014"^^xsd:gYear .')
    assert made.rows == {("a", "p", "b", "2014-##-##", None)}
    assert made.report.set_aside["the same statement is there with its time"] == 1


def test_n_triples_with_quoted_subjects_are_read_and_their_notes_belong_together(imported: Import) -> None:
    quoted = "<< <http://e/a> <http://e/p> <http://e/b> >>"
    year = '"{}"^^<http://www.w3.org/2001/XMLSchema#gYear>'
    text = "".join(
        f"{quoted} <http://e/{name}> {year.format(value)} .\n" for name, value in [("since", 2014), ("until", 2016)]
    )
    assert imported(text, ".nt").rows == {("a", "p", "b", "2014-##-##", "2016-##-##")}
    assert imported(text, ".ntx").rows == {("a", "p", "b", "2014-##-##", "2016-##-##")}


def test_rdf_1_2_n_triples_are_read(imported: Import) -> None:
    text = (
        "_:r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <http://e/a> <http://e/p> <http://e/b> )>> .\n"
        '_:r <http://e/until> "2014-05-13"^^<http://www.w3.org/2001/XMLSchema#date> .\n'
    )
    assert imported(text, ".nt").rows == {("a", "p", "b", None, "2014-05-13")}


LITERALS = {
    '"2014-05-13"^^xsd:date': "2014-05-13",
    '"2014-05"^^xsd:gYearMonth': "2014-05-##",
    '"2014"^^xsd:gYear': "2014-##-##",
    '"2014-05-13T09:30:00Z"^^xsd:dateTime': "2014-05-13T09:30:00Z",
    '"-0457"^^xsd:gYear': "-0457-##-##",
}


@pytest.mark.parametrize("literal", LITERALS)
def test_the_type_of_a_literal_gives_the_precision(imported: Import, literal: str) -> None:
    assert {row[3] for row in imported(f"<<:a :p :b>> :date {literal} .").rows} == {LITERALS[literal]}


def test_properties_of_other_names_date_a_statement_if_they_are_given(imported: Import) -> None:
    text = '<<:a :p :b>> :hired "2014"^^xsd:gYear ; <http://example.org/fired> "2016"^^xsd:gYear .'
    assert imported(text).rows == {("a", "p", "b", None, None)}
    options = {"start_property": ["hired"], "end_property": "http://example.org/fired"}
    assert imported(text, **options).rows == {("a", "p", "b", "2014-##-##", "2016-##-##")}


def test_nodes_of_other_vocabularies_are_statements_if_their_properties_are_given(imported: Import) -> None:
    text = ':e a :Employment ; :employee :ada ; :employer :acme ; :from "2014"^^xsd:gYear .'
    made = imported(text, subject_property="employee", object_property="employer")
    assert made.rows == {("ada", "Employment", "acme", "2014-##-##", None)}


INSTANTS = {
    'time:inXSDDate "2014-05-13"^^xsd:date': "2014-05-13",
    'time:inXSDgYear "2014"^^xsd:gYear': "2014-##-##",
    'time:inXSDgYearMonth "2014-05"^^xsd:gYearMonth': "2014-05-##",
    'time:inXSDDateTimeStamp "2014-05-13T09:30:00Z"^^xsd:dateTimeStamp': "2014-05-13T09:30:00Z",
    'time:inXSDgYear "2014"^^xsd:gYear ; time:inXSDDate "2014-05-13"^^xsd:date': "2014-05-13",
}


@pytest.mark.parametrize("instant", INSTANTS)
def test_an_owl_time_instant_is_the_time_of_a_statement(imported: Import, instant: str) -> None:
    made = imported(f"<<:a :p :b>> time:hasTime [ a time:Instant ; {instant} ] .")
    assert made.rows == {("a", "p", "b", INSTANTS[instant], INSTANTS[instant])}


INTERVAL = """[ a time:ProperInterval ; time:hasBeginning [ time:inXSDgYear "1986"^^xsd:gYear ] ;
    time:hasEnd [ time:inXSDDate "1990-05-13"^^xsd:date ] ]"""


def test_an_owl_time_interval_is_start_and_end(imported: Import) -> None:
    made = imported(f"<<:a :p :b>> time:hasTime {INTERVAL} .")
    assert made.rows == {("a", "p", "b", "1986-##-##", "1990-05-13")}


def test_the_time_of_an_event_is_that_of_the_facts_about_it_unless_that_is_refused(imported: Import) -> None:
    text = f":war :between :a , :b ; time:hasTime {INTERVAL} ."
    assert {row[3:] for row in imported(text).rows} == {("1986-##-##", "1990-05-13")}
    assert {row[3:] for row in imported(text, event_time=False).rows} == {(None, None)}


def test_a_time_that_gives_no_date_leaves_its_statement_out(imported: Import) -> None:
    made = imported(":c :p :d . <<:a :p :b>> time:hasTime [ time:inDateTime [ time:year 2014 ] ] .")
    assert made.dropped == {"a time that cannot be read": 1}


WIKIDATA = """
wd:Q1 rdfs:label "Ada"@en , "Ада"@ru ; p:P39 s:x . wd:Q2 rdfs:label "Mayor"@en . wd:P39 rdfs:label "position held"@en .
s:x ps:P39 wd:Q2 ; wikibase:rank wikibase:NormalRank ; pq:P580 "1986-01-01T00:00:00Z"^^xsd:dateTime ; pqv:P580 v:a .
v:a wikibase:timeValue "1986-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision "9"^^xsd:integer .
wd:Q1 wdt:P39 wd:Q2 ; wdt:P31 wd:Q5 .
"""


def test_statements_of_wikidata_have_the_precision_of_their_full_value(imported: Import) -> None:
    made = imported(WIKIDATA)
    assert made.rows == {("Ada", "position held", "Mayor", "1986-##-##", None)}
    assert made.report.notes == {}
    assert made.report.set_aside["a name in another language"] == 1
    assert (made.report.folder / "entities.tsv").read_text(encoding="utf-8").splitlines()[1].split("\t")[:3] == [
        "Ada",
        "http://www.wikidata.org/entity/Q1",
        "Q5",
    ]


def simple_value(text: str) -> str:
    return WIKIDATA.replace("; pqv:P580 v:a", "").replace('"1986-01-01T00:00:00Z"', f'"{text}"')


def test_a_simple_value_of_wikidata_is_believed_no_further_than_it_may_mean_and_it_is_said(imported: Import) -> None:
    made = imported(simple_value("1986-01-01T00:00:00Z"))
    assert {row[3] for row in made.rows} == {"1986-##-##"}
    assert made.report.notes == {GUESSED_PRECISION: 1}
    assert {row[3] for row in imported(simple_value("1986-05-13T00:00:00Z")).rows} == {"1986-05-13"}
    assert {row[3] for row in imported(simple_value("1986-01-01T00:00:00Z"), precision="day").rows} == {"1986-01-01"}


def test_years_before_the_year_1_are_those_of_rdf(imported: Import) -> None:
    assert {row[3] for row in imported(simple_value("-0457-01-01T00:00:00Z")).rows} == {"-0457-##-##"}


def test_deprecated_and_unknown_values_of_wikidata_are_left_out(imported: Import) -> None:
    kept = ":a :p :b ."
    made = imported(kept + WIKIDATA.replace("NormalRank", "DeprecatedRank").replace("wdt:P39 wd:Q2 ; ", ""))
    assert made.dropped == {"of a rank that was not asked for": 1}
    made = imported(kept + WIKIDATA.replace("ps:P39 wd:Q2", "ps:P39 _:unknown").replace("wdt:P39 wd:Q2 ; ", ""))
    assert made.dropped == {"the value is not known (somevalue)": 1}


def test_an_unknown_end_of_wikidata_is_an_open_end(imported: Import) -> None:
    made = imported(WIKIDATA.replace("pqv:P580 v:a", "pqv:P580 v:a ; pq:P582 _:unknown"))
    assert made.rows == {("Ada", "position held", "Mayor", "1986-##-##", None)}


def test_a_statement_that_is_dated_twice_over_keeps_both_times(imported: Import) -> None:
    made = imported('GRAPH <http://g/2014-05-13> { :a :p :b } <<:a :p :b>> :since "2016"^^xsd:gYear .', ".trig")
    assert {row[3] for row in made.rows} == {"2014-05-13", "2016-##-##"}


def test_a_property_called_from_is_a_relation_if_it_leads_to_a_thing(imported: Import) -> None:
    assert imported(":ada :from :utopia .").rows == {("ada", "from", "utopia", None, None)}
