"""The features of facts without a time, against plain loops over sets."""

from itertools import product

import numpy as np
import pytest

from foretime.data.facts import UNKNOWN, Facts, inverse
from foretime.evidence.background import background_of
from foretime.evidence.events import event_lists
from foretime.evidence.families import Reach
from foretime.evidence.vocabulary import rule_vocabulary
from foretime.reranker.features.background import background_all
from foretime.reranker.features.words import BACKGROUND_FEATURES, TOPICS, in_words, topic_of

ENTITIES, PREDICATES, STEPS = 8, 2, 6
AT = {name: place for place, name in enumerate(BACKGROUND_FEATURES)}
Row = tuple[int, int, int, int]


def drawn(draw: np.random.Generator, count: int, timeless: bool) -> Facts:
    ends, middle = draw.integers(ENTITIES, size=(2, count)), draw.integers(PREDICATES, size=count)
    time = np.full(count, UNKNOWN) if timeless else draw.integers(STEPS, size=count)
    return Facts(ends[0], middle, ends[1], time, time)


def rows_of(facts: Facts) -> set[Row]:
    return set(zip(*(c.tolist() for c in facts.with_inverses(PREDICATES).columns()[:4]), strict=True))


def co_neighbours(background: set[Row], events: set[Row], asked: tuple[int, int, int], past_only: bool) -> np.ndarray:
    """What co-neighbours have under the predicate: a sum over all paths with a fact without a time in them."""
    x, p, t = asked
    seen = {row for row in events if not past_only or row[3] < t}
    own = {row for row in seen if row[3] == t and (row[:2] == (x, p) or row[1:3] == (inverse(p, PREDICATES), x))}
    known = {row[:3] for row in background}
    visible = {row[:3] for row in seen - own}

    def size(z: int) -> int:
        return sum(len({s[2] for s in rows if s[0] == z} - {x}) for rows in (known, seen))

    def steps(subject: int, predicate: int) -> list[tuple[int, bool]]:
        return [(o, timeless) for rows, timeless in ((known, True), (visible, False)) for s, q, o in rows
                if (s, q) == (subject, predicate)]  # fmt: skip

    sums = np.zeros((ENTITIES, 2))
    for relation in range(2 * PREDICATES):
        for neighbour, first in steps(x, relation):
            if neighbour == x:
                continue
            for z, second in steps(neighbour, inverse(relation, PREDICATES)):
                if z == x:
                    continue
                for y, third in steps(z, p):
                    if y not in (x, neighbour) and (first or second or third):
                        sums[y] += np.array([1, relation == p]) / np.sqrt(size(neighbour) * max(size(z), 1))
    return sums


@pytest.mark.parametrize(("seed", "past_only"), list(product(range(4), (False, True))))
def test_every_feature_is_what_plain_loops_say(seed: int, past_only: bool) -> None:
    draw = np.random.default_rng(seed)
    events, background = drawn(draw, 16, False), drawn(draw, 10, True)
    lists = event_lists(events, ENTITIES, PREDICATES, STEPS)
    found = background_of(background, lists, 1)
    assert found is not None
    asked = [(int(x), int(p), int(t)) for x, p, t in zip(events.subject, events.predicate, events.start, strict=True)]
    columns = [np.array(column) for column in zip(*asked, strict=True)]
    first, objects = np.arange(len(asked) + 1) * ENTITIES, np.tile(np.arange(ENTITIES), len(asked))
    out = np.zeros((len(objects), len(BACKGROUND_FEATURES)), dtype=np.float32)
    reach = Reach(past_only, 90, 7, 1, 200, *[True] * 5)
    background_all(found.lists, lists, rule_vocabulary(lists, 1, None, 0), reach, *columns, first, objects, out, 2)
    known = {row[:3] for row in rows_of(background)}
    for number, (x, p, t) in enumerate(asked):
        sums = co_neighbours(rows_of(background), rows_of(events), (x, p, t), past_only)
        for y in range(ENTITIES):
            features = out[number * ENTITIES + y]
            assert features[AT["background_same"]] == ((x, p, y) in known)
            assert features[AT["background_facts"]] == sum((x, q, y) in known for q in range(2 * PREDICATES))
            assert features[AT["background_partners"]] == len({o for s, _, o in known if s == y})
            assert features[AT["background_subject_facts"]] == sum(row[:2] == (x, p) for row in known)
            assert features[AT["background_shared"]] == pytest.approx(sums[y, 0], abs=1e-5)
            assert features[AT["background_shared_same"]] == pytest.approx(sums[y, 1], abs=1e-5)


def test_every_feature_has_its_words_and_its_topic() -> None:
    for feature in BACKGROUND_FEATURES:
        assert not in_words(feature).startswith("the term"), feature
        assert topic_of(feature) == "background", feature
    assert "background" in TOPICS
