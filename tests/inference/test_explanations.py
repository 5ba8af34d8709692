"""Explanations against the predictor and counts by hand: sums, ranks, marks, competitors, and what cannot be asked."""

import math
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch

from foretime.config import Config, EvidenceConfig, ModelConfig
from foretime.data.facts import UNKNOWN, Facts
from foretime.data.graph import Graph, read_graph
from foretime.errors import QuestionError
from foretime.evaluation.slots import score_terms
from foretime.evidence.buckets import offset_bounds
from foretime.evidence.counting import count_pair_rule
from foretime.evidence.events import event_lists
from foretime.evidence.index import build_index
from foretime.evidence.module import WithEvidence
from foretime.inference.answers import Answer, Question
from foretime.inference.explainer import NO_EVIDENCE, Explainer
from foretime.inference.explanation.comparison import AnswerComparison
from foretime.inference.explanation.explanation import Explanation
from foretime.inference.explanation.reasons import IN_TWOS
from foretime.inference.predictor import Predictor
from foretime.models import build_model
from foretime.reranker.scorer import Scorer
from foretime.runs.evaluation import softmax_at
from foretime.training.trainer import sizes_of

SLOTS = ("subject", "predicate", "object", "time")


@pytest.fixture(scope="module")
def explainer(evidence_run: Path) -> Explainer:
    return Predictor.open(evidence_run).explainer


def interval_explainer(path: Path, past_only: bool, predicates_each: int = 1) -> Explainer:
    """A graph of intervals, some with an end that is not known, and a model with random weights and evidence."""
    generator, rows = random.Random(1), {}
    for _ in range(300):
        subject, host, start = generator.randrange(6), generator.randrange(6), generator.randrange(1990, 2010)
        ends = generator.choice([(start, start), (start, start + 4), (start, "####-##-##"), ("####-##-##", start)])
        rows[f"{subject}\t{'heads' if subject % 2 else 'joins'}\t{host}\t{ends[0]}\t{ends[1]}"] = None
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    graph = read_graph(path, Config().data.model_copy(update={"granularity": "year"}))
    draw = torch.Generator().manual_seed(2)
    base = build_model(ModelConfig(name="lcge", rank=4, init_scale=0.8), sizes_of(graph, predicates_each), draw)
    model = WithEvidence(base, build_index(graph, EvidenceConfig(use=True, past_only=past_only)))
    with torch.no_grad():
        model.evidence.weights.normal_(generator=draw)
    model.end_offset = (predicates_each - 1) * 2 * len(graph.predicates)
    return Explainer(Predictor(Scorer(model.eval(), graph), graph, {slot: softmax_at(slot, 0.7) for slot in SLOTS}))


