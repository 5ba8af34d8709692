"""Facts without a time as evidence: against plain sets, and that no event knows of them."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numba import njit

from foretime.data.facts import UNKNOWN, Facts, empty_facts, inverse
from foretime.evidence.background import background_of
from foretime.evidence.background_walk import forget, make_found, search
from foretime.evidence.events import event_lists
from foretime.evidence.families import Reach
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.reasons import ReasonFinder
from foretime.evidence.vocabulary import rule_vocabulary

ENTITIES, PREDICATES, STEPS = 9, 2, 8
EVERY = 2 * PREDICATES


def drawn(draw: np.random.Generator, count: int, timeless: bool) -> Facts:
    ends, middle = draw.integers(ENTITIES, size=(2, count)), draw.integers(PREDICATES, size=count)
    time = np.full(count, UNKNOWN) if timeless else draw.integers(STEPS, size=count)
    return Facts(ends[0], middle, ends[1], time, time)


def index_on(events: Facts, background: Facts, past_only: bool = False) -> EvidenceIndex:
    lists = event_lists(events, ENTITIES, PREDICATES, STEPS)
    reach = Reach(past_only, 90, 7, 1, 200, *[True] * 5)
    vocabulary = rule_vocabulary(lists, 1, None, 0)
    return EvidenceIndex(ENTITIES, lists, vocabulary, reach, background_of(background, lists, 1))


@njit
def found_of(lists, events, rules, reach, x, p, t):  # type: ignore[no-untyped-def]
    """Search twice in one working memory: nothing of the first search is left in it."""
    found = make_found(len(lists.node) - 1)
    forget(found, search(lists, events, rules, reach, x, p, t, found))
    search(lists, events, rules, reach, x, p, t, found)
    return found


def triples(facts: Facts) -> set[tuple[int, int, int]]:
    both = facts.with_inverses(PREDICATES)
    return set(zip(both.subject.tolist(), both.predicate.tolist(), both.object.tolist(), strict=True))


def weights_of(index: EvidenceIndex, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=index.weights).astype(np.float32)


def questions(seed: int = 1, count: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.integers(ENTITIES, size=count), draw.integers(EVERY, size=count), draw.integers(STEPS, size=count)


@pytest.mark.parametrize(("seed", "past_only"), list(product(range(4), (False, True))))
def test_what_is_found_is_what_plain_sets_say(seed: int, past_only: bool) -> None:
    draw = np.random.default_rng(seed)
    events, background = drawn(draw, 30, False), drawn(draw, 12, True)
    index, known = index_on(events, background, past_only), triples(background)
    dated = events.with_inverses(PREDICATES)
    rows = list(zip(*(column.tolist() for column in dated.columns()[:4]), strict=True))
    assert index.background is not None
    for x, p, t in zip(*(column.tolist() for column in questions(seed)), strict=True):

        def seen(row: tuple[int, ...], x: int = x, p: int = p, t: int = t) -> bool:
            s, q, o, when = row
            own = when == t and ((s, q) == (x, p) or (o, inverse(q, PREDICATES)) == (x, p))
            return not own and (not past_only or when < t)

        met = {(s, o) for s, q, o, when in rows if seen((s, q, o, when))}
        known_pairs = {(s, o) for s, _, o in known}
        found = found_of(index.background.lists, index.events, index.rules, index.reach, x, p, t)
        for y in range(ENTITIES):
            assert found.same[y] == ((x, p, y) in known), "the fact asked about, without a time"
            assert found.inverse[y] == ((x, inverse(p, PREDICATES), y) in known)
            assert found.facts[y] == sum((x, q, y) in known for q in range(EVERY))
            others = sum((z, p, y) in known for z in range(ENTITIES) if z != x)
            assert found.others[y] == (others if y != x else 0), "who else has it under the predicate"
            common = {
                z
                for z in range(ENTITIES)
                if len({x, y, z}) == 3
                and (x, z) in met | known_pairs
                and (z, y) in met | known_pairs
                and not ((x, z) in met and (z, y) in met)
            }
            assert found.common[y] == len(common), "neighbours that events alone do not connect"


@pytest.mark.parametrize("past_only", [False, True])
def test_scores_gradients_and_single_candidates_agree(past_only: bool) -> None:
    draw = np.random.default_rng(3)
    index = index_on(drawn(draw, 40, False), drawn(draw, 15, True), past_only)
    weights, asked = weights_of(index), questions()
    scores = index.score(weights, *asked)
    parts = [own.score(weights, *asked) for own in index.by_family().values()]
    assert list(index.by_family())[-1] == "background", "it is a family like others"
    assert np.allclose(np.sum(parts, axis=0), scores, atol=1e-5), "the families add up to the evidence"
    weight = draw.normal(size=scores.shape).astype(np.float32)
    gradient = index.gradient(weight.copy(), *asked)
    assert np.isclose((gradient * weights).sum(), (weight * scores).sum(), rtol=1e-4), "evidence is linear in weights"
    objects = draw.integers(ENTITIES, size=len(asked[0]))
    single = index.score_one(weights, asked[0], asked[1], objects, asked[2])
    assert np.allclose(single, scores[np.arange(len(objects)), objects], atol=1e-5)


@pytest.mark.parametrize("past_only", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_softmax_of_those_touched_is_that_of_all_entities(past_only: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    index = index_on(drawn(draw, 40, False), drawn(draw, 15, True), past_only)
    weights, asked = weights_of(index), questions()
    row = np.sort(draw.integers(0, len(asked[0]), 30))
    answers = draw.integers(0, ENTITIES, len(row))
    loss, gradient = index.softmax(weights, *asked, row, answers)
    scores = index.score(weights, *asked).astype(np.float64)
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    assert loss == pytest.approx(-np.log(shares[row, answers]).mean())
    wanted = shares * np.bincount(row, minlength=len(scores))[:, None]
    np.subtract.at(wanted, (row, answers), 1.0)
    assert np.allclose(gradient, index.gradient((wanted / len(row)).astype(np.float32), *asked), atol=1e-6)


def test_the_reasons_of_a_candidate_add_up_to_its_evidence() -> None:
    draw = np.random.default_rng(4)
    index = index_on(drawn(draw, 40, False), drawn(draw, 15, True))
    weights, (subject, predicate, time) = weights_of(index), questions()
    finder, scores = ReasonFinder(index, weights), index.score(weights, *questions())
    named = 0
    for row, (x, p, t) in enumerate(zip(subject.tolist(), predicate.tolist(), time.tolist(), strict=True)):
        for y in range(ENTITIES):
            reasons = finder.find_at(x, p, y, t)
            assert sum(reason.contribution for reason in reasons) == pytest.approx(scores[row, y], abs=1e-4)
            own = [reason for reason in reasons if reason.family == "background"]
            assert not any(reason.events for reason in own), "a fact without a time is no event"
            named += sum(len(reason.facts) for reason in own)
    assert named > 0, "the facts behind a reason are named"


def test_no_event_counts_a_fact_without_a_time() -> None:
    draw = np.random.default_rng(5)
    events, asked = drawn(draw, 40, False), questions()
    plain = index_on(events, empty_facts())
    weights = weights_of(plain)
    assert plain.background is None
    assert "background" not in plain.by_family()
    for seed in range(3):
        other = index_on(events, drawn(np.random.default_rng(seed), 20, True))
        more = np.concatenate([weights, np.zeros(other.weights - plain.weights, dtype=np.float32)])
        families = other.by_family()
        for family, own in plain.by_family().items():
            assert np.array_equal(own.score(weights, *asked), families[family].score(more, *asked)), family
        assert other.event_weights == plain.weights, "the weights of events stay where they are"


def test_a_question_never_sees_its_own_fact_by_way_of_the_background() -> None:
    draw = np.random.default_rng(6)
    events, background = drawn(draw, 40, False), drawn(draw, 15, True)
    for row in range(len(events)):
        x, p, _, t, _ = (int(column[row]) for column in events.columns())
        kept = events.take(~((events.subject == x) & (events.predicate == p) & (events.start == t)))
        index = index_on(events, background).by_family()["background"]
        without = replace(index, events=event_lists(kept, ENTITIES, PREDICATES, STEPS))
        weights, asked = weights_of(index), tuple(np.array([one]) for one in (x, p, t))
        assert np.array_equal(index.score(weights, *asked), without.score(weights, *asked)), (x, p, t)
