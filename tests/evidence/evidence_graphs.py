"""Random small graphs with everything that goes wrong, and the code under test asked about them."""

from dataclasses import replace
from itertools import product

import numpy as np
from evidence_oracle import Fact, PathRule, Question, Rules, ends_of, rules_of
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from foretime.data.facts import UNKNOWN, Facts, inverse
from foretime.data.vocabulary import Vocabulary
from foretime.evidence.events import event_lists
from foretime.evidence.families import FAMILY_NAMES, Reach
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.vocabulary import rule_vocabulary
from foretime.reranker.features.names import name_words
from foretime.reranker.features.profile import profile_all
from foretime.reranker.features.words import PROFILE_FEATURES
from foretime.rules.rule import RuleIds
from foretime.rules.table import Rules as RuleTable

Floats = NDArray[np.float32]
ENTITIES, PREDICATES = 6, 3
DENSE = tuple(range(12))
SPARSE = (0, 1, 2, 4, 7, 11, 18, 33, 34, 70, 110, 205)
"""Twelve steps each: all in a row, or so far apart that every bucket of a distance is met."""
NAMES = ("Police (India)", "Citizen (India)", "Police – France", "France", "—", "police police")
"""A word may come twice in a name, and a name may have none."""

ALL_PATHS: list[PathRule] = list(product(range(2 * PREDICATES), repeat=3))  # type: ignore[arg-type]

entity = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 5])  # the first ones are hubs
predicate = st.sampled_from([0, 0, 1, 2])
any_predicate = st.integers(0, 2 * PREDICATES - 1)
timelines = st.sampled_from([DENSE, SPARSE])
some_paths = st.lists(st.tuples(any_predicate, any_predicate, any_predicate), max_size=30)
path_rules = st.one_of(some_paths, st.just(ALL_PATHS))
reaches = st.builds(
    Reach,
    past_only=st.booleans(),
    object_window=st.sampled_from([0, 1, 3, 90, 300]),
    active_window=st.sampled_from([0, 1, 7, 300]),
    path_window=st.sampled_from([0, 1, 3, 7, 300]),
    path_events=st.sampled_from([1, 2, 5, 200]),
    **dict.fromkeys(FAMILY_NAMES, st.just(True)),
)
EVERYTHING = Reach(False, 90, 7, 7, 200, *[True] * len(FAMILY_NAMES))
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def spans(steps: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, int]]:
    """Draw the ends of a fact: one step, an interval (backwards too), or one with an end that is not known."""
    return st.one_of(
        steps.map(lambda t: (t, t)),
        st.tuples(steps, steps),
        steps.map(lambda t: (t, UNKNOWN)),
        steps.map(lambda t: (UNKNOWN, t)),
    )


def facts_at(steps: st.SearchStrategy[int], at_most: int = 25) -> st.SearchStrategy[list[Fact]]:
    fact = st.tuples(entity, predicate, entity, spans(steps)).map(lambda f: (f[0], f[1], f[2], *f[3]))
    return st.lists(fact, max_size=at_most)


def facts_on(timeline: tuple[int, ...]) -> st.SearchStrategy[list[Fact]]:
    return facts_at(st.sampled_from(timeline))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Fact]]:
    """Draw a timeline and facts on it."""
    timeline = draw(timelines)
    return timeline, draw(facts_on(timeline))


@st.composite
def own_facts(draw: st.DrawFn, question: Question, timeline: tuple[int, ...]) -> list[Fact]:
    """Draw facts that answer the question: anyone is the answer, at one step or at either end."""
    x, p, t = question
    other = st.one_of(st.sampled_from(timeline), st.just(UNKNOWN), st.just(t))
    drawn = draw(st.lists(st.tuples(st.integers(0, ENTITIES - 1), other, st.booleans()), min_size=1, max_size=3))
    found = []
    for y, twin, starts in drawn:
        ends = (t, twin) if starts else (twin, t)
        found.append((x, p, y, *ends) if p < PREDICATES else (y, inverse(p, PREDICATES), x, *ends))
    return found


