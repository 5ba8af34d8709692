"""The shortlist and the examples against plain loops, and the features of a fact without the fact itself."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reranked_runs import interval_graph

from foretime.config import EvidenceConfig, ModelConfig
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph
from foretime.evaluation.filters import AnswerIndex
from foretime.evidence.events import event_lists
from foretime.evidence.families import FAMILY_NAMES
from foretime.evidence.index import build_index
from foretime.evidence.module import WithEvidence
from foretime.models import build_model
from foretime.reranker.features import intervals as spans
from foretime.reranker.features.extractor import (
    FeatureExtractor,
    Shortlist,
    score_each_term,
    shortlist_of,
    term_features,
)
from foretime.reranker.features.names import name_words
from foretime.reranker.features.words import (
    BACKGROUND_FEATURES,
    FAR,
    PROFILE_FEATURES,
    RATE_FEATURES,
    WORDS,
    in_words,
    value_in_words,
)
from foretime.reranker.trees import examples_of, unknown_only
from foretime.training.trainer import sizes_of


def facts_of(*rows: tuple[int, int, int, int]) -> Facts:
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    return Facts(*columns, columns[-1])


def lists(shortlist: Shortlist) -> list[tuple[list[int], list[int]]]:
    """The ranked and the known candidates of each question."""
    found = []
    for k, ranked in enumerate(shortlist.ranked):
        objects = shortlist.object[shortlist.first[k] : shortlist.first[k + 1]].tolist()
        found.append((objects[:ranked], objects[ranked:]))
    return found


def test_known_answers_stand_behind_the_best_of_the_others():
    scores = torch.tensor([[5.0, 4.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
    known = AnswerIndex(facts_of((0, 0, 0, 7), (0, 0, 2, 7), (0, 0, 1, 8)))
    questions = facts_of((0, 0, 9, 7), (1, 0, 9, 7))
    shortlist = shortlist_of(scores, questions, known, 2)
    assert lists(shortlist) == [([1, 3], [0, 2]), ([3, 2], [])]
    assert shortlist.question.tolist() == [0, 0, 0, 0, 1, 1]
    assert shortlist.place.tolist() == [0, 1, 2, 3, 0, 1]
    assert shortlist.is_ranked.tolist() == [True, True, False, False, True, True]
    assert lists(unknown_only(shortlist)) == [([1, 3], []), ([3, 2], [])]
    assert scores[0, 0] == 5.0


def test_a_shortlist_longer_than_all_entities_has_them_all():
    questions = facts_of((0, 0, 9, 7))
    known = AnswerIndex(facts_of((0, 0, 1, 7)))
    assert lists(shortlist_of(torch.tensor([[1.0, 9.0, 3.0]]), questions, known, 100)) == [([2, 0], [1])]


def test_a_question_whose_answers_are_all_known_has_no_one_on_its_shortlist():
    questions = facts_of((0, 0, 9, 7), (1, 0, 9, 7))
    known = AnswerIndex(facts_of((0, 0, 1, 7), (0, 0, 0, 7)))
    shortlist = shortlist_of(torch.tensor([[1.0, 9.0], [1.0, 2.0]]), questions, known, 5)
    assert lists(shortlist) == [([], [0, 1]), ([1, 0], [])]
    assert lists(unknown_only(shortlist)) == [([], []), ([1, 0], [])]


@given(st.data())
def test_every_shortlist_is_that_of_a_plain_loop(data):
    entities, top = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 8))
    asked = data.draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=5))
    fact = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, entities - 1), st.just(3))
    facts = data.draw(st.lists(fact, min_size=1, max_size=8))
    order = [data.draw(st.permutations(range(entities))) for _ in asked]
    shortlist = shortlist_of(
        torch.tensor(order, dtype=torch.float32),
        facts_of(*((s, p, 0, 3) for s, p in asked)),
        AnswerIndex(facts_of(*facts)),
        top,
    )
    for (s, p), scores, found in zip(asked, order, lists(shortlist), strict=True):
        known = sorted({o for s2, p2, o, _ in facts if (s2, p2) == (s, p)})
        others = sorted(set(range(entities)) - set(known), key=lambda o: -scores[o])
        assert found == (others[:top], known)


def test_terms_are_compared_with_the_best_of_the_shortlist():
    terms = {"event": torch.tensor([[1.0, 5.0, 2.0]]), "other": torch.tensor([[0.5, -1.0, 0.0]])}
    shortlist = Shortlist(np.array([0, 3]), np.array([2, 0, 1]), np.array([2]))  # 1 is known
    names, values = term_features(terms, shortlist)
    found = {name: values[:, place].tolist() for place, name in enumerate(names)}
    total = torch.tensor([1.5, 4.0, 2.0])
    assert found.pop("log_probability") == pytest.approx(torch.log_softmax(total, 0)[[2, 0, 1]].tolist())
    assert found == {
        "score": [2.0, 1.5, 4.0],
        "score below the best": [0.0, 0.5, -2.0],
        "event": [2.0, 1.0, 5.0],
        "event below the best": [0.0, 1.0, -3.0],
        "other": [0.0, 0.5, -1.0],
        "other below the best": [0.5, 0.0, 1.5],
        "position": [0.0, 1.0, 2.0],
    }


def test_every_feature_has_words():
    families = (*FAMILY_NAMES, "background")
    fixed = {"log_probability", "score", "position", *(f"evidence_{name}" for name in families)}
    every = [*PROFILE_FEATURES, *BACKGROUND_FEATURES, *RATE_FEATURES, *spans.INTERVAL_FEATURES]
    assert set(WORDS) == {*every, *fixed}
    assert len(set(WORDS.values())) == len(WORDS)
    assert in_words("pair_nearest at the end") == "steps to the nearest event between the two, at the end"
    assert value_in_words("pair_nearest at the end", FAR) == "none"
    assert (value_in_words("events", FAR), value_in_words("pair_nearest", 3.0)) == ("about 10,000", "3")
    far = {name for name in every if name.endswith(("_before", "_after", "_nearest", "_pause", "_since"))}
    assert far == {name for name in every if in_words(name).startswith("steps ")}
    assert in_words("commonsense below the best") == "the term commonsense, below the best"


def random_model(graph: Graph, config: EvidenceConfig) -> WithEvidence:
    draw = torch.Generator().manual_seed(2)
    base = build_model(ModelConfig(name="lcge", rank=4, init_scale=0.8), sizes_of(graph), draw)
    model = WithEvidence(base, build_index(graph, config))
    with torch.no_grad():
        model.evidence.weights.normal_(generator=draw)
    return model.eval()


def test_examples_are_the_true_and_false_candidates_of_each_question(small_graph: Graph, tmp_path: Path):
    config, predicates, top = EvidenceConfig(), len(small_graph.predicates), 6
    model = random_model(small_graph, config)
    extractor = FeatureExtractor.of(small_graph, model, config)
    # the same question twice, with two answers: it is one question
    twin = replace(small_graph.train, object=(small_graph.train.object + 1) % len(small_graph.entities))
    facts = concatenate([small_graph.train.take(slice(40)), twin.take(slice(9))]).with_inverses(predicates)
    known = AnswerIndex(small_graph.train.take(slice(40, None)).with_inverses(predicates))
    examples = examples_of(model, extractor, facts, known, top, tmp_path)

    answers = defaultdict(set)
    for s, p, o, start, end in zip(*(column.tolist() for column in facts.columns()), strict=True):
        answers[s, p, start, end].add(o)
    wanted, left_out = [], 0
    for s, p, start, end in sorted(answers):
        question = Facts(*(np.array([value]) for value in (s, p, 0, start, end)))
        with torch.inference_mode():
            scores = torch.stack(list(score_each_term(model, question).values())).sum(0)[0].tolist()
        seen = set(known.answers(question).answer.tolist())
        best = sorted(set(range(len(scores))) - seen, key=lambda o: -scores[o])[:top]
        right = [int(o in answers[s, p, start, end]) for o in best]
        wanted += [right] if any(right) else []
        left_out += not any(right)
    assert left_out > 0
    assert any(sum(right) == 2 for right in wanted)
    assert examples.sizes.tolist() == [len(right) for right in wanted]
    assert examples.right.tolist() == [one for right in wanted for one in right]
    assert examples.features.shape == (sum(map(len, wanted)), len(examples.names))


@pytest.mark.parametrize("past_only", [False, True])
@pytest.mark.parametrize("intervals", [False, True])
def test_no_fact_changes_its_own_features(small_graph: Graph, tmp_path: Path, intervals: bool, past_only: bool):
    graph = interval_graph(tmp_path / "offices.tsv") if intervals else small_graph
    config = EvidenceConfig(past_only=past_only)
    model, other_model = random_model(graph, config), random_model(graph, config)
    extractor, predicates, moved = FeatureExtractor.of(graph, model, config), len(graph.predicates), 0
    for row in range(0, len(graph.train), 13):
        rest = graph.train.take(np.arange(len(graph.train)) != row)
        index = event_lists(rest, len(graph.entities), predicates, len(graph.timeline))
        other_model.evidence.index = replace(model.evidence.index, events=index)
        names = name_words(graph.entities, rest, predicates)
        without = replace(extractor, index=other_model.evidence.index, names=names)
        known = AnswerIndex(rest.with_inverses(predicates))
        questions = graph.train.take(np.array([row])).with_inverses(predicates)
        later = replace(questions, start=np.minimum(questions.start + 1, len(graph.timeline) - 1))
        for asked in (questions, later):
            found = [features_of(model, extractor, asked, known), features_of(other_model, without, asked, known)]
            if asked is questions:
                np.testing.assert_array_equal(found[0], found[1])
            else:
                moved += not np.array_equal(found[0], found[1])
    assert moved > 0  # to other questions the fact matters


@torch.inference_mode()
def features_of(model: WithEvidence, extractor: FeatureExtractor, questions: Facts, known: AnswerIndex) -> np.ndarray:
    terms = score_each_term(model, questions)
    shortlist = unknown_only(shortlist_of(torch.stack(list(terms.values())).sum(0), questions, known, 6))
    names, features = extractor.extract(terms, questions, shortlist)
    assert features.shape == (len(shortlist.object), len(names))
    return np.hstack([shortlist.object[:, None], features])