@pytest.fixture(scope="module")
def intervals(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    return interval_explainer(tmp_path_factory.mktemp("intervals") / "offices.tsv", past_only=False)


@pytest.fixture(scope="module")
def forecasts(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    return interval_explainer(tmp_path_factory.mktemp("forecasts") / "offices.tsv", past_only=True)


@pytest.fixture(scope="module")
def ends_apart(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    return interval_explainer(tmp_path_factory.mktemp("apart") / "offices.tsv", past_only=False, predicates_each=2)


def slots_of(graph: Graph, split: str, row: int) -> dict[str, str]:
    facts, label = graph.facts(split), graph.timeline.label
    ends = {"start": int(facts.start[row]), "end": int(facts.end[row])}
    times = {"time": label(ends["start"])} if ends["start"] == ends["end"] else {
        name: label(step) for name, step in ends.items() if step != UNKNOWN
    }  # fmt: skip
    names = graph.entities.name(facts.subject[row]), graph.entities.name(facts.object[row])
    predicate = graph.predicates.name(facts.predicate[row])
    return {"subject": names[0], "predicate": predicate, "object": names[1], **times}


def some_facts(graph: Graph) -> list[dict[str, str]]:
    return [slots_of(graph, split, row) for split in ("train", "valid", "test") for row in range(6)]


def assert_every_level_adds_up(explanation: Explanation) -> None:
    assert explanation.score == math.fsum(topic.contribution for topic in explanation.topics)
    for topic in explanation.topics:
        assert topic.contribution == math.fsum(reason.contribution for reason in topic.reasons)
        for reason in topic.reasons:
            assert reason.topic == topic.topic
            assert reason.contribution == math.fsum([*(event.contribution for event in reason.events), reason.rest])
            named = len(reason.events) // (2 if reason.family in IN_TWOS else 1)
            if reason.events and named == reason.groundings and not any(event.end for event in reason.events):
                assert reason.rest == pytest.approx(0, abs=1e-9)


def assert_adds_up(explanation: Explanation, answer: Answer) -> None:
    assert_every_level_adds_up(explanation)
    rules = [reason for reason in explanation.reasons if reason.parts]
    assert explanation.terms["evidence"] == pytest.approx(math.fsum(reason.contribution for reason in rules), abs=1e-9)
    for reason in rules:
        assert reason.contribution == pytest.approx(math.fsum(part.contribution for part in reason.parts), abs=1e-9)
    assert explanation.terms == pytest.approx(answer.terms, abs=1e-4)
    assert explanation.score == pytest.approx(answer.score, abs=1e-4)
    place = (explanation.rank, explanation.probability, explanation.already_known)
    assert place == (answer.rank, answer.probability, answer.already_known)


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("graph", ["explainer", "intervals", "forecasts", "ends_apart"])
def test_every_level_adds_up_to_the_score_of_the_predictor(request, graph: str, slot: str):
    explainer: Explainer = request.getfixturevalue(graph)
    for fact in some_facts(explainer.predictor.graph):
        if slot == "time" and "time" not in fact:
            continue
        question = Question(**{name: value for name, value in fact.items() if name != slot})
        answers = explainer.predictor.predict_many([question], top=10_000)[0]
        answer = next(answer for answer in answers if answer.name == fact[slot])
        explanation = explainer.explain(slot=slot, **fact)
        assert (explanation.question, explanation.answer, explanation.slot) == (fact, fact[slot], slot)
        assert_adds_up(explanation, answer)


def test_the_terms_are_those_of_the_fact_as_the_model_scores_it(intervals: Explainer):
    predictor = intervals.predictor
    for row in range(12):
        fact = slots_of(predictor.graph, "test", row)
        one = predictor.graph.test.take(np.array([row]))
        with torch.inference_mode():
            wanted = {term.name: float(term.weight * term.scores[0, 0]) for term in score_terms(predictor.model, one)}
        assert intervals.explain(**fact).terms == pytest.approx(wanted, abs=1e-4)


def test_with_two_ends_every_part_says_which_and_counts_by_half(intervals: Explainer):
    facts = some_facts(intervals.predictor.graph)
    two = [intervals.explain(**fact) for fact in facts if "start" in fact and "end" in fact]
    one = [intervals.explain(**fact) for fact in facts if "time" in fact or len(fact) == 4]
    parts = [part for explanation in two for reason in explanation.reasons for part in reason.parts]
    assert {part.end for part in parts} == {"start", "end"}
    assert {part.share for part in parts} == {0.5}
    assert {part.share for explanation in one for reason in explanation.reasons for part in reason.parts} == {1.0}
    assert any(len({part.end for part in reason.parts}) == 2 for explanation in two for reason in explanation.reasons)


def test_events_are_marked_as_before_at_the_same_time_and_after(explainer: Explainer):
    timeline, marks = explainer.predictor.graph.timeline, set()
    for fact in some_facts(explainer.predictor.graph):
        asked = timeline.step(fact["time"])
        for reason in explainer.explain(**fact).reasons:
            assert reason.events or not reason.parts
            for event in reason.events:
                step = timeline.step(event.time)
                assert event.mark == ("before" if step < asked else "after" if step > asked else "same time")
                marks.add(event.mark)
    assert marks == {"before", "same time", "after"}


def test_where_only_the_past_counts_all_events_are_before(forecasts: Explainer):
    explanations = [forecasts.explain(**fact) for fact in some_facts(forecasts.predictor.graph)]
    assert {event.mark for one in explanations for reason in one.reasons for event in reason.events} == {"before"}


def test_every_grounding_is_a_training_event_and_never_the_fact_itself(explainer: Explainer):
    graph = explainer.predictor.graph
    known = {tuple(slots_of(graph, "train", row).values()) for row in range(len(graph.train))}
    for fact in some_facts(graph):
        for reason in explainer.explain(**fact).reasons:
            events = {(event.subject, event.predicate, event.object, event.time) for event in reason.events}
            assert events <= known - {tuple(fact.values())}


def test_the_features_of_one_rule_body_are_one_reason_and_the_largest_comes_first(explainer: Explainer):
    kinds = set()
    for fact in some_facts(explainer.predictor.graph):
        reasons = explainer.explain(**fact).reasons
        assert len({reason.key for reason in reasons}) == len(reasons)
        sizes = [abs(reason.contribution) for reason in reasons]
        assert sizes == sorted(sizes, reverse=True)
        for reason in (reason for reason in reasons if reason.family == "pair"):
            families = [part.group for part in reason.parts]
            assert families.count("pair_count") == 1
            assert 1 <= families.count("pair_offset") <= 3
        kinds |= {reason.family for reason in reasons}
    assert kinds >= {"pair", "object", "active", "affinity"}


def test_a_path_names_both_its_events_and_its_rule(explainer: Explainer):
    graph = explainer.predictor.graph
    facts = [slots_of(graph, "test", row) for row in range(60)]
    reasons = [(f, reason) for f in facts for reason in explainer.explain(**f).reasons if reason.family == "path"]
    assert reasons
    for fact, reason in reasons:
        first, second = reason.events[:2]
        middle = ({first.subject, first.object} - {fact["subject"]}).pop()
        assert {second.subject, second.object} == {middle, fact["object"]}
        assert reason.rule is None or reason.rule.startswith(f"{fact['predicate']}(x, y) <= {first.predicate}(")
        assert f" ∧ {second.predicate}(" in reason.title
        assert reason.sentence.startswith(f"via {middle}: the farther event ")
        assert reason.clause.startswith(f'there was "{first.predicate}" by {first.subject} towards {first.object} ')
        assert f' and "{second.predicate}" by {second.subject} towards {second.object} ' in reason.clause
        assert f'("{first.predicate}" by {first.subject} towards {first.object}, {first.time}; "' in reason.sentence


def test_sentences_and_rules_say_what_happened(explainer: Explainer):
    fact = next(fact for fact in some_facts(explainer.predictor.graph))
    for reason in (one for one in explainer.explain(**fact).reasons if one.parts):
        event = reason.events[0]
        if reason.family == "pair":
            assert reason.title.startswith(f'"{event.predicate}" between the two')
            assert reason.sentence.startswith(f'"{event.predicate}" by {event.subject} towards {event.object}: ')
            assert reason.sentence.endswith(f"({'nearest ' if reason.groundings > 1 else ''}{event.time})")
            assert {event.subject, event.object} == {fact["subject"], fact["object"]}
            assert reason.rule is None or reason.rule.startswith(f"{fact['predicate']}(")
            assert reason.rule is None or f"<= {event.predicate}(x, y" in reason.rule
        elif reason.family in ("active", "affinity"):
            assert reason.rule is None
        assert (reason.groundings >= 1) == (reason.events != ())


def test_a_rule_is_counted_on_the_events_of_each_pair():
    generator = np.random.default_rng(0)
    subject, predicate, object_, time = (generator.integers(size, size=150) for size in (4, 3, 4, 120))
    index = event_lists(Facts(subject, predicate, object_, time, time), 4, 3, 120)
    steps: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for s, p, o, t in zip(subject.tolist(), predicate.tolist(), object_.tolist(), time.tolist(), strict=True):
        steps[s, p, o].add(t)
        steps[o, p + 3, s].add(t)
    for head in range(6):
        for body in range(6):
            for distance in (0, -1, 2, -3, 6, -20, 40, 95, -99):
                low, high = offset_bounds(distance)
                near = range(low, (120 if high is None else high) + 1)
                bodies = [(s, t, o) for (s, q, o), times in steps.items() if q == body for t in times]
                sign = 1 if distance < 0 else -1
                holds = [any(t + sign * d in steps.get((s, head, o), ()) for d in near) for s, t, o in bodies]
                assert count_pair_rule(index, head, body, distance) == (sum(holds), len(bodies))


def test_only_the_first_reasons_are_counted_and_none_as_a_rule_that_never_came_true(explainer: Explainer):
    for fact in some_facts(explainer.predictor.graph):
        explanation = explainer.explain(top=2, **fact)
        first = {reason.key for reason in explanation.shown(2)}
        for reason in explanation.reasons:
            dated = [part for part in reason.parts if part.group == "pair_offset"]
            assert all((part.body_count is not None) == (reason.key in first) for part in dated)
            assert all(0 <= part.confidence <= 1 for part in dated if part.confidence is not None)
            assert reason.counted is None or reason.key in first
            assert reason.counted is None or "came true 0 of" not in reason.counted
            if reason.counted is not None and "came true" not in reason.counted:
                assert reason.counted.startswith("in general, ")
                assert reason.rule is None


@pytest.mark.parametrize("slot", SLOTS)
def test_if_a_slot_is_left_out_the_best_answer_is_explained(explainer: Explainer, slot: str):
    graph = explainer.predictor.graph
    fact = {name: value for name, value in slots_of(graph, "test", 0).items() if name != slot}
    for known in ("mark", "hide"):
        best = explainer.predictor.predict(top=1, already_known=known, **fact)[0]
        explanation = explainer.explain(already_known=known, **fact)
        assert (explanation.slot, explanation.answer, explanation.rank) == (slot, best.name, 1)
        assert_adds_up(explanation, best)


@pytest.mark.parametrize("graph", ["explainer", "intervals", "forecasts"])
def test_the_differences_to_a_rival_add_up(request, graph: str):
    explainer: Explainer = request.getfixturevalue(graph)
    for fact in some_facts(explainer.predictor.graph):
        names = explainer.predictor.graph.entities.names
        competitor = next(name for name in names[3:] if name != fact["object"])
        explanation = explainer.explain(competitor=competitor, **fact)
        assert explanation.competitor is not None
        assert explanation.competitor.answer == competitor
        comparison = AnswerComparison(explanation, explanation.competitor)
        assert comparison.difference == math.fsum(topic.difference for topic in comparison.topics)
        assert comparison.difference == pytest.approx(explanation.score - explanation.competitor.score, abs=1e-9)
        for topic in comparison.topics:
            assert topic.difference == math.fsum(one.difference for one in topic.reasons)
            sizes = [abs(one.difference) for one in topic.reasons]
            assert sizes == sorted(sizes, reverse=True)
        assert comparison.sentence.startswith(f"{fact['object']} rather than {competitor}")


@pytest.mark.parametrize("slot", SLOTS)
def test_every_slot_can_have_a_competitor(explainer: Explainer, slot: str):
    fact = slots_of(explainer.predictor.graph, "test", 1)
    question = Question(**{name: value for name, value in fact.items() if name != slot})
    other = next(a for a in explainer.predictor.predict_many([question], 3)[0] if a.name != fact[slot])
    explanation = explainer.explain(slot=slot, competitor=other.name, **fact)
    assert explanation.competitor is not None
    assert_adds_up(explanation.competitor, other)


def test_a_run_without_evidence_explains_by_its_terms_and_says_how_to_have_more(small_run: Path):
    explainer = Predictor.open(small_run).explainer
    fact = slots_of(explainer.predictor.graph, "test", 0)
    explanation = explainer.explain(**fact)
    assert {reason.topic for reason in explanation.reasons} == {"timely", "lasting"}
    assert set(explanation.terms) == {"event", "commonsense"}
    assert explanation.score == pytest.approx(math.fsum(explanation.terms.values()), abs=1e-12)
    assert "what the model has learned of" in explanation.sentences[0]
    assert explanation.note == NO_EVIDENCE
    assert "--evidence" in NO_EVIDENCE


def test_the_reasons_for_an_answer_are_the_first_of_its_explanation(explainer: Explainer):
    question = Question(**{k: v for k, v in slots_of(explainer.predictor.graph, "test", 2).items() if k != "object"})
    for answer in explainer.predictor.predict_many([question], 4)[0]:
        found = explainer.reasons(question, answer)[:2]
        assert found == list(explainer.explain_answer(question, answer, top=0).shown(2))


BAD: dict[str, tuple[dict[str, str], str]] = {
    "a misspelt subject": ({"subject": "Fobabnd"}, "unknown entity 'Fobabnd'; did you mean 'Fobaband'"),
    "a misspelt predicate": ({"predicate": "Host a vist"}, "unknown predicate 'Host a vist'; did you mean 'Host"),
    "a misspelt object": ({"object": "Detigestn"}, "unknown entity 'Detigestn'; did you mean 'Detigestan'"),
    "a misspelt competitor": ({"competitor": "Detigestn"}, "unknown entity 'Detigestn'; did you mean 'Detigestan'"),
    "a time out of range": ({"time": "2031-01-01"}, "'2031-01-01' is not on the timeline"),
    "two slots left out": ({"object": None, "time": None}, "object and time are left open"),
    "itself as its competitor": ({"competitor": "Detigestan"}, "'Detigestan' is the answer itself; name another one"),
    "a time and a start": ({"start": "2024-01-01"}, "give either a time, or a start and an end, not both"),
    "a slot that is none": ({"slot": "who"}, "slot is 'who'; it may be subject, predicate, object or time"),
    "an interval as the answer": (
        {"slot": "time", "time": None, "start": "2024-01-01", "end": "2024-01-02"},
        "only one time can be the answer",
    ),
    "a time that is none as a competitor": ({"slot": "time", "competitor": "soon"}, "'soon' is not a time"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_explained_is_an_error_with_a_remedy(explainer: Explainer, case: str):
    changes, message = BAD[case]
    fact = {"subject": "Fobaband", "predicate": "Host a visit", "object": "Detigestan", "time": "2024-01-31"}
    with pytest.raises(QuestionError) as caught:
        explainer.explain(**{**fact, **changes})
    assert message in str(caught.value)
