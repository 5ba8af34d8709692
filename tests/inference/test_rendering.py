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
from foretime.inference.explanation.events import CoNeighbour, DatedEvent, SharedNeighbours
from foretime.inference.explanation.explanation import (
    BasePlace,
    Contribution,
    ReasonPart,
    RerankerScore,
    ShownReason,
)
from foretime.inference.explanation.layout import LayoutItem, lay_out
from foretime.inference.explanation.rounding import UNIT, adding_up, sum_text, units_of, written

NUMBER = r"[+-]?\d+\.\d{3}"
numbers = st.floats(-50, 50)


def units(text: str) -> int:
    return round(float(text.replace(" ", "")) * UNIT)


def summands(text: str) -> list[int]:
    """The numbers of a printed sum: `event 1.200 - commonsense 0.100`."""
    return [units(sign + number) for sign, number in re.findall(rf"([+-] )?[^\d+-]*?({NUMBER})", text)]


def some_reason(place: int, weights: tuple[float, float, float], share: float = 1.0) -> ShownReason:
    event = DatedEvent("before", "a*b", "meets|greets", f"c{place}", "2020-01-01")
    part = ReasonPart("pair_offset", -1, "1 day before", "", share, *weights, "p(x, y, t+t1) <= q(x, y, t)", 3, 4)
    count = ReasonPart("pair_count", 2, "twice in all", "", share, *weights[::-1])
    title = f'"meets" number {place}'
    return ShownReason("pair", title, f"{title}: a <b> c", "p <= q", (part, count), (event,) * 4, 9, ("pair", place))


def made_up(values: list[tuple[float, float, float]], event: float, answer: str = "b_c", first: int = 0) -> Explanation:
    reasons = tuple(some_reason(first + place, weights, 0.5) for place, weights in enumerate(values))
    terms = {"event": event, "evidence": math.fsum(reason.contribution for reason in reasons)}
    question = {"subject": "a*b", "predicate": "meets|greets", "object": answer, "time": "2020-01-02"}
    return Explanation(question, "object", answer, 2, 0.25, "test", terms, reasons)


FEATURES = (Contribution("pair_now", 1, -1.2), Contribution("events", 12, 0.3), Contribution("score", 3.75, 0.0004))
RERANKER = RerankerScore(0.1, FEATURES)


def reranked(explanation: Explanation, shared: SharedNeighbours | None = None) -> Explanation:
    return replace(
        explanation, base_place=BasePlace(100, True, 3), reranker=replace(RERANKER, shared_neighbours=shared)
    )


weights = st.tuples(numbers, numbers, numbers)
explanations = st.builds(made_up, st.lists(weights, max_size=6), numbers)
competitors = st.builds(made_up, st.lists(weights, max_size=6), numbers, st.just("other"), st.integers(0, 4))
pairs = st.builds(lambda one, other: replace(one, competitor=other), explanations, competitors)
anything = st.one_of(explanations, pairs, explanations.map(reranked))
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
        if " = " in item.text and item.items == () and (made := summands(item.text.split(" = ")[1].split("  [")[0])):
            assert sum(made) == item.units


@given(st.one_of(explanations, pairs), tops)
def test_every_sum_comes_out_as_it_is_printed(explanation, top):
    for page in lay_out(explanation, top):
        for section in page.sections:
            assert_adds_up(section.items, section.total)
            assert written(section.total) in section.heading
        left, right = page.lines[-1].split(" = ")
        assert units(re.findall(NUMBER, left)[-1]) == sum(summands(right))


@given(explanations.map(reranked), tops)
def test_base_and_features_of_the_reranker_add_up_as_they_are_printed(explanation, top):
    section = lay_out(explanation, top)[0].sections[0]
    assert section.total == units_of(explanation.score) == sum(item.units for item in section.items)


def plain(text: str) -> list[str]:
    """The lines of a text without markup, spaces and large letters."""
    lines = (re.sub(r"[\s\\`*#:-]", "", line).lower() for line in text.splitlines())
    return [line for line in lines if line]


