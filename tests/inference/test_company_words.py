"""The company of an answer in words: three dated facts, read in the direction of the graph."""

from math import sqrt

import pytest

from foretime.config import Config
from foretime.data.facts import inverse
from foretime.data.graph import Graph, read_graph
from foretime.inference.explanation.company import Company, Peer
from foretime.inference.explanation.events import GroundedEvent
from foretime.inference.explanation.wording import Wording
from foretime.reranker.features.intervals import span_index
from foretime.reranker.features.shared_neighbours import SpanFact, shared_neighbour_paths

FACTS = (
    ("Ann", "plays for", "Old", "2001", "2004"),
    ("Bob", "plays for", "Old", "2002", "####-##-##"),
    ("Bob", "plays for", "New", "2006", "2009"),
)
ANN = GroundedEvent("companion", "Ann", "plays for", "Old", "2001 – 2004")
BOB = GroundedEvent("cause", "Bob", "plays for", "Old", "2002 – ?")
NEW = GroundedEvent("effect", "Bob", "plays for", "New", "2006 – 2009")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("players")
    for split in ("train", "valid", "test"):
        rows = FACTS if split == "train" else FACTS[:1]
        (folder / f"{split}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return read_graph(folder, Config().data.model_copy(update={"granularity": "year"}))


def company(graph: Graph, subject: str, turned: bool, answer: str, past_only: bool = False) -> Company:
    """Return who speaks for an answer to the question of 2004 to 2005."""
    predicates = len(graph.predicates)
    predicate = graph.predicates.id("plays for")
    asked = SpanFact(
        graph.entities.id(subject),
        inverse(predicate, predicates) if turned else predicate,
        graph.entities.id(answer),
        graph.timeline.step("2004"),
        graph.timeline.step("2005"),
    )
    paths = shared_neighbour_paths(span_index(graph.train, len(graph.entities), predicates), past_only, asked)
    return Wording(graph).company(asked, paths, told=0.0)


def test_the_peer_is_named_with_the_third_and_all_facts(graph: Graph):
    weight = 1 / sqrt(1 * 2)  # without Ann, Old has one fact and Bob has two
    assert company(graph, "Ann", False, "New").peers == (Peer("Bob", "Old", 1, weight, (ANN, BOB, NEW)),)


def test_who_is_asked_for_is_spoken_for_by_other_teams_in_the_direction_of_the_graph(graph: Graph):
    weight = 1 / sqrt(1 * 2)  # without New, Bob has one fact and Old has two
    assert company(graph, "New", True, "Ann").peers == (Peer("Old", "Bob", 1, weight, (NEW, BOB, ANN)),)


def test_what_is_not_known_before_the_question_is_not_told(graph: Graph):
    assert company(graph, "Ann", False, "New", past_only=True).peers == ()


def test_nobody_speaks_for_the_third_nor_for_oneself(graph: Graph):
    assert company(graph, "Ann", False, "Old").peers == ()
    assert company(graph, "Ann", False, "Ann").peers == ()
