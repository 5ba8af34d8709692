"""What is sorted once and filtered is what is sorted anew without the filtered facts, to the last bit."""

import numpy as np
from evidence_graphs import ENTITIES, NAMES, PREDICATES, few, graphs, steps_of, table
from evidence_oracle import Fact
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.vocabulary import Vocabulary
from foretime.evaluation.filters import AnswerIndex
from foretime.evidence.events import SortedEvents, event_lists
from foretime.reranker.features.intervals import SortedSpans, span_index
from foretime.reranker.features.names import name_words, without_facts


def assert_same(found: tuple, wanted: tuple) -> None:
    for name, one, other in zip(wanted._fields, found, wanted, strict=True):
        assert np.array_equal(one, other), name
        assert np.asarray(one).dtype == np.asarray(other).dtype, name


@few
@given(graph=graphs(), seed=st.integers(0, 2**32 - 1))
def test_lists_without_some_facts_are_those_of_the_other_facts(graph: tuple[tuple[int, ...], list[Fact]], seed: int):
    timeline, rows = graph
    facts, sizes = table(rows), (ENTITIES, PREDICATES)
    kept = np.random.default_rng(seed).random(len(rows)) < 0.6
    left = facts.take(kept)
    assert_same(
        SortedEvents(facts, *sizes, steps_of(timeline)).lists(kept), event_lists(left, *sizes, steps_of(timeline))
    )
    assert_same(SortedSpans(facts, *sizes).index(kept), span_index(left, *sizes))
    names = Vocabulary("entity", NAMES)
    whole = name_words(names, facts, PREDICATES)
    assert_same(without_facts(whole, facts.take(~kept)), name_words(names, left, PREDICATES))
    for filter_name in ("exact", "valid-at"):
        fewer = AnswerIndex(facts, filter_name).keep(kept)
        again = fewer.keep(np.ones(len(left), dtype=bool))
        for index in (fewer, again):
            for one, other in zip(index.answers(facts), AnswerIndex(left, filter_name).answers(facts), strict=True):
                assert np.array_equal(one, other)


@few
@given(graph=graphs(), seed=st.integers(0, 2**32 - 1))
def test_lists_that_have_grown_are_those_of_all_facts(graph: tuple[tuple[int, ...], list[Fact]], seed: int):
    timeline, rows = graph
    draw = np.random.default_rng(seed)
    cuts = np.sort(draw.integers(0, len(rows) + 1, size=2)).tolist()
    parts = [table(rows[begin:end]) for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    steps = steps_of(timeline)
    sizes = [(ENTITIES + more, PREDICATES + more, steps + more) for more in (0, 0, 2)]
    grown = SortedEvents(parts[0], *sizes[0])
    for part, size in zip(parts[1:], sizes[1:], strict=True):
        grown = grown.grown(part, *size)
    assert_same(grown.lists(), event_lists(table(rows), *sizes[-1]))
    kept = draw.random(len(rows)) < 0.6
    assert_same(grown.lists(kept), event_lists(table(rows).take(kept), *sizes[-1]))
