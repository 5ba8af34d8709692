"""The columns of intervals against plain loops, and without the fact itself and the future."""

import numpy as np
import pytest
from evidence_graphs import (
    DENSE,
    ENTITIES,
    PREDICATES,
    Floats,
    any_predicate,
    crowd,
    few,
    graphs,
    many,
    spans,
    table,
)
from evidence_oracle import Fact
from hypothesis import assume, given
from hypothesis import strategies as st
from span_oracle import FAR, Asked, columns_of, spans_of

from foretime.data.facts import UNKNOWN, inverse
from foretime.reranker.features.intervals import HUB, STEPS, span_all, span_index
from foretime.reranker.features.shared_neighbours import (
    SharedNeighbourPath,
    SpanFact,
    shared_neighbour_paths,
    steps_apart,
)
from foretime.reranker.features.words import INTERVAL_FEATURES

Graph = tuple[tuple[int, ...], list[Fact]]
EVERYONE = list(range(ENTITIES))


def described(
    facts: list[Fact], past_only: bool, asking: list[Asked], runs: int = 1, entities: int = ENTITIES, steps: int = STEPS
) -> Floats:
    """Return the columns of every entity as a candidate of each question, (questions, entities, columns)."""
    index = span_index(table(facts), entities, PREDICATES)
    first = entities * np.arange(len(asking) + 1)
    objects = np.tile(np.arange(entities), len(asking))
    out = np.zeros((len(objects), len(INTERVAL_FEATURES)), dtype=np.float32)
    columns = (np.array(column, dtype=np.int64) for column in zip(*asking, strict=True))
    span_all(index, past_only, steps, *columns, first, objects, out, runs)
    return out.reshape(len(asking), entities, len(INTERVAL_FEATURES))


def asked_on(timeline: tuple[int, ...]) -> st.SearchStrategy[Asked]:
    ends = spans(st.sampled_from(timeline))
    return st.builds(lambda x, p, ends: Asked(x, p, *ends), st.integers(0, ENTITIES - 1), any_predicate, ends)


def assert_columns(facts: list[Fact], past_only: bool, asking: list[Asked], runs: int) -> None:
    found = described(facts, past_only, asking, runs)
    for asked, rows in zip(asking, found, strict=True):
        seen = spans_of(facts, asked, past_only, PREDICATES)
        for y, row in enumerate(rows):
            expected = columns_of(asked, y, seen, PREDICATES, HUB)
            assert list(expected) == list(INTERVAL_FEATURES)
            assert row.tolist() == pytest.approx(list(expected.values()), rel=1e-5), (asked, y)


@many
@given(graph=graphs(), past_only=st.booleans(), runs=st.sampled_from([1, 2, 8]), data=st.data())
def test_every_column_is_what_its_name_says(graph: Graph, past_only: bool, runs: int, data: st.DataObject) -> None:
    asking = data.draw(st.lists(asked_on(graph[0]), min_size=1, max_size=6), "asked")
    assert_columns(graph[1], past_only, asking, runs)


@pytest.mark.parametrize("past_only", [False, True])
def test_crowded_graphs_have_the_same_columns(past_only: bool) -> None:
    asking = [Asked(x, p, s, e) for x in EVERYONE for p in range(2 * PREDICATES) for s, e in ((3, 7), (5, 5), (8, 2))]
    assert_columns(crowd(60, DENSE, seed=4), past_only, asking, runs=2)


@many
@given(graph=graphs(), past_only=st.booleans(), data=st.data())
def test_a_question_s_own_facts_change_no_column(graph: Graph, past_only: bool, data: st.DataObject) -> None:
    timeline, facts = graph
    asked = data.draw(asked_on(timeline), "asked")
    x, p, start, end = asked
    answers = data.draw(st.lists(st.integers(0, ENTITIES - 1), min_size=1, max_size=3), "answers")
    turned = p >= PREDICATES
    own = [(y, inverse(p, PREDICATES), x, start, end) if turned else (x, p, y, start, end) for y in answers]
    steps = data.draw(st.sampled_from([1, 2, 5, STEPS]), "steps")
    before, after = (described(table_, past_only, [asked], steps=steps) for table_ in (facts, [*own, *facts]))
    assert before.tolist() == after.tolist()


