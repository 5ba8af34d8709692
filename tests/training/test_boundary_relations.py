"""Separate boundary relations: the ends of intervals have their own, in training and in every question."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from foretime.config import Config, override
from foretime.data.facts import UNKNOWN, Facts
from foretime.data.graph import Graph, read_graph
from foretime.evaluation.ranks import score_questions
from foretime.models import Queries
from foretime.models.boundaries import end_queries
from foretime.rules.rule import RuleIds
from foretime.rules.table import Rules
from foretime.runs.life import train
from foretime.runs.loading import load_model
from foretime.training.trainer import new_model

COACHES = 12


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """Clubs that change their coach every five years: in the year of the change one comes and one goes."""
    rows = []
    for club in range(20):
        for term in range(8):
            year, coach = 1950 + 5 * term + club % 5, (club + term) % COACHES
            rows.append(f"club {club}\tis led by\tcoach {coach}\t{year}\t{year + 5}")
    path = tmp_path_factory.mktemp("relay") / "clubs.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return read_graph(path, Config().data.model_copy(update={"granularity": "year"}))


@pytest.fixture
def config(small_config: Config) -> Config:
    return override(small_config, {"training.boundary_relations": "separate"})


def facts(*rows: tuple[int, ...]) -> Facts:
    return Facts(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))


def test_every_known_end_is_an_event_under_its_own_predicate():
    some = facts((0, 1, 2, 3, 5), (0, 1, 2, 4, 4), (6, 0, 2, UNKNOWN, 7), (6, 0, 2, 8, UNKNOWN))
    apart = some.events(end_offset=10)
    assert list(zip(*(column.tolist() for column in apart), strict=True)) == [
        (0, 1, 2, 3), (0, 1, 2, 4), (6, 0, 2, 8), (0, 11, 2, 5), (0, 11, 2, 4), (6, 10, 2, 7),
    ]  # fmt: skip
    assert some.events().predicate.tolist() == [1, 1, 0, 1, 0]


def test_facts_ask_at_both_known_ends(relay: Graph, config: Config):
    model = new_model(config, relay)
    assert model.end_offset == 2
    some = facts((0, 0, 2, 3, 5), (0, 0, 2, 4, 4), (6, 1, 2, UNKNOWN, 7), (6, 1, 2, 8, UNKNOWN))
    asked = end_queries(model, some)
    assert asked.first.predicate.tolist() == [0, 0, 3, 1]
    assert asked.first.time.tolist() == [3, 4, 7, 8]
    assert (asked.rows.tolist(), asked.second.predicate.tolist(), asked.second.time.tolist()) == (
        [0, 1],
        [2, 2],
        [5, 4],
    )


def test_graphs_of_points_and_models_without_time_have_no_ends(small_graph: Graph, relay: Graph, config: Config):
    assert new_model(config, small_graph).end_offset == 0
    static = override(config, {"model.name": "complex", "model.rank": 4})
    assert new_model(static, relay).end_offset == 0


def test_rules_pull_the_same_predicates_and_evidence_is_the_same_at_an_end(relay: Graph, config: Config):
    model = new_model(override(config, {"evidence.use": True}), relay)
    assert model.base.event.guide.predicates == 2
    assert len(model.base.event.lasting_predicates) == 4
    with torch.no_grad():
        model.evidence.weights.normal_(generator=torch.Generator().manual_seed(1))
    subject, time = torch.arange(5), torch.full((5,), 9)
    plain, ending = (
        model.evidence.score_objects(Queries(subject, torch.full((5,), predicate), time)) for predicate in (0, 2)
    )
    assert plain.abs().sum() > 0
    torch.testing.assert_close(plain, ending)


def test_rules_pull_no_predicate_of_an_end(relay: Graph, config: Config):
    rules = Rules.of([RuleIds("follows", "pair", 0, (1,))])
    model = new_model(
        override(config, {"penalties.event_rules": 1.0}),
        relay,
        replace(rules, support=np.ones(1), body_count=np.full(1, 2.0)),
    )
    subject = torch.arange(5)
    questions = Queries(subject, torch.full((5,), 2), torch.full((5,), 9))
    model.penalties(questions, subject)["event_rules"].backward()
    pulled = model.event.lasting_predicates.grad.abs().sum(1)
    assert (pulled > 0).tolist() == [True, True, False, False]


def test_commonsense_knows_no_ends(relay: Graph, config: Config):
    model, subject = new_model(config, relay), torch.arange(5)
    began, ended = (Queries(subject, torch.full((5,), predicate), torch.full((5,), 9)) for predicate in (1, 3))
    (event, commonsense), (event_at_end, commonsense_at_end) = (model.score_terms(asked) for asked in (began, ended))
    assert len(model.commonsense.predicates) == 2
    assert torch.equal(commonsense.scores, commonsense_at_end.scores)
    assert not torch.equal(event.scores, event_at_end.scores)
    first, second = (model.penalties(asked, subject)["commonsense_n3"] for asked in (began, ended))
    assert torch.equal(first, second)


@pytest.mark.parametrize(("ends", "least", "most"), [("separate", 0.9, 1.0), ("shared", 0.2, 0.8)])
def test_separate_relations_tell_who_comes_from_who_goes(
    relay: Graph, small_config: Config, tmp_path: Path, ends: str, least: float, most: float
):
    """Under a shared relation, both coaches of the year of a change fit its question."""
    changes = {"training.epochs": 40, "training.valid_every": 40, "training.boundary_relations": ends}
    config = override(small_config, {"model.name": "tntcomplex", "model.rank": 16, **changes})
    run = train(relay, config, tmp_path / ends, with_test=False)
    began = replace(relay.train, end=np.full(len(relay.train), UNKNOWN))
    with torch.inference_mode():
        best = score_questions(load_model(run, run.config(), relay), began).argmax(1).numpy()
    assert least < (best == began.object).mean() <= most