@given(anything, tops)
def test_text_markdown_and_html_have_the_same_lines(explanation, top):
    text, markdown, html = explanation.to_text(top), explanation.to_markdown(top), explanation.to_html(top)
    opened = re.sub(r"<(?:section|h\d|p|ul|li)>", "\n", html)
    assert plain(text) == plain(markdown) == plain(unescape(re.sub(r"</?\w+>", "", opened)))


@given(explanations, tops)
def test_the_json_adds_up_in_full_precision(explanation, top):
    shown = json.loads(json.dumps(explanation.to_dict(top)))
    assert shown["score"] == math.fsum(shown["terms"].values())
    left = shown["other_reasons"]["contribution"]
    total = math.fsum([*(reason["contribution"] for reason in shown["reasons"]), left])
    assert total == pytest.approx(shown["terms"]["evidence"], rel=1e-15, abs=1e-12)
    for reason in shown["reasons"]:
        assert reason["contribution"] == math.fsum(part["contribution"] for part in reason["parts"])
        part = reason["parts"][0]
        assert part["contribution"] == part["share"] * math.fsum(part[name] for name in ("shared", "predicate", "rule"))
        assert (part["support"], part["body_count"], part["confidence"]) == (3, 4, 0.75)


ONE = [(1.0, 0.5, 0.25)]


def test_an_explanation_as_text():
    assert made_up(ONE, 2.0).to_text().splitlines() == [
        "(a*b, meets|greets, ?, 2020-01-02): b_c",
        "rank 2, probability 25.0%, already known in test",
        "score 3.750 = event 2.000 + evidence 1.750",
        "",
        "the evidence, 1.750:",
        '  +1.750 "meets" number 0: a <b> c',
        "         p <= q",
        "           +0.875 1 day before = shared 0.500 + predicate 0.250 + rule 0.125  [SC 0.75, 3 of 4]",
        "           +0.875 twice in all = shared 0.125 + predicate 0.250 + rule 0.500",
        *["         before    (a*b, meets|greets, c0, 2020-01-01)"] * 3,
        "         3 of 9 events",
    ]


def test_names_mean_no_markup_in_markdown_and_html():
    markdown, html = made_up(ONE, 2.0).to_markdown(), made_up(ONE, 2.0).to_html()
    assert markdown.startswith("## (a\\*b, meets\\|greets, ?, 2020-01-02): b\\_c\n\nrank 2, probability 25.0%")
    assert '\n### The evidence, 1.750\n\n- **+1.750** "meets" number 0: a \\<b\\> c\n  - `p <= q`\n' in markdown
    assert markdown.count("  - *before* (a\\*b") == 3
    assert "<li><b>+1.750</b> &quot;meets&quot; number 0: a &lt;b&gt; c<ul><li><code>p &lt;= q</code></li>" in html
    assert made_up(ONE, 2.0)._repr_html_() == html


def test_a_comparison_comes_first_and_says_what_differs():
    answer, competitor = made_up(ONE, 2.0), made_up([(0.5, 0.5, 0.0), (2.0, 0.0, 0.0)], 1.0, "other")
    both = replace(answer, competitor=competitor)
    assert str(both).startswith(
        "why b_c and not other: (a*b, meets|greets, ?, 2020-01-02)\n"
        "score 3.750 against 4.000: difference -0.250 = event 1.000 - evidence 1.250\n\n"
        "the evidence, -1.250:\n"
        '  -2.000 "meets" number 1: 0.000 against 2.000\n'
        '  +0.750 "meets" number 0: 1.750 against 1.000\n\n'
        "(a*b, meets|greets, ?, 2020-01-02): b_c\n"
    )
    assert both.to_text(1).splitlines()[5] == "  +0.750 1 other reason"
    differences = both.to_dict(1)["differences"]
    assert (differences["score"], differences["reasons"][0]["difference"]) == (-0.25, -2.0)
    assert differences["other_reasons"] == {"count": 1, "difference": 0.75}
    assert both.to_dict()["competitor"] == competitor.to_dict()


