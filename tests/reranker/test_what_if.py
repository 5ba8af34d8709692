"""What if: other evidence gives what a run would give whose index never had the events, and changes nothing else."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import torch
from reranked_runs import Reranked, interval_graph

from foretime.config import Config, override
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph
from foretime.errors import QuestionError
from foretime.evaluation import AnswerIndex
from foretime.evaluation.filters import questions_of
from foretime.evaluation.slots import SLOTS, at_single_times
from foretime.evidence.families import FAMILY_NAMES
from foretime.evidence.index import build_index
from foretime.evidence.module import WithEvidence
from foretime.inference.answers import Question
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run
from foretime.reranker.features.extractor import FeatureExtractor
from foretime.reranker.scorer import RerankedModel, Scorer
from foretime.runs.life import train


@pytest.fixture(scope="module", params=["points", "intervals", "fading", "recent"])
def run(request, reranked: dict[str, Reranked], reranked_config: Config, tmp_path_factory) -> Run:
    if request.param == "points":
        return Run(reranked["fold"].run)
    folder = tmp_path_factory.mktemp(request.param)
    settings = {"evidence.families": [*FAMILY_NAMES]} if request.param == "fading" else {}
    settings |= {"model.name": "recent"} if request.param == "recent" else {}
    return Run(train(interval_graph(folder / "lands.tsv"), override(reranked_config, settings), folder / "run"))


def built_afresh(run: Run, train_facts: Facts) -> Predictor:
    """The same weights, rules and trees on a graph with other training facts, everything else built anew."""
    graph, predictor = replace(run.graph, train=train_facts), run.predictor
    before, reranked = predictor.model, predictor.scorer.reranked
    index = replace(build_index(graph, run.config.evidence, run.rules), rules=before.evidence.index.rules)
    model = WithEvidence(before.base, index)
    model.load_state_dict(before.state_dict())
    extractor = FeatureExtractor.of(graph, model.eval(), run.config.evidence)
    known = AnswerIndex(graph.train.with_inverses(len(graph.predicates)))
    slots = predictor.scorer.slots
    models = {
        slot: replace(own, extractor=replace(own.extractor, index=index, words=extractor.names))
        for slot, own in slots.models.items()
    }
    scorer = Scorer(
        model, graph, RerankedModel(model, reranked.reranker, extractor, known), replace(slots, models=models)
    )
    return predictor.on(scorer, graph)


def labels(facts: Facts, row: int, graph: Graph) -> tuple[str, ...]:
    return list(replace(graph, train=facts).rows("train"))[row]


def facts_in(graph: Graph) -> list[dict[str, str]]:
    """The facts of test by slot; an end that is not known is left out."""
    names = ("subject", "predicate", "object", *(("start", "end") if graph.has_intervals else ("time",)))
    rows = (zip(names, row, strict=True) for row in graph.rows("test"))
    return [{name: value for name, value in row if value} for row in rows]


def assert_same_answers(found: Predictor, wanted: Predictor) -> None:
    graph = wanted.graph
    asked = questions_of(graph.test, len(graph.predicates))
    with torch.inference_mode():
        assert torch.equal(found.scorer.score(asked), wanted.scorer.score(asked))
        for slot in ("predicate", "time"):
            facts = at_single_times(graph.test)
            assert torch.equal(found.scorer.score_slot(slot, facts), wanted.scorer.score_slot(slot, facts))
    for slots in facts_in(graph)[:3]:
        for slot in SLOTS if "time" in slots else SLOTS[:3]:
            assert (
                found.explainer.explain(slot=slot, **slots).to_dict()
                == wanted.explainer.explain(slot=slot, **slots).to_dict()
            )


def test_without_an_event_is_a_run_whose_index_never_had_it(run: Run):
    facts = run.graph.train
    for row in (0, len(facts) - 1):
        gone = labels(facts, row, run.graph)
        kept = np.array([labels_ != gone for labels_ in run.graph.rows("train")])
        assert_same_answers(run.what_if(without=[gone]).predictor, built_afresh(run, facts.take(kept)))


def test_with_an_event_is_a_run_whose_index_had_it(run: Run):
    facts = run.graph.train
    new = Facts(*(column[:1] for column in (facts.object, facts.predicate, facts.subject, facts.start, facts.start)))
    named = labels(new, 0, run.graph)
    assert named not in set(run.graph.rows("train"))
    wanted = built_afresh(run, concatenate([facts, new]))
    assert_same_answers(run.what_if(with_=[named]).predictor, wanted)
    with pytest.raises(QuestionError, match="has happened already"):
        run.what_if(with_=[labels(facts, 0, run.graph)])


def test_without_a_predicate_none_of_its_events_is_there_in_either_direction(run: Run):
    name = run.graph.predicates.name(0)
    left = run.graph.train.take(run.graph.train.predicate != 0)
    assert_same_answers(run.what_if(without=[name]).predictor, built_afresh(run, left))


def test_without_a_rule_its_own_weights_are_out_and_the_others_stay(run: Run):
    slots = facts_in(run.graph)[0]
    before = run.explain(**slots)
    of_rules = [
        one for one in before.reasons if one.rule and one.family == "pair" and any(part.rule for part in one.parts)
    ]
    for gone in of_rules[:2]:
        after = {one.key: one for one in run.what_if(without=[gone.rule]).explain(**slots).reasons}
        # a contribution of the other sign is split over other reasons
        left = [one for one in before.reasons if one.parts and one.key in after]
        assert {"pair", "object"} & {one.family for one in left}
        for one in left:
            rules = [0.0 if one.key == gone.key else part.rule for part in one.parts]
            assert sorted(part.rule for part in after[one.key].parts) == sorted(rules)
            assert [part.predicate for part in one.parts] == [part.predicate for part in after[one.key].parts]


def test_past_only_leaves_the_events_before_the_time_asked_about(run: Run):
    what_if = run.what_if(past_only=True)
    for names in list(run.graph.rows("test"))[:6]:
        if len(names) == 5:
            continue
        subject, predicate, object_, time = names
        explanation = what_if.explain(subject=subject, predicate=predicate, object=object_, time=time)
        assert all(event.time < time for reason in explanation.reasons for event in reason.events)
        earlier = sum(row[3] < time for row in run.graph.rows("train"))
        said = what_if.evidence(Question(subject=subject, predicate=predicate, time=time))
        assert said == (f"only events before {time}: {earlier:,} of {len(run.graph.train):,}",)


def test_the_run_stays_as_it_is_and_what_changed_is_told(run: Run):
    def state() -> dict[str, str]:
        return {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in run.path.iterdir() if path.is_file()
        }

    subject, predicate, _, time, *_ = next(row for row in run.graph.rows("train") if row[3])
    question = Question(subject=subject, predicate=predicate, time=time)
    files, answers = state(), run.predict_many([question], top=5)[0]
    what_if = run.what_if(without=[predicate])
    changes = what_if.changes(question, top=3)
    now = what_if.predict(subject=subject, predicate=predicate, time=time, top=100)
    ranks = {answer.name: answer.rank for answer in run.predict_many([question], top=100)[0]}
    assert [change.name for change in changes.changes][:3] == [answer.name for answer in now[:3]]
    for change in changes.changes:
        assert change.rank_before == ranks[change.name]
        assert change.rank == next(answer.rank for answer in now if answer.name == change.name)
    assert (state(), run.predict_many([question], top=5)[0]) == (files, answers)
