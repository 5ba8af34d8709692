"""Every trap of Wikidata's JSON, each in a made-up entity."""

from __future__ import annotations

from typing import Any

import pytest
from tests.data.linked.wikidata_rows import JULIAN, claim, dump, entity, text_snak, time_snak, year

from foretime.data.linked import wikidata_entities as module
from foretime.data.linked.dates import JULIAN_DAY, UNKNOWN
from foretime.data.linked.statements import EntityNote, LeftOut, LinkedFact
from foretime.data.linked.wikidata_dump import NO_ENTITY_LINE, NOT_JSON, dump_lines, is_dump
from foretime.data.linked.wikidata_entities import WikidataChoices, entity_note, entity_statements

SOME, NONE = {"snaktype": "somevalue"}, {"snaktype": "novalue"}


def found(statement: dict[str, Any], predicate: str = "P39", **choices: Any) -> list[LinkedFact | LeftOut]:
    return [
        each
        for becomes in entity_statements(entity("Q1", **{predicate: statement}), WikidataChoices(**choices))
        for each in becomes
    ]


def span(statement: dict[str, Any], **choices: Any) -> tuple[str, str]:
    (fact,) = found(statement, **choices)
    assert isinstance(fact, LinkedFact)
    return fact.start, fact.end


def reason(statement: dict[str, Any], predicate: str = "P39", **choices: Any) -> str:
    (left,) = found(statement, predicate, **choices)
    assert isinstance(left, LeftOut)
    return left.reason


def test_start_and_end_qualifiers_are_the_interval() -> None:
    assert found(claim("Q2", P580=year(1986), P582=time_snak("+1990-05-13T00:00:00Z", 11))) == [
        LinkedFact("Q1", "P39", "Q2", "1986-##-##", "1990-05-13")
    ]


def test_one_end_may_be_missing_or_unknown_or_not_there_yet() -> None:
    assert span(claim("Q2", P580=year(1986))) == ("1986-##-##", UNKNOWN)
    assert span(claim("Q2", P580=SOME, P582=year(1990))) == (UNKNOWN, "1990-##-##")
    assert span(claim("Q2", P580=year(1986), P582=NONE)) == ("1986-##-##", UNKNOWN), "novalue: it goes on"


def test_a_point_in_time_is_both_ends_and_yields_to_start_and_end() -> None:
    assert span(claim("Q2", P585=year(1986))) == ("1986-##-##", "1986-##-##")
    assert span(claim("Q2", P585=year(1970), P580=year(1986))) == ("1986-##-##", UNKNOWN)


def test_publication_and_taxon_dates_are_times_if_they_are_asked_for() -> None:
    statement = claim("Q2", P577=year(1986))
    assert span(statement) == ("", "")
    assert span(statement, points=("P585", "P577", "P574")) == ("1986-##-##", "1986-##-##")


def test_two_terms_of_office_are_two_facts_and_two_points_too() -> None:
    twice = claim("Q2", P580=[year(1990), year(1980)], P582=[year(1984), year(1994)])
    assert [fact[3:5] for fact in found(twice)] == [("1980-##-##", "1984-##-##"), ("1990-##-##", "1994-##-##")]
    again = claim("Q2", P580=[year(1990), year(1980)], P582=[year(1984)])
    assert [fact[3:5] for fact in found(again)] == [("1980-##-##", "1984-##-##"), ("1990-##-##", UNKNOWN)]
    points = claim("Q2", P585=[year(1990), year(1980)])
    assert [fact[3:5] for fact in found(points)] == [("1990-##-##",) * 2, ("1980-##-##",) * 2]


def test_starts_and_ends_that_cannot_be_paired_are_left_out() -> None:
    assert reason(claim("Q2", P580=[year(1980), year(1981)], P582=[year(1984), year(1994)])) == module.AMBIGUOUS
    assert reason(claim("Q2", P580=[year(1980), year(1981), year(1982)])) == module.AMBIGUOUS
    assert reason(claim("Q2", P580=[year(1980), SOME])) == module.AMBIGUOUS


def test_a_statement_without_a_time_is_a_fact_without_a_time_or_is_left_out() -> None:
    assert span(claim("Q2")) == ("", "")
    assert span(claim("Q2", P580=SOME)) == ("", ""), "it began at some time: nothing is known"
    assert reason(claim("Q2"), timeless=False) == module.TIMELESS


def test_deprecated_statements_are_left_out_unless_they_are_asked_for() -> None:
    assert reason(claim("Q2", rank="deprecated")) == module.DEPRECATED
    assert span(claim("Q2", rank="preferred")) == ("", "")
    assert span(claim("Q2", rank="deprecated"), ranks=frozenset({"deprecated"})) == ("", "")