def test_the_score_of_a_reranker_is_its_base_and_its_features():
    explanation = reranked(made_up(ONE, 2.0))
    assert explanation.score == RERANKER.score == math.fsum([0.1, 0.3, -1.2, 0.0004])
    assert explanation.base_score == 3.75
    lines = explanation.to_text(2).splitlines()
    assert lines[2:11] == [
        "score -0.800, by the re-ranker",
        "base score 3.750 = event 2.000 + evidence 1.750; place 3 on the shortlist of the best 100",
        "",
        "the re-ranker, -0.800, which orders the answers:",
        "  +0.100 expected value",
        f"  -1.200 {FEATURES[0].words} = 1",
        f"  +0.300 {FEATURES[1].words} = about 12",
        "  +0.000 1 other feature",
        "",
    ]
    shown = explanation.to_dict(2)["reranker"]
    left = [shown["base"], shown["other_contributions"]["contribution"]]
    total = math.fsum([*left, *(one["contribution"] for one in shown["contributions"])])
    assert total == pytest.approx(shown["score"], abs=1e-12)
    assert list(shown["contributions"][0]) == ["feature", "value", "contribution", "words"]
    assert made_up([], 1.0).to_dict()["reranker"] is None


def supported(weights: list[float], facts: int = 3, reported: float | None = None) -> SharedNeighbours:
    marks = ("before", "same time", "after")
    events = tuple(DatedEvent(marks[k % 3], "mate", "plays for", "old_team", f"200{k} – ?") for k in range(facts))
    found = tuple(CoNeighbour(f"mate {k}", "old_team", k + 1, weight, events) for k, weight in enumerate(weights))
    return SharedNeighbours(found, math.fsum(weights) if reported is None else reported)


def test_shared_neighbours_are_listed_and_add_up():
    shared = supported([0.7072, 0.1414, 0.1294, 0.1, 0.05])
    explanation = reranked(made_up([], 2.0), shared)
    section = lay_out(explanation, None)[0].sections[1]
    assert sum(item.units for item in section.items) == section.total == 1128
    text = explanation.to_text()
    assert (
        "\nshared neighbours, 15 paths with a weight of 1.128:\n"
        "   0.707 mate 0, via old_team: 1 path\n"
        "         before    (mate, plays for, old_team, 2000 – ?)\n"
        "         same time (mate, plays for, old_team, 2001 – ?)\n"
        "         after     (mate, plays for, old_team, 2002 – ?)\n"
    ) in text
    assert text.endswith("   0.150 2 other co-neighbours")
    assert explanation.to_text(1).count("via old_team") == 1
    shown = explanation.to_dict(2)["reranker"]["shared_neighbours"]
    assert (shown["count"], shown["paths"], len(shown["co_neighbours"])) == (5, 15, 2)
    assert shown["weight"] == shown["reported"] == shared.weight
    assert shown["co_neighbours"][0]["events"][2] == shared.co_neighbours[0].events[2]._asdict()


def test_of_many_facts_the_first_are_shown_and_what_the_reranker_was_given():
    text = reranked(made_up([], 2.0), supported([0.5], facts=9, reported=0.25)).to_text()
    assert text.count("old_team, 200") == 6
    assert "6 of 9 facts" in text
    assert "1 path with a weight of 0.500, 0.250 of it reported to the re-ranker" in text
    assert "shared neighbours" not in reranked(made_up([], 2.0), supported([])).to_text()


def test_what_the_base_model_says_is_one_feature_but_not_in_json():
    said = [
        ("evidence_pair", 2.0, -2.0),
        ("position", 3.0, 1.0),
        ("score", 3.75, 0.5),
        ("event below the best", 0.5, 0.25),
    ]
    features = (*(Contribution(*one) for one in said), *FEATURES[:2])
    explanation = replace(made_up([], 2.0), reranker=RerankerScore(0.1, features))
    found = [(one.value_words, one.contribution) for one in explanation.reranker.summary()]
    assert found == [("1", -1.2), ("about 12", 0.3), ("place 4", -0.25)]
    assert "= place 4" in explanation.to_text()
    assert len(explanation.to_dict()["reranker"]["contributions"]) == 6


