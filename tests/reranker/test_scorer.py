"""Base model and re-ranker as one scorer, against the base model and plain loops; and kinds of questions."""

import numpy as np
import pytest
import torch
from reranked_runs import Reranked

from foretime.data.facts import UNKNOWN, Facts, inverse
from foretime.data.graph import Graph
from foretime.evaluation import evaluate
from foretime.evaluation.filters import AnswerIndex, questions_of
from foretime.evaluation.groups import KINDS, kinds_of
from foretime.evaluation.ranks import score_questions
from foretime.reranker.features.extractor import shortlist_of
from foretime.reranker.scorer import RerankedModel
from foretime.runs.loading import load_scorer


@pytest.fixture(scope="module")
def model(reranked: dict[str, Reranked]) -> RerankedModel:
    run = reranked["fold"].run
    scorer = load_scorer(run, run.config(), run.graph())
    assert scorer.reranked is not None
    return scorer.reranked


@torch.inference_mode()
def test_the_shortlist_comes_before_all_others_and_they_keep_their_order(model: RerankedModel, small_graph: Graph):
    # questions of train have known answers, and of valid mostly none
    predicates = len(small_graph.predicates)
    for split in ("train", "valid"):
        questions = questions_of(small_graph.facts(split).take(slice(60)), predicates)
        base, both = score_questions(model.model, questions), model.score(questions)
        shortlist = shortlist_of(base, questions, model.known, model.reranker.top)
        for row in range(len(questions)):
            listed = shortlist.object[shortlist.first[row] : shortlist.first[row + 1]]
            behind = np.setdiff1d(np.arange(len(small_graph.entities)), listed)
            assert len(behind) > 2
            assert both[row, listed].min() > both[row, behind].max()
            gaps = (base[row, behind][:, None] - base[row, behind]).numpy()
            kept = (both[row, behind][:, None] - both[row, behind]).numpy()
            np.testing.assert_allclose(kept, gaps, atol=1e-4)


@torch.inference_mode()
def test_a_known_answer_that_the_base_model_puts_last_does_not_make_the_others_equal(
    model: RerankedModel, small_graph: Graph
):
    question = questions_of(small_graph.valid.take(np.array([0])), len(small_graph.predicates)).take(slice(1))
    base = score_questions(model.model, question)[0]
    last = int(base.argmin())
    known = Facts(question.subject, question.predicate, np.array([last]), question.start, question.end)
    scores = RerankedModel(model.model, model.reranker, model.extractor, AnswerIndex(known)).score(question)[0]
    behind = base.argsort(descending=True)[model.reranker.top : -1]
    assert bool((scores[behind].diff() < 0).all())


@torch.inference_mode()
def test_a_candidate_has_the_features_that_rank_it(model: RerankedModel, small_graph: Graph):
    questions = questions_of(small_graph.train.take(slice(4)), len(small_graph.predicates))
    for row in range(len(questions)):
        question = questions.take(slice(row, row + 1))
        base, both = score_questions(model.model, question)[0], model.score(question)[0]
        known = set(model.known.answers(question).answer.tolist())
        best = [o for o in base.argsort(descending=True).tolist() if o not in known][: model.reranker.top]
        for candidate in range(len(small_graph.entities)):
            found = model.extract(question, candidate)
            assert (found is not None) == (candidate in known or candidate in best)
            if found is not None:
                assert found.place == (best.index(candidate) + 1 if candidate in best else None)
                assert model.reranker.trees.score(found.values)[0] == pytest.approx(float(both[candidate]), abs=1e-5)


@torch.inference_mode()
def test_ranking_is_that_of_a_plain_loop(model: RerankedModel, small_graph: Graph):
    questions = questions_of(small_graph.valid, len(small_graph.predicates))
    facts = small_graph.facts().with_inverses(len(small_graph.predicates))
    known = set(zip(*(column.tolist() for column in facts.columns()), strict=True))
    assert len(questions) <= 256  # all in one batch, there and here
    ranks = []
    for (s, p, o, start, end), scores in zip(
        zip(*(column.tolist() for column in questions.columns()), strict=True),
        model.score(questions).tolist(),
        strict=True,
    ):
        competitors = [score for y, score in enumerate(scores) if y != o and (s, p, y, start, end) not in known]
        ranks.append(1 + sum(r > scores[o] for r in competitors) + sum(r == scores[o] for r in competitors) / 2)
    report = evaluate(model.score, small_graph, "valid")
    assert report.all.mrr == pytest.approx(np.mean([1 / rank for rank in ranks]), abs=1e-12)
    assert report.all["hits@1"] == np.mean([rank <= 1 for rank in ranks])
    assert sum(kind.questions for kind in report.kinds.values()) == len(questions)


def test_the_kind_of_a_question_is_how_near_the_pair_has_met_in_train(small_graph: Graph):
    predicates = len(small_graph.predicates)
    events = small_graph.train.events()
    met: dict[frozenset[int], list[int]] = {}
    for s, o, t in zip(events.subject.tolist(), events.object.tolist(), events.time.tolist(), strict=True):
        met.setdefault(frozenset((s, o)), []).append(t)
    draw = np.random.default_rng(0)
    s, o, start, end = (draw.integers(size, size=400) for size in (12, 12, 300, 300))
    start, end = (np.where(draw.random(400) < 0.2, UNKNOWN, start), end)
    known = small_graph.valid.with_inverses(predicates)
    asked = Facts(s, inverse(draw.integers(predicates, size=400), predicates), o, start, end)
    steps = set()
    for questions in (known, asked):
        found = kinds_of(questions, small_graph)
        for row, kind in enumerate(found.tolist()):
            pair = frozenset((int(questions.subject[row]), int(questions.object[row])))
            ends = [int(t) for t in (questions.start[row], questions.end[row]) if t != UNKNOWN]
            distance = min((abs(t - e) for t in met.get(pair, []) for e in ends), default=None)
            limits = [0, 1, 7, 30]
            wanted = 5 if distance is None else sum(distance > limit for limit in limits)
            assert (KINDS[kind], distance) == (KINDS[wanted], distance)
            steps.add(kind)
    assert len(steps) >= 5