def test_values_that_are_unknown_absent_or_no_entity_are_left_out_with_their_reason() -> None:
    assert reason(claim(SOME)) == module.UNKNOWN_VALUE
    assert reason(claim(NONE)) == module.NO_VALUE
    assert reason(claim(text_snak("a name"))) == module.NO_ENTITY
    assert reason(claim(year(1986))) == module.NO_ENTITY


def test_only_the_properties_that_are_asked_for_are_taken() -> None:
    assert reason(claim("Q2"), "P54", properties=frozenset({"P39"})) == module.NOT_ASKED_FOR
    assert span(claim("Q2"), properties=frozenset({"P39"})) == ("", "")


def test_instance_of_is_the_type_and_a_fact_only_if_it_is_asked_for() -> None:
    assert reason(claim("Q5"), "P31") == module.TAKEN_AS_TYPE
    assert isinstance(found(claim("Q5"), "P31", properties=frozenset({"P31"}))[0], LinkedFact)
    person = entity("Q1", "Ada", P31=[claim("Q5"), claim("Q6", rank="deprecated")])
    assert entity_note(person, "en").types == ("Q5",)


def test_a_julian_day_is_converted_and_it_is_said() -> None:
    (fact,) = found(claim("Q2", P585=time_snak("+1917-10-25T00:00:00Z", 11, JULIAN)))
    assert fact == LinkedFact("Q1", "P39", "Q2", "1917-11-07", "1917-11-07", (JULIAN_DAY,))


def test_years_before_the_year_1_are_astronomical() -> None:
    assert span(claim("Q2", P585=year(-458))) == ("-0457-##-##", "-0457-##-##")


def test_a_time_that_cannot_be_read_leaves_its_statement_out_and_says_why() -> None:
    (left,) = found(claim("Q2", P580=time_snak("+1999-02-30T00:00:00Z", 11)))
    assert left == LeftOut(module.BAD_TIME, "Q1 P39 Q2: 1999-02-30 is not a date")


def test_old_dumps_give_entities_by_their_number_alone() -> None:
    statement = claim("Q2")
    del statement["mainsnak"]["datavalue"]["value"]["id"]
    (fact,) = found(statement)
    assert fact[2] == "Q2"


@pytest.mark.parametrize("broken", [7, {}, {"mainsnak": 3}, {"mainsnak": {"snaktype": "value"}}, None, "text"])
def test_a_statement_of_another_shape_is_left_out(broken: Any) -> None:
    assert [left.reason for left in found(broken) if isinstance(left, LeftOut)] == [module.MALFORMED]


def test_claims_of_another_shape_are_left_out() -> None:
    strange = {"id": "Q1", "claims": [claim("Q2")]}
    assert [left.reason for (left,) in entity_statements(strange, WikidataChoices())] == [module.MALFORMED]
    strange = {"id": "Q1", "claims": {"P39": "none"}}
    assert [left.reason for (left,) in entity_statements(strange, WikidataChoices())] == [module.MALFORMED]
    assert list(entity_statements({"id": "Q1", "claims": []}, WikidataChoices())) == [], "PHP's empty mapping"


def test_labels_come_in_the_language_asked_for_and_then_from_that_of_many_languages() -> None:
    labels = {"en": {"value": "Vienna"}, "de": {"value": "Wien"}, "mul": {"value": "Wien (mul)"}}
    city = {"id": "Q1741", "labels": labels, "aliases": {"de": [{"value": "Bundesstadt"}]}}
    assert entity_note(city, "de") == EntityNote("Q1741", "Wien", (), ("Bundesstadt",))
    assert entity_note(city, "fr").label == "Wien (mul)"
    assert entity_note(entity("Q1"), "en") == EntityNote("Q1", "")


def test_a_dump_is_read_line_by_line_without_its_brackets_and_commas() -> None:
    lines = list(dump_lines(dump(entity("Q1"), entity("Q2"))))
    assert [(line.line, [each["id"] for each in line.found]) for line in lines] == [(2, ["Q1"]), (3, ["Q2"])]
    joined = list(dump_lines(b'[{"id":"Q1"},\r\n{"id":"Q2"}]'))
    assert [each["id"] for line in joined for each in line.found] == ["Q1", "Q2"]
    single = list(dump_lines(b'{"entities":{"Q1":{"id":"Q1"}}}'))
    assert single[0].found == ({"id": "Q1"},)


def test_a_line_that_is_no_entity_is_left_out_with_its_place() -> None:
    content = b'[\n{"id":"Q1"},\n{"id":"Q2","claims":{"P\n[1, 2],\n{"no": "id"},\n]\n'
    wrong = [(line.line, line.found.reason) for line in dump_lines(content) if isinstance(line.found, LeftOut)]
    assert wrong == [(3, NOT_JSON), (4, NO_ENTITY_LINE), (5, NO_ENTITY_LINE)]


def test_a_dump_is_recognised_by_its_first_entity() -> None:
    assert is_dump(dump(entity("Q1")).decode().splitlines())
    assert not is_dump(["[", '{"subject": "Ada"}'])