@few
@given(graph=graphs(), past_only=st.booleans())
def test_no_fact_of_a_graph_speaks_for_itself(graph: Graph, past_only: bool) -> None:
    facts = graph[1]
    for row, (s, p, o, start, end) in enumerate(facts):
        asking = [Asked(s, p, start, end), Asked(o, inverse(p, PREDICATES), start, end)]
        without = [*facts[:row], *facts[row + 1 :]]
        assert described(facts, past_only, asking).tolist() == described(without, past_only, asking).tolist()


@many
@given(graph=graphs(), data=st.data())
def test_nothing_from_the_start_on_changes_a_column_where_only_the_past_counts(
    graph: Graph, data: st.DataObject
) -> None:
    timeline, facts = graph
    asked = data.draw(asked_on(timeline), "asked")
    t = min(end for end in asked[2:] if end != UNKNOWN)
    later = [step for step in timeline if step >= t]
    assume(later)
    moved = []
    for s, p, o, *ends in facts:
        new = [data.draw(st.sampled_from([*later, UNKNOWN])) if end >= t else end for end in ends]
        moved += [(s, p, o, *new)] if any(end != UNKNOWN for end in new) else []
    assert described(facts, True, [asked]).tolist() == described(moved, True, [asked]).tolist()


def test_who_fits_into_the_gap_is_told_from_who_is_elsewhere() -> None:
    plays, team, elsewhere, fits, busy = 0, 0, 1, 2, 3
    facts: list[Fact] = [
        (fits, plays, elsewhere, 1, 4), (fits, plays, elsewhere, 6, 9), (busy, plays, elsewhere, 3, 8),
    ]  # fmt: skip
    rows = described(facts, False, [Asked(team, plays + PREDICATES, 4, 6)])[0]
    said = [dict(zip(INTERVAL_FEATURES, row.tolist(), strict=True)) for row in rows]
    assert (said[fits]["object_gap_before"], said[fits]["object_gap_after"]) == (0, 0)
    assert (said[fits]["object_preceding"], said[fits]["object_following"], said[fits]["object_overlapping"]) == (
        1,
        1,
        0,
    )
    assert (said[busy]["object_gap_before"], said[busy]["object_gap_after"]) == (FAR, FAR)
    assert (said[busy]["object_covering"], said[busy]["object_overlapping"]) == (1, 1)
    assert said[busy]["object_likeness"] == pytest.approx(3 / 6)


def test_company_had_the_same_third_and_is_already_there() -> None:
    plays, x, mate, old, new = 0, 0, 1, 2, 3
    facts: list[Fact] = [(x, plays, old, 1, 4), (mate, plays, old, 2, 4), (mate, plays, new, 5, 9)]
    rows = described(facts, False, [Asked(x, plays, 4, 6)])[0]
    said = dict(zip(INTERVAL_FEATURES, rows[new].tolist(), strict=True))
    weight = 1 / np.sqrt(1 * 2)  # without the subject the old team has one fact, the mate two
    for name in (
        "shared_neighbours",
        "shared_neighbours_now",
        "shared_neighbours_same",
        "shared_neighbours_same_now",
        "shared_neighbours_same_together",
    ):
        assert said[name] == pytest.approx(weight), name
    assert rows[old].tolist()[INTERVAL_FEATURES.index("shared_neighbours")] == 0.0


def sums_of(question: SpanFact, paths: list[SharedNeighbourPath]) -> list[float]:
    """Return what the columns of company should be: six sums of weights."""

    def apart(one: SpanFact, other: SpanFact) -> int:
        return max(min(one.known), min(other.known)) - min(max(one.known), max(other.known))

    sums = [0.0] * 6
    for of_subject, of_co_neighbour, last, weight in paths:
        now, same = apart(question, last) <= 0, of_subject.predicate == question.predicate
        together, near = apart(of_subject, of_co_neighbour) <= 0, apart(of_subject, question) <= 1
        close = apart(question, last) <= 1
        same_now, same_near = same and now, same and near and close
        for place, counts in enumerate((True, now, same, same_now, same_now and together, same_near)):
            sums[place] += weight * counts
    return sums


