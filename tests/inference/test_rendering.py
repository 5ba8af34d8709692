"""Explanations on paper: what is printed adds up to the last digit, and text, Markdown and HTML say the same."""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime import Explanation, open_run
from foretime.errors import QuestionError
from foretime.inference.explainer import NO_EVIDENCE
from foretime.inference.explanation.details import BasePlace, Contribution, FullDetails
from foretime.inference.explanation.events import CoNeighbour, DatedEvent, SharedNeighbours
from foretime.inference.explanation.explanation import in_topics
from foretime.inference.explanation.layout import LayoutItem, lay_out
from foretime.inference.explanation.reasons import ReasonPart, ShownReason
from foretime.inference.explanation.rounding import UNIT, adding_up, sum_text, units_of, written
from foretime.reranker.features.words import in_words

numbers = st.floats(-50, 50)
TOPIC = ("between", "others", "general")


def some_reason(place: int, events: tuple[float, float], rest: float) -> ShownReason:
    first = DatedEvent("before", "a*b", "meets|greets", f"c{place}", "2020-01-01", "", events[0])
    second = DatedEvent("after", "a*b", "meets|greets", f"c{place}", "2020-01-03", "", events[1])
    part = ReasonPart("pair_offset", -1, "1 day before", "", 1.0, 1.0, 0.5, 0.25, "p(x, y, t+t1) <= q(x, y, t)", 3, 4)
    title = f'"meets" number {place}'
    topic = TOPIC[place % 3]
    return ShownReason(
        "usual" if topic == "general" else "pair", topic, title, f"{title}: a <b> c", f"there was {title}", "p <= q",
        "came true 3 of 4 times", (part,), (first, second), rest, 9, ("pair", place),
    )  # fmt: skip


def made_up(values: list[tuple[float, float, float]], answer: str = "b_c", first: int = 0) -> Explanation:
    reasons = [some_reason(first + place, (one, two), rest) for place, (one, two, rest) in enumerate(values)]
    question = {"subject": "a*b", "predicate": "meets|greets", "object": answer, "time": "2020-01-02"}
    return Explanation(question, "object", answer, 2, 0.25, "test", ("Possible because.",), in_topics(reasons))


FEATURES = (
    Contribution("pair_now", 1, -1.2, "between", in_words("pair_now")),
    Contribution("events", 12, 0.3, "activity", in_words("events")),
)
FULL = FullDetails({"event": 1.0, "evidence": 2.5}, 0.1, FEATURES, BasePlace(100, True, 3))


def with_details(explanation: Explanation) -> Explanation:
    return replace(explanation, full=FULL)


triples = st.lists(st.tuples(numbers, numbers, numbers), max_size=6)
explanations = st.builds(made_up, triples)
competitors = st.builds(made_up, triples, st.just("other"), st.integers(0, 4))
pairs = st.builds(lambda one, other: replace(one, competitor=other), explanations, competitors)
anything = st.one_of(explanations, pairs, explanations.map(with_details))
tops = st.sampled_from([None, 1, 3])


@given(st.lists(numbers, min_size=1, max_size=20), st.integers(-2, 2))
def test_rounded_values_add_up_to_the_total_that_is_asked_for(values, off):
    total = units_of(math.fsum(values)) + off
    rounded = adding_up(values, total)
    assert sum(rounded) == total
    assert all(abs(unit - value * UNIT) <= 1 + abs(off) for unit, value in zip(rounded, values, strict=True))


def test_numbers_are_written_with_three_digits_and_never_as_minus_zero():
    assert [written(number) for number in (0, -1, 12345, -700)] == ["0.000", "-0.001", "12.345", "-0.700"]
    assert [written(number, sign=True) for number in (0, -1, 1)] == ["+0.000", "-0.001", "+0.001"]
    assert sum_text([("event", -1200), ("commonsense", 100), ("evidence", -300)]) == (
        "event -1.200 + commonsense 0.100 - evidence 0.300"
    )
    assert sum_text([]) == "0.000"
    assert adding_up([], 0) == []


def assert_adds_up(items: Iterable[LayoutItem], total: int) -> None:
    found = [item.units for item in items if item.units is not None]
    assert sum(found) == total or not found
    for item in items:
        assert_adds_up(item.items, item.units or 0)


@given(anything, tops, st.booleans())
def test_every_sum_comes_out_as_it_is_printed(explanation, top, full):
    for page in lay_out(explanation, top, full):
        for section in page.sections:
            assert_adds_up(section.items, section.total)
            assert written(section.total) in section.heading


def plain(text: str) -> list[str]:
    """The lines of a text without markup, spaces and large letters."""
    lines = (re.sub(r"[\s\\`*#:-]", "", line).lower() for line in text.splitlines())
    return [line for line in lines if line]


