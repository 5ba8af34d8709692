"""Explanations of a run with two stages: contributions that add up to the score that orders the answers."""

import math

import pytest
from staged_runs import Staged, interval_graph

from foretime import Explainer
from foretime.cli import tables
from foretime.config import Config, override
from foretime.errors import ForetimeError
from foretime.inference.explanation.explanation import Comparison
from foretime.inference.explanation.layout import lay_out, lay_out_comparison
from foretime.inference.predictor import Question
from foretime.runs.life import train


@pytest.fixture(scope="module")
def explainer(staged: dict[str, Staged]) -> Explainer:
    return Explainer.open(staged["fold"].run)


def facts_of(explainer: Explainer, count: int = 4) -> list[dict[str, str]]:
    graph = explainer.predictor.graph
    return [
        {
            "subject": graph.entities.name(facts.subject[row]),
            "predicate": graph.predicates.name(facts.predicate[row]),
            "object": graph.entities.name(facts.object[row]),
            "time": graph.timeline.label(facts.start[row]),
        }
        for facts in (graph.train, graph.test)
        for row in range(count)
    ]


@pytest.mark.parametrize("slot", ["subject", "object"])
def test_base_and_columns_add_up_to_the_score_of_every_answer_on_the_shortlist(explainer: Explainer, slot: str):
    behind = 0
    for fact in facts_of(explainer):
        question = Question(**{name: value for name, value in fact.items() if name != slot})
        for answer in explainer.predictor.complete_many([question], top=1000)[0]:
            found = explainer.explain_answer(question, answer, top=0)
            first = found.first_stage
            assert first is not None
            assert first.shortlist == 5
            assert "reranker" not in found.terms
            terms = {name: term for name, term in answer.terms.items() if name != "reranker"}
            assert found.terms == pytest.approx(terms, abs=1e-4)
            if found.second_stage is None:
                behind += 1
                assert not first.listed
                assert answer.rank > 5
                assert "behind the shortlist of the best 5" in found.to_text()
                assert found.score == found.first_stage_score == math.fsum(found.terms.values())
                continue
            parts = [found.second_stage_base, *(column.contribution for column in found.second_stage)]
            assert first.listed
            assert (first.place is None) == (answer.known == "train")
            assert found.score == found.second_stage_score == math.fsum(parts)
            assert found.score == pytest.approx(answer.score, abs=1e-4)
            position = next(column.value for column in found.second_stage if column.column == "position")
            assert first.place in (None, position + 1)
            layout = lay_out(found, 3)
            assert layout.second_stage is not None
            shown = sum(line.units for line in layout.second_stage.columns)
            assert layout.score == layout.second_stage.base + shown + layout.second_stage.others.units
            assert layout.first_stage == sum(term.units for term in layout.terms)
    assert behind > 0


def test_differences_of_two_answers_on_the_shortlist_add_up_to_that_of_their_scores(explainer: Explainer):
    compared = 0
    for fact in facts_of(explainer):
        best = explainer.predictor.complete_many([Question(**{**fact, "object": None})], top=3)[0]
        competitor = next(answer.name for answer in best if answer.name != fact["object"])
        explanation = explainer.explain(competitor=competitor, **fact)
        assert explanation.competitor is not None
        comparison = Comparison(explanation, explanation.competitor)
        layout = lay_out_comparison(comparison, 4)
        if comparison.staged:
            compared += 1
            difference = explanation.score - explanation.competitor.score
            assert comparison.difference == pytest.approx(difference, abs=1e-12)
            total = math.fsum(column.difference for column in comparison.second_stage)
            assert total == pytest.approx(difference, abs=1e-12)
            shown = sum(line.units for line in layout.second_stage) + layout.second_stage_others.units
            assert shown == layout.score.units
        assert layout.first_stage.units == sum(term.units for term in layout.terms)
    assert compared > 0


@pytest.fixture(scope="module", params=[False, True])
def spans(request, staged_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    folder = tmp_path_factory.mktemp("spans")
    config = override(staged_config, {"reranker.fit": "fold", "evidence.past_only": request.param})
    train(interval_graph(folder / "lands.tsv"), config, folder / "run")
    return Explainer.open(folder / "run")


@pytest.mark.parametrize("slot", ["subject", "object"])
def test_the_company_that_is_named_weighs_what_the_second_stage_says(spans: Explainer, slot: str):
    paths = 0
    given = "subject" if slot == "object" else "object"
    for name, predicate in (("land 1", "heads"), ("land 2", "joins"), ("land 4", "joins")):
        question = Question(**{given: name}, predicate=predicate, start="2003", end="2007")
        for answer in spans.predictor.complete_many([question], top=6)[0]:
            found = spans.explain_answer(question, answer)
            if found.second_stage is None:
                continue
            assert found.company is not None
            columns = {column.column: column.value for column in found.second_stage}
            assert found.company.weight == pytest.approx(columns["shared_neighbours"], rel=1e-5)
            assert found.company.told == columns["shared_neighbours"]
            for peer in found.company.peers:
                first, _, last = peer.events[:3]
                assert {first.subject, first.object} == {name, peer.third}
                ends = (peer.name, answer.name) if slot == "object" else (answer.name, peer.name)
                assert (last.subject, last.predicate, last.object) == (ends[0], predicate, ends[1])
            paths += found.company.paths
    assert paths > 0


def test_events_of_single_times_have_no_company(explainer: Explainer):
    assert explainer.explain(**facts_of(explainer)[0]).company is None


@pytest.mark.parametrize("slot", ["predicate", "time"])
def test_what_the_second_stage_does_not_order_is_explained_by_terms_alone(explainer: Explainer, slot: str):
    found = explainer.explain(slot=slot, **facts_of(explainer)[0])
    assert (found.first_stage, found.second_stage) == (None, None)
    assert found.to_dict()["first_stage"] is None
    assert found.to_text().splitlines()[2].startswith("score ")


def test_an_explanation_of_another_score_is_refused(explainer: Explainer, monkeypatch: pytest.MonkeyPatch):
    stages = explainer.predictor.scorer.stages
    right = type(stages).score
    question = Question(**{**facts_of(explainer)[0], "object": None})
    answer = explainer.predictor.complete_many([question], top=1)[0][0]
    monkeypatch.setattr(type(stages), "score", lambda self, questions: right(self, questions) + 1)
    with pytest.raises(RuntimeError, match="add up to") as caught:
        explainer.explain_answer(question, answer)
    assert not isinstance(caught.value, ForetimeError)


def test_tables_show_the_first_stage_and_the_kinds_of_evidence(
    staged: dict[str, Staged], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tables.console, "width", 120)
    report = staged["fold"].run.report()
    tables.print_reports({split: report[split] for split in ("valid", "test")})
    lines = capsys.readouterr().out.splitlines()
    for split in ("valid", "test"):
        row = next(line for line in lines if f"{split}, first stage" in line)
        assert f"{report[split]['first_stage']['all']['mrr']:.4f}" in row
    tables.print_details(report["test"], 1)
    lines = capsys.readouterr().out.splitlines()
    asked = {name: kind for name, kind in report["test"]["kinds"].items() if kind["questions"]}
    assert asked
    for name, kind in asked.items():
        assert any(name in line and f"{kind['mrr']:.4f}" in line for line in lines)