def assert_paths(facts: list[Fact], past_only: bool, asked: Asked) -> int:
    """The paths of each candidate add up to its columns of company; return how many there are."""
    index, question = span_index(table(facts), ENTITIES, PREDICATES), SpanFact(asked[0], asked[1], -1, *asked[2:])
    rows, count = described(facts, past_only, [asked])[0], 0
    place = INTERVAL_FEATURES.index("shared_neighbours")
    for y, row in enumerate(rows):
        paths = shared_neighbour_paths(index, past_only, question._replace(object=y))
        assert sums_of(question, paths) == pytest.approx(row[place : place + 6].tolist(), rel=1e-5)
        order = [(-path.weight, steps_apart(question, path.to_candidate)) for path in paths]
        assert order == sorted(order)
        for of_subject, of_co_neighbour, to_candidate, _ in paths:
            assert (of_subject.subject, to_candidate.predicate, to_candidate.object) == (asked[0], asked[1], y)
            assert of_subject[1:3] == of_co_neighbour[1:3]
            assert of_co_neighbour.subject == to_candidate.subject
        count += len(paths)
    return count


@many
@given(graph=graphs(), past_only=st.booleans(), data=st.data())
def test_the_paths_of_company_add_up_to_its_columns(graph: Graph, past_only: bool, data: st.DataObject) -> None:
    assert_paths(graph[1], past_only, data.draw(asked_on(graph[0]), "asked"))


@pytest.mark.parametrize("past_only", [False, True])
def test_in_a_crowd_there_are_paths_and_all_add_up(past_only: bool) -> None:
    facts = crowd(60, DENSE, seed=4)
    asking = [Asked(x, p, s, e) for x in EVERYONE for p in range(2 * PREDICATES) for s, e in ((3, 7), (8, 2))]
    assert sum(assert_paths(facts, past_only, asked) for asked in asking) > 100


@pytest.mark.parametrize("past_only", [False, True])
def test_what_everyone_shares_brings_no_company_together(past_only: bool) -> None:
    x, third, y, z = 0, 1, 2, 3

    def company(of_third: int, of_z: int) -> float:
        """The company's weight where the third and z have so many facts before the question, and many more after it."""
        others = range(4, 4 + HUB)
        around_third: list[Fact] = [(other, 0, third, 0, 1) for other in others][: of_third - 1]
        around_z: list[Fact] = [(z, 1, other, 0, 1) for other in others][: of_z - 2]
        later: list[Fact] = [(third, 1, other, 6, 7) for other in others] if past_only else []
        facts = [(x, 0, third, 0, 1), (z, 0, third, 0, 1), (z, 0, y, 2, 3), *around_third, *around_z, *later]
        told = float(
            described(facts, past_only, [Asked(x, 0, 4, 4)], entities=4 + HUB)[0][
                y, INTERVAL_FEATURES.index("shared_neighbours")
            ]
        )
        index = span_index(table(facts), 4 + HUB, PREDICATES)
        paths = shared_neighbour_paths(index, past_only, SpanFact(x, 0, y, 4, 4))
        assert sum(path.weight for path in paths) == pytest.approx(told)
        return told

    assert company(HUB, HUB) == pytest.approx(1 / HUB)
    assert company(HUB + 1, 2) == 0
    assert company(1, HUB + 1) == 0


def test_the_search_for_company_ends_after_so_many_facts() -> None:
    x, third, z, first, second, other = range(6)
    facts: list[Fact] = [
        (x, 0, third, 0, 1),
        (z, 0, third, 0, 1), (z, 0, first, 2, 3),
        (other, 0, third, 0, 1), (other, 0, second, 2, 3),
    ]  # fmt: skip
    company = [
        described(facts, False, [Asked(x, 0, 4, 4)], steps=steps)[
            0, [first, second], INTERVAL_FEATURES.index("shared_neighbours")
        ]
        > 0
        for steps in (0, 1, STEPS)
    ]
    assert [found.tolist() for found in company] == [[False, False], [True, False], [True, True]]
