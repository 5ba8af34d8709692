"""The shared neighbours of an answer in words: three dated facts, read in the direction of the graph."""

from math import sqrt

import pytest

from foretime.config import Config
from foretime.data.facts import inverse
from foretime.data.graph import Graph, read_graph
from foretime.inference.explanation.co_neighbours import CoNeighbourWords
from foretime.inference.explanation.events import CoNeighbour, DatedEvent
from foretime.reranker.features.intervals import span_index
from foretime.reranker.features.shared_neighbours import SpanFact, shared_neighbour_paths

FACTS = (
    ("Ann", "plays for", "Old", "2001", "2004"),
    ("Bob", "plays for", "Old", "2002", "####-##-##"),
    ("Bob", "plays for", "New", "2006", "2009"),
)
ANN = DatedEvent("same time", "Ann", "plays for", "Old", "2001 – 2004")
BOB = DatedEvent("before", "Bob", "plays for", "Old", "2002 – ?")
NEW = DatedEvent("after", "Bob", "plays for", "New", "2006 – 2009")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("players")
    for split in ("train", "valid", "test"):
        rows = FACTS if split == "train" else FACTS[:1]
        (folder / f"{split}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return read_graph(folder, Config().data.model_copy(update={"granularity": "year"}))


def supporting(
    graph: Graph, subject: str, inverted: bool, answer: str, past_only: bool = False
) -> tuple[CoNeighbour, ...]:
    """Return the co-neighbours that support an answer to the question of 2004 to 2005."""
    predicates = len(graph.predicates)
    predicate = graph.predicates.id("plays for")
    asked = SpanFact(
        graph.entities.id(subject),
        inverse(predicate, predicates) if inverted else predicate,
        graph.entities.id(answer),
        graph.timeline.step("2004"),
        graph.timeline.step("2005"),
    )
    paths = shared_neighbour_paths(span_index(graph.train, len(graph.entities), predicates), past_only, asked)
    return CoNeighbourWords(graph).show(asked, paths, reported=0.0).co_neighbours


def test_a_co_neighbour_is_named_with_the_neighbour_and_all_facts(graph: Graph):
    weight = 1 / sqrt(1 * 2)  # without Ann, Old has one fact and Bob has two
    assert supporting(graph, "Ann", False, "New") == (CoNeighbour("Bob", "Old", 1, weight, (ANN, BOB, NEW)),)


def test_where_the_subject_is_asked_for_facts_keep_the_direction_of_the_graph(graph: Graph):
    weight = 1 / sqrt(1 * 2)  # without New, Bob has one fact and Old has two
    assert supporting(graph, "New", True, "Ann") == (CoNeighbour("Old", "Bob", 1, weight, (NEW, BOB, ANN)),)


def test_what_is_not_known_before_the_question_supports_nothing(graph: Graph):
    assert supporting(graph, "Ann", False, "New", past_only=True) == ()


def test_nothing_supports_the_neighbour_nor_the_entity_itself(graph: Graph):
    assert supporting(graph, "Ann", False, "Old") == ()
    assert supporting(graph, "Ann", False, "Ann") == ()