def crowd(facts: int, timeline: tuple[int, ...], seed: int, entities: int = ENTITIES) -> list[Fact]:
    """Draw facts whose subjects are mostly a few hubs, a third of them intervals, some with themselves."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(facts):
        subject = int(random.integers(3)) if random.random() < 0.7 else int(random.integers(entities))
        start, end = (int(t) for t in random.choice(timeline, 2))
        ends = (start, end) if random.random() < 0.3 else (start, start)
        found.append((subject, int(random.integers(PREDICATES)), int(random.integers(entities)), *ends))
    return found


def steps_of(timeline: tuple[int, ...]) -> int:
    return timeline[-1] + 1


def moments(timeline: tuple[int, ...]) -> list[int]:
    """When questions are asked: at every step of the timeline, and beyond its end, where forecasting asks."""
    return [*timeline, steps_of(timeline), steps_of(timeline) + 40]


def all_questions(timeline: tuple[int, ...]) -> list[Question]:
    return [Question(x, p, t) for x in range(ENTITIES) for p in range(2 * PREDICATES) for t in moments(timeline)]


def table(facts: list[Fact]) -> Facts:
    columns = np.array(facts, dtype=np.int64).reshape(len(facts), 5).T
    return Facts(*(np.ascontiguousarray(column) for column in columns))


def rule_table(paths: list[PathRule]) -> RuleTable:
    return RuleTable.of([RuleIds("chain_then", "path", head, (first, second)) for head, first, second in paths])


def index_on(
    facts: list[Fact], timeline: tuple[int, ...], reach: Reach, paths: list[PathRule], support: int = 2
) -> EvidenceIndex:
    events = event_lists(table(facts), ENTITIES, PREDICATES, steps_of(timeline), fading=True)
    vocabulary = rule_vocabulary(events, support, rule_table(paths), 10_000)
    return EvidenceIndex(ENTITIES, events, vocabulary, reach)


def with_facts(index: EvidenceIndex, facts: list[Fact]) -> EvidenceIndex:
    """Return an index with the same rules and reach over other facts."""
    events = event_lists(table(facts), index.entities, index.events.predicates, index.events.steps, fading=True)
    return replace(index, events=events)


def rules_on(facts: list[Fact], paths: list[PathRule], support: int = 2) -> Rules:
    return rules_of(facts, paths, PREDICATES, support)


def whole_weights(index: EvidenceIndex, seed: int = 0) -> Floats:
    """Return random weights that are whole numbers: their sums are exact in any order."""
    return np.random.default_rng(seed).integers(-500, 500, index.weights).astype(np.float32)


def asked(questions: list[Question]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    x, p, t = (np.array([q[i] for q in questions], dtype=np.int64) for i in range(3))
    return x, p, t


def scores_by_family(index: EvidenceIndex, weights: Floats, questions: list[Question]) -> dict[str, Floats]:
    """Return the scores of every family alone, and of all together."""
    alone = {name: part.score(weights, *asked(questions)) for name, part in index.by_family().items()}
    return {**alone, "all": index.score(weights, *asked(questions))}


def profiles(
    facts: list[Fact],
    timeline: tuple[int, ...],
    past_only: bool,
    asking: list[tuple[Question, list[int]]],
    runs: int = 1,
) -> Floats:
    """Return the columns of the candidates of some questions, one after the other."""
    events = event_lists(table(facts), ENTITIES, PREDICATES, steps_of(timeline))
    names = name_words(Vocabulary("entity", NAMES), table(facts), PREDICATES)
    first = np.cumsum([0, *(len(candidates) for _, candidates in asking)])
    objects = np.array([y for _, candidates in asking for y in candidates], dtype=np.int64)
    out = np.full((len(objects), len(PROFILE_FEATURES)), np.nan, dtype=np.float32)
    profile_all(events, names, past_only, *asked([question for question, _ in asking]), first, objects, out, runs)
    return out


def is_after(fact: Fact, t: int) -> bool:
    """Whether all that is known of a fact lies at t or later."""
    return all(time >= t for time, _ in ends_of(fact[3], fact[4]))