@given(anything, tops, st.booleans())
def test_text_markdown_and_html_have_the_same_lines(explanation, top, full):
    forms = (explanation.to_text, explanation.to_markdown, explanation.to_html)
    text, markdown, html = (form(top, full) for form in forms)
    opened = re.sub(r"<(?:section|h\d|p|ul|li)>", "\n", html)
    assert plain(text) == plain(markdown) == plain(unescape(re.sub(r"</?\w+>", "", opened)))


@given(explanations, tops)
def test_the_json_adds_up_in_full_precision(explanation, top):
    shown = json.loads(json.dumps(explanation.to_dict(top)))
    assert shown["score"] == math.fsum(topic["contribution"] for topic in shown["topics"])
    for topic in shown["topics"]:
        left = topic["other_reasons"]["contribution"]
        total = math.fsum([*(reason["contribution"] for reason in topic["reasons"]), left])
        assert total == pytest.approx(topic["contribution"], rel=1e-15, abs=1e-12)
        for reason in topic["reasons"]:
            events = [event["contribution"] for event in reason["events"]]
            assert reason["contribution"] == math.fsum([*events, reason["rest"]])
            assert "parts" not in reason
    assert "full" not in shown


ONE = [(1.0, 0.5, 0.25)]


def test_an_explanation_as_text():
    assert made_up([*ONE, (-0.5, 0.0, 0.0), (-3.0, 0.0, 0.0)]).to_text(1).splitlines() == [
        "(a*b, meets|greets, ?, 2020-01-02): b_c",
        "rank 2, probability 25.0%, already known in test",
        "Possible because.",
        "",
        "the score, -1.750:",
        "  +1.750 the events between the two",
        '           +1.750 "meets" number 0: a <b> c',
        "                  came true 3 of 4 times",
        "                  before    (a*b, meets|greets, c0, 2020-01-01)",
        "                  after     (a*b, meets|greets, c0, 2020-01-03)",
        "                  2 of 9 events",
        "  -0.500 the same with others",
        "  -3.000 what is usual for such questions",
    ]


def test_a_researcher_sees_the_rule_its_weights_every_feature_and_the_base_score():
    lines = with_details(made_up(ONE)).to_text(full=True).splitlines()
    assert "base model: place 3 on the shortlist of the best 100" in lines
    assert "                  p <= q" in lines
    weights = "base +1.750: 1 day before = shared 1.000 + predicate 0.500 + rule 0.250  [SC 0.75, 3 of 4]"
    assert f"                  {weights}" in lines
    assert lines[-8:] == [
        "the features, -0.800:",
        "  +0.100 expected value",
        f"  -1.200 {FEATURES[0].words} = 1 [between]",
        f"  +0.300 {FEATURES[1].words} = about 12 [activity]",
        "",
        "the base score, 3.500:",
        "  +1.000 event",
        "  +2.500 evidence",
    ]
    shown = with_details(made_up(ONE)).to_dict(full=True)
    assert list(shown["full"]["features"][0]) == ["feature", "value", "contribution", "topic", "words"]
    assert (shown["full"]["expected_value"], shown["full"]["base_score"]) == (0.1, 3.5)
    part = shown["topics"][0]["reasons"][0]["parts"][0]
    assert (part["group"], part["support"], part["body_count"], part["confidence"]) == ("pair_offset", 3, 4, 0.75)
    assert part["contribution"] == part["share"] * math.fsum(part[name] for name in ("shared", "predicate", "rule"))


def test_names_mean_no_markup_in_markdown_and_html():
    markdown, html = made_up(ONE).to_markdown(), made_up(ONE).to_html()
    assert markdown.startswith("## (a\\*b, meets\\|greets, ?, 2020-01-02): b\\_c\n\nrank 2, probability 25.0%")
    assert '  - **+1.750** "meets" number 0: a \\<b\\> c\n' in markdown
    assert markdown.count("*before* (a\\*b") == 1
    assert "<li><b>+1.750</b> &quot;meets&quot; number 0: a &lt;b&gt; c<ul>" in html
    assert made_up(ONE)._repr_html_() == html


def test_a_name_from_right_to_left_never_turns_a_line_around():
    arabic = "محمود عباس"
    explanation = made_up(ONE, arabic)
    assert f"(a*b, meets|greets, ?, 2020-01-02): \u2068{arabic}\u2069" in explanation.to_text()
    assert f"\u2068{arabic}\u2069" in explanation.to_markdown()
    assert f"<bdi>{arabic}</bdi>" in explanation.to_html()
    assert explanation.to_dict()["answer"] == arabic
    event = DatedEvent("before", arabic, "meets", "b", "2020-01-01")
    assert str(event) == f"(\u2068{arabic}\u2069, meets, b, 2020-01-01)"