def test_two_reranked_answers_are_compared_feature_by_feature():
    other = RerankerScore(0.1, (Contribution("events", 3, 0.1), Contribution("pair_now", 0, 0.5)))
    answer = reranked(made_up([], 2.0))
    competitor = replace(made_up([], 1.0, "other"), reranker=other)
    both = replace(answer, competitor=competitor)
    assert both.to_text(1).splitlines()[1:7] == [
        "score -0.800 against 0.700, by the re-ranker: difference -1.500",
        "base score 2.000 against 1.000: difference 1.000 = event 1.000 + evidence 0.000",
        "",
        "the re-ranker, -1.500:",
        f"  -1.700 {FEATURES[0].words}: -1.200 against 0.500",
        "  +0.200 2 other features",
    ]
    differences = both.to_dict()["differences"]["reranker"]
    assert math.fsum(one["difference"] for one in differences) == pytest.approx(RERANKER.score - other.score, abs=1e-12)


PLACES = {
    BasePlace(100, True, 3): "place 3 on the shortlist of the best 100",
    BasePlace(100, True): "already known, so in addition to the shortlist of the best 100",
    BasePlace(1500, False): "not on the shortlist of the best 1,500, so the re-ranker does not score it and",
}


@pytest.mark.parametrize("place", PLACES)
def test_an_explanation_says_where_the_base_model_has_put_the_answer(place: BasePlace):
    explanation = replace(made_up([], 2.0), base_place=place, reranker=RERANKER if place.listed else None)
    assert f"base score 2.000 = event 2.000 + evidence 0.000; {PLACES[place]}" in explanation.to_text()
    assert ("by the re-ranker" in explanation.to_text()) == place.listed
    assert explanation.to_dict()["base_model"] == {"score": 2.0, **place._asdict()}


def test_where_one_of_two_is_not_on_the_shortlist_their_base_scores_are_compared():
    answer = replace(made_up([], 2.0), reranker=RERANKER, base_place=BasePlace(5, True, 1))
    both = replace(answer, competitor=replace(made_up([], 1.5, "other"), base_place=BasePlace(5, False)))
    lines = both.to_text().splitlines()
    assert lines[1:3] == ["base score 2.000 against 1.500: difference 0.500 = event 0.500 + evidence 0.000", ""]
    differences = both.to_dict()["differences"]
    assert (differences["score"], differences["reranker"]) == (0.5, None)


def test_without_evidence_all_formats_say_how_to_have_it(small_run: Path):
    explanation = open_run(small_run).explain(subject="state 1", predicate="praises", time="2020-03-01")
    assert NO_EVIDENCE in explanation.to_text()
    assert "--evidence" in explanation.to_markdown()
    assert explanation.to_dict()["note"] == NO_EVIDENCE
    assert explanation.to_dict()["reasons"] == []


def test_an_explanation_shows_as_many_reasons_as_it_was_made_for(evidence_run: Path):
    run = open_run(evidence_run)
    facts = run.graph.test
    names = run.graph.entities.name(facts.subject[0]), run.graph.predicates.name(facts.predicate[0])
    answer = run.predict(subject=names[0], predicate=names[1], time=run.graph.timeline.label(facts.start[0]))[0]
    explanation = answer.explain(top=2)
    assert explanation.answer == answer.name
    assert len(explanation.to_dict()["reasons"]) == 2 < len(explanation.reasons)
    assert str(explanation) == explanation.to_text(2) != explanation.to_text(3)
    items = lay_out(explanation, 2)[0].sections[0].items
    assert [item.text for item in items[:2]] == [reason.sentence for reason in explanation.reasons[:2]]


def test_what_does_not_come_from_a_run_cannot_be_compared():
    with pytest.raises(QuestionError, match="does not come from a run"):
        made_up([], 1.0).against("other")
