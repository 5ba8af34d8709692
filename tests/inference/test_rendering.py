"""Explanations on paper: what is printed adds up to the last digit, in text, JSON and Markdown."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime import Explainer, Explanation
from foretime.inference.explainer import NO_EVIDENCE, Contribution
from foretime.inference.explanation.company import Company, Peer
from foretime.inference.explanation.events import GroundedEvent
from foretime.inference.explanation.explanation import Comparison, FirstStage, ReasonPart, ShownReason
from foretime.inference.explanation.layout import lay_out, lay_out_comparison
from foretime.inference.explanation.rounding import UNIT, adding_up, sum_text, units_of, written

NUMBER = r"[+-]?\d+\.\d{3}"
numbers = st.floats(-50, 50)


def units(text: str) -> int:
    return round(float(text.replace(" ", "")) * UNIT)


def summands(text: str) -> list[int]:
    """The numbers of a printed sum: `event 1.200 - commonsense 0.100`."""
    return [units(sign + number) for sign, number in re.findall(rf"([+-] )?[^\d+-]*?({NUMBER})", text)]


def some_reason(place: int, weights: tuple[float, float, float], share: float = 1.0) -> ShownReason:
    event = GroundedEvent("cause", "a*b", "meets|greets", f"c{place}", "2020-01-01")
    part = ReasonPart("pair_offset", -1, "1 day before", "", share, *weights, "p(x, y, t+t1) <= q(x, y, t)", 3, 4)
    count = ReasonPart("pair_count", 2, "twice in all", "", share, *weights[::-1])
    title = f"«meets» number {place}"
    return ShownReason("pair", title, f"{title}: a → c", "p <= q", (part, count), (event,) * 4, 9, ("pair", place))


def made_up(values: list[tuple[float, float, float]], event: float, answer: str = "b_c", first: int = 0) -> Explanation:
    reasons = tuple(some_reason(first + place, weights, 0.5) for place, weights in enumerate(values))
    terms = {"event": event, "evidence": math.fsum(reason.contribution for reason in reasons)}
    question = {"subject": "a*b", "predicate": "meets|greets", "object": answer, "time": "2020-01-02"}
    return Explanation(question, "object", answer, 2, 0.25, "test", terms, reasons)


weights = st.tuples(numbers, numbers, numbers)
explanations = st.builds(made_up, st.lists(weights, max_size=6), numbers)
competitors = st.builds(made_up, st.lists(weights, max_size=6), numbers, st.just("other"), st.integers(0, 4))
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


@given(explanations, tops)
def test_every_sum_of_a_layout_comes_out(explanation, top):
    layout = lay_out(explanation, top)
    assert layout.score == units_of(explanation.score) == sum(term.units for term in layout.terms)
    assert layout.evidence == sum(line.units for line in layout.reasons) + layout.others.units
    assert layout.others.count + len(layout.reasons) == len(explanation.reasons)
    for line in layout.reasons:
        assert line.units == sum(part.units for part in line.parts)
        for part in line.parts:
            assert part.units == sum(weight.units for weight in part.weights) or not part.weights
        assert abs(line.units - line.reason.contribution * UNIT) < 3


@given(explanations, competitors, tops)
def test_every_sum_of_a_comparison_comes_out(explanation, competitor, top):
    comparison = Comparison(explanation, competitor)
    layout = lay_out_comparison(comparison, top)
    assert layout.score.units == units_of(explanation.score) - units_of(competitor.score)
    assert layout.score.units == sum(term.units for term in layout.terms)
    evidence = next(term.units for term in layout.terms if term.name == "evidence")
    assert evidence == sum(line.units for line in layout.reasons) + layout.others.units
    reasons = math.fsum(reason.difference for reason in comparison.reasons)
    assert reasons == pytest.approx(explanation.terms["evidence"] - competitor.terms["evidence"], abs=1e-9)


@given(explanations, tops)
def test_the_text_adds_up_as_it_is_printed(explanation, top):
    lines = explanation.to_text(top).splitlines()
    assert lines[:2] == ["(a*b, meets|greets, ?, 2020-01-02): b_c", "rank 2, confidence 25.0%, known in test"]
    score, terms = lines[2].removeprefix("score ").split(" = ")
    assert units(score) == sum(summands(terms))
    contributions = [units(found[1]) for line in lines if (found := re.match(rf" {{0,2}}({NUMBER}) \S", line))]
    if explanation.reasons:
        heading = next(line for line in lines if line.startswith("the evidence, "))
        assert units(re.search(NUMBER, heading)[0]) == sum(contributions)
    for line in lines:
        if found := re.match(rf" {{9,}}({NUMBER}) .*? = (.*?)(  \[.*\])?$", line):
            assert units(found[1]) == sum(summands(found[2]))


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


def test_names_mean_no_markup_in_markdown():
    shown = made_up([(1.0, 0.5, 0.25)], 2.0).to_markdown()
    assert shown.startswith(
        "## b\\_c\n\n(a\\*b, meets\\|greets, ?, 2020-01-02): rank 2, confidence 25.0%, known in test"
    )
    assert "| score | 3.750 |\n| --- | --- |\n| event | 2.000 |\n| evidence | 1.750 |" in shown
    assert "- **+1.750** «meets» number 0: a → c  \n  `p <= q`" in shown
    assert "  - +0.875 1 day before = shared 0.500 + predicate 0.250 + rule 0.125 (SC 0.75, 3 of 4)" in shown
    assert shown.count("*cause*") == 3
    assert "  - 3 of 9 events" in shown


def test_a_comparison_is_told_in_all_three_formats():
    answer, competitor = made_up([(1.0, 0.5, 0.25)], 2.0), made_up([(0.5, 0.5, 0.0), (2.0, 0.0, 0.0)], 1.0, "other")
    both = replace(answer, competitor=competitor)
    text = both.to_text()
    assert text.startswith(
        "why b_c and not other: (a*b, meets|greets, ?, 2020-01-02)\n"
        "score 3.750 against 4.000\n"
        "difference -0.250 = event 1.000 - evidence 1.250\n\n"
        "of the evidence:\n"
        "  -2.000 «meets» number 1: 0.000 against 2.000\n"
        "  +0.750 «meets» number 0: 1.750 against 1.000\n"
    )
    assert both.to_text(1).splitlines()[6] == "  +0.750 1 other reason"
    assert "| score | 3.750 | 4.000 | -0.250 |" in both.to_markdown()
    assert "| «meets» number 1 | 0.000 | 2.000 | -2.000 |" in both.to_markdown()
    differences = both.to_dict(1)["differences"]
    assert (differences["score"], differences["reasons"][0]["difference"]) == (-0.25, -2.0)
    assert differences["other_reasons"] == {"count": 1, "difference": 0.75}
    assert both.to_dict()["competitor"] == competitor.to_dict()


COLUMNS = [Contribution("events", 12, 0.3), Contribution("pair_now", 1, -1.2), Contribution("score", 3.75, 0.0004)]


def test_a_second_stage_is_told_in_all_three_formats_and_adds_up():
    staged = replace(made_up([(1.0, 0.5, 0.25)], 2.0), second_stage=COLUMNS, second_stage_base=0.1)
    assert staged.second_stage_score == math.fsum([0.1, 0.3, -1.2, 0.0004])
    assert staged.score == staged.second_stage_score
    assert staged.first_stage_score == 3.75
    lines = staged.to_text(2).splitlines()
    assert lines[2] == "score -0.800, by the second stage"
    assert lines[3] == "first stage 3.750 = event 2.000 + evidence 1.750"
    start = lines.index("the second stage, -0.800, which orders the answers:")
    assert lines[start + 1 : start + 5] == [
        "  +0.100 base",
        "  -1.200 events between the two at the same step = 1",
        "  +0.300 the candidate's events with others in all = about 12",
        "  +0.000 1 other column",
    ]
    markdown = staged.to_markdown(2)
    assert "### The second stage, which orders the answers: -0.800" in markdown
    assert "| events between the two at the same step | 1 | -1.200 |" in markdown
    assert "Score by the second stage: -0.800" in markdown
    assert "| first stage | 3.750 |" in markdown
    assert "| 1 other column |  | +0.000 |" in markdown
    shown = staged.to_dict(2)["second_stage"]
    left = [shown["base"], shown["other_contributions"]["contribution"]]
    total = math.fsum([*left, *(column["contribution"] for column in shown["contributions"])])
    assert total == pytest.approx(shown["score"], abs=1e-12)
    assert made_up([], 1.0).to_dict()["second_stage"] is None


def made_up_company(weights: list[float], facts: int = 3, told: float | None = None) -> Company:
    marks = ("cause", "companion", "effect")
    events = tuple(GroundedEvent(marks[k % 3], "mate", "plays for", "old_team", f"200{k} – ?") for k in range(facts))
    peers = tuple(Peer(f"mate {k}", "old_team", k + 1, weight, events) for k, weight in enumerate(weights))
    return Company(peers, math.fsum(weights) if told is None else told)


def test_company_is_told_in_all_three_formats_and_adds_up():
    company = made_up_company([0.7072, 0.1414, 0.1294, 0.1, 0.05])
    staged = replace(made_up([], 2.0), second_stage=COLUMNS, company=company)
    lines = staged.to_text().splitlines()
    start = lines.index("the company, 15 paths of weight 1.128 in all:")
    assert lines[start + 1 : start + 5] == [
        "   0.707 mate 0, over old_team: 1 path",
        "         cause     (mate, plays for, old_team, 2000 – ?)",
        "         companion (mate, plays for, old_team, 2001 – ?)",
        "         effect    (mate, plays for, old_team, 2002 – ?)",
    ]
    assert "   0.150 2 other peers" in lines
    markdown = staged.to_markdown()
    assert "### The company, 15 paths of weight 1.128 in all" in markdown
    assert (
        "- **0.707** mate 0, over old\\_team: 1 path\n  - *cause* (mate, plays for, old\\_team, 2000 – ?)" in markdown
    )
    assert "- **0.150** 2 other peers" in markdown
    for text in (staged.to_text(), markdown):
        units = [int(part.replace(".", "")) for part in re.findall(r"(\d\.\d{3})\W+(?:mate|2 other peers)", text)]
        assert len(units) == 4
        assert sum(units) == 1128
    assert staged.to_text(1).count("over old_team") == 1
    shown = staged.to_dict(2)["second_stage"]["company"]
    assert (shown["count"], shown["paths"], len(shown["peers"])) == (5, 15, 2)
    assert shown["weight"] == shown["told"] == company.weight
    assert shown["peers"][0]["events"][2] == company.peers[0].events[2]._asdict()


def test_of_much_company_the_first_facts_are_told_and_what_was_not_counted():
    staged = replace(made_up([], 2.0), second_stage=COLUMNS, company=made_up_company([0.5], facts=9, told=0.25))
    for text in (staged.to_text(), staged.to_markdown()):
        assert text.count("old_team, 200") + text.count("old\\_team, 200") == 6
        assert "6 of 9 facts" in text
        assert "1 path of weight 0.500 in all, 0.250 of it told" in text
    alone = replace(staged, company=made_up_company([]))
    assert "ompany" not in alone.to_text() + alone.to_markdown()


def test_all_that_the_first_stage_says_is_told_as_one():
    said = [
        ("score", 3.75, 0.5),
        ("event below the best", 0.5, 0.25),
        ("position", 3.0, 1.0),
        ("evidence_pair", 2.0, -2.0),
    ]
    columns = [Contribution(*column) for column in said] + COLUMNS[:2]
    staged = replace(made_up([], 2.0), second_stage=columns, second_stage_base=0.1)
    told = [(column.words, column.value_words, column.contribution) for column in staged.told_second_stage()]
    assert told == [
        ("events between the two at the same step", "1", -1.2),
        ("the candidate's events with others in all", "about 12", 0.3),
        ("all features of the base model", "place 4", -0.25),
    ]
    assert "  -0.250 all features of the base model = place 4" in staged.to_text()
    assert len(staged.to_dict()["second_stage"]["contributions"]) == 6  # JSON has every column


def test_second_stages_are_compared_column_by_column():
    answer = replace(made_up([], 2.0), second_stage=COLUMNS, second_stage_base=0.1)
    other = [Contribution("events", 3, 0.1), Contribution("pair_now", 0, 0.5)]
    competitor = replace(made_up([], 1.0, "other"), second_stage=other, second_stage_base=0.1)
    text = replace(answer, competitor=competitor).to_text(1).splitlines()
    start = text.index("of the second stage, which orders the answers:")
    assert text[start + 1 : start + 3] == [
        "  -1.700 events between the two at the same step: -1.200 against 0.500",
        "  +0.200 2 other columns",
    ]
    assert text[1:5] == [
        "score -0.800 against 0.700",
        "difference -1.500, by the second stage",
        "first stage 2.000 against 1.000",
        "difference 1.000 = event 1.000 + evidence 0.000",
    ]
    differences = replace(answer, competitor=competitor).to_dict()["differences"]["second_stage"]
    total = answer.second_stage_score - competitor.second_stage_score
    assert math.fsum(column["difference"] for column in differences) == pytest.approx(total, abs=1e-12)
    markdown = replace(answer, competitor=competitor).to_markdown()
    assert "| events between the two at the same step | -1.200 | 0.500 | -1.700 |" in markdown
    assert "| first stage | 2.000 | 1.000 | +1.000 |\n| score | -0.800 | 0.700 | -1.500 |" in markdown


PLACES = {
    FirstStage(100, True, 3): "place 3 on the shortlist of the best 100",
    FirstStage(100, True): "known already, so beside the shortlist of the best 100",
    FirstStage(1500, False): "behind the shortlist of the best 1,500, so it keeps its place",
}


@pytest.mark.parametrize("first", PLACES)
def test_an_explanation_says_where_the_first_stage_has_put_the_answer(first: FirstStage):
    columns = COLUMNS if first.listed else None
    staged = replace(made_up([], 2.0), first_stage=first, second_stage=columns)
    assert f"first stage 2.000 = event 2.000 + evidence 0.000: {PLACES[first]}" in staged.to_text()
    assert f"The first stage: {PLACES[first]}" in staged.to_markdown()
    assert ("by the second stage" in staged.to_text()) == first.listed
    assert staged.to_dict()["first_stage"] == {"score": 2.0, **first._asdict()}


def test_where_one_of_two_is_behind_the_shortlist_their_first_stages_are_compared():
    answer = replace(made_up([], 2.0), second_stage=COLUMNS, first_stage=FirstStage(5, True, 1))
    competitor = replace(made_up([], 1.5, "other"), first_stage=FirstStage(5, False))
    both = replace(answer, competitor=competitor)
    assert both.to_text().splitlines()[1:3] == [
        "first stage 2.000 against 1.500",
        "difference 0.500 = event 0.500 + evidence 0.000",
    ]
    assert "of the second stage, which orders" not in both.to_text()
    assert "| first stage | 2.000 | 1.500 | +0.500 |\n\n## b\\_c" in both.to_markdown()
    differences = both.to_dict()["differences"]
    assert (differences["score"], differences["second_stage"]) == (0.5, None)


def test_without_evidence_all_formats_say_how_to_have_it(small_run: Path):
    explanation = Explainer.open(small_run).explain(subject="state 1", predicate="praises", time="2020-03-01")
    assert NO_EVIDENCE in explanation.to_text()
    assert "--evidence" in explanation.to_markdown()
    assert explanation.to_dict()["note"] == NO_EVIDENCE
    assert explanation.to_dict()["reasons"] == []


def test_a_real_explanation_is_the_same_in_all_three_formats(evidence_run: Path):
    explainer = Explainer.open(evidence_run)
    graph = explainer.predictor.graph
    names = graph.entities.name(graph.test.subject[0]), graph.predicates.name(graph.test.predicate[0])
    time = graph.timeline.label(graph.test.start[0])
    explanation = explainer.explain(subject=names[0], predicate=names[1], time=time)
    text, markdown, shown = explanation.to_text(3), explanation.to_markdown(3), explanation.to_dict(3)
    assert len(shown["reasons"]) == 3
    for line, reason in zip(lay_out(explanation, 3).reasons, shown["reasons"], strict=True):
        assert f"{written(line.units, sign=True)} {reason['sentence']}" in text
        assert f"- **{written(line.units, sign=True)}** " in markdown
        assert reason["contribution"] == line.reason.contribution