def test_a_comparison_comes_first_and_says_what_differs():
    answer, competitor = made_up(ONE), made_up([(0.5, 0.5, 0.0), (2.0, 0.0, 0.0)], "other")
    both = replace(answer, competitor=competitor)
    assert str(both).startswith(
        "why b_c and not other: (a*b, meets|greets, ?, 2020-01-02)\n"
        'b_c rather than other because there was "meets" number 0; in favour of other, there was "meets" number 1.\n\n'
        "the difference, -1.250: score 1.750 against 3.000:\n"
        "  -2.000 the same with others: 0.000 against 2.000\n"
        '           -2.000 "meets" number 1: 0.000 against 2.000\n'
        "  +0.750 the events between the two: 1.750 against 1.000\n"
        '           +0.750 "meets" number 0: 1.750 against 1.000\n\n'
        "(a*b, meets|greets, ?, 2020-01-02): b_c\n"
    )
    differences = both.to_dict(1)["differences"]
    assert (differences["score"], differences["topics"][0]["reasons"][0]["difference"]) == (-1.25, -2.0)
    assert differences["topics"][0]["other_reasons"] == {"count": 0, "difference": 0.0}
    assert both.to_dict()["competitor"] == competitor.to_dict()


def supported(weights: list[float], facts: int = 3) -> SharedNeighbours:
    marks = ("before", "same time", "after")
    events = tuple(DatedEvent(marks[k % 3], "mate", "plays for", "old_team", f"200{k} – ?") for k in range(facts))
    found = tuple(CoNeighbour(f"mate {k}", "old_team", k + 1, weight, events) for k, weight in enumerate(weights))
    return SharedNeighbours(found, math.fsum(weights))


def test_shared_neighbours_are_listed_in_full_and_add_up():
    shared = supported([0.7072, 0.1414, 0.1294, 0.1, 0.05])
    explanation = replace(made_up([]), full=replace(FULL, shared_neighbours=shared))
    section = lay_out(explanation, None, full=True)[0].sections[-1]
    assert sum(item.units for item in section.items) == section.total == 1128
    text = explanation.to_text(full=True)
    assert (
        "\nshared neighbours, 15 paths with a weight of 1.128:\n"
        "   0.707 mate 0, via old_team: 1 path\n"
        "         before    (mate, plays for, old_team, 2000 – ?)\n"
        "         same time (mate, plays for, old_team, 2001 – ?)\n"
        "         after     (mate, plays for, old_team, 2002 – ?)\n"
    ) in text
    assert "2 other co-neighbours" in text
    assert "shared neighbours, " not in explanation.to_text()
    shown = explanation.to_dict(2, full=True)["full"]["shared_neighbours"]
    assert (shown["count"], shown["paths"], len(shown["co_neighbours"])) == (5, 15, 2)


PLACES = {
    BasePlace(100, True, 3): "place 3 on the shortlist of the best 100",
    BasePlace(100, True): "already known, so in addition to the shortlist of the best 100",
    BasePlace(1500, False): "not on the shortlist of the best 1,500, so the re-ranker does not score it and",
}


@pytest.mark.parametrize("place", PLACES)
def test_an_explanation_in_full_says_where_the_base_model_has_put_the_answer(place: BasePlace):
    explanation = replace(made_up([]), full=replace(FULL, base_place=place))
    assert f"base model: {PLACES[place]}" in explanation.to_text(full=True)
    assert "base model" not in explanation.to_text()
    assert explanation.to_dict(full=True)["full"]["base_place"] == place._asdict()


def test_without_evidence_all_formats_say_how_to_have_it(small_run: Path):
    explanation = open_run(small_run).explain(subject="state 1", predicate="praises", time="2020-03-01")
    assert NO_EVIDENCE in explanation.to_text()
    assert "--evidence" in explanation.to_markdown()
    assert explanation.to_dict()["note"] == NO_EVIDENCE
    assert {topic["topic"] for topic in explanation.to_dict()["topics"]} == {"timely", "lasting"}


def test_an_explanation_shows_as_many_reasons_as_it_was_made_for(evidence_run: Path):
    run = open_run(evidence_run)
    facts = run.graph.test
    names = run.graph.entities.name(facts.subject[0]), run.graph.predicates.name(facts.predicate[0])
    answer = run.predict(subject=names[0], predicate=names[1], time=run.graph.timeline.label(facts.start[0]))[0]
    explanation = answer.explain(top=2)
    assert explanation.answer == answer.name
    topics = explanation.to_dict()["topics"]
    assert sum(len(topic["reasons"]) for topic in topics) == 2 < len(explanation.reasons)
    assert str(explanation) == explanation.to_text(2) != explanation.to_text(3)


def test_what_does_not_come_from_a_run_cannot_be_compared():
    with pytest.raises(QuestionError, match="does not come from a run"):
        made_up([]).against("other")
