"""Evidence as a term of a model: its gradient, its chosen candidates, its families, and a training by it alone."""

from pathlib import Path

import numpy as np
import pytest
import torch
from evidence_graphs import (
    DENSE,
    ENTITIES,
    EVERYTHING,
    PREDICATES,
    Floats,
    all_questions,
    asked,
    crowd,
    index_on,
    with_facts,
)
from evidence_oracle import Question
from torch import Tensor

from foretime import train
from foretime.config import EvidenceConfig, ModelConfig
from foretime.data.facts import inverse
from foretime.data.graph import Graph
from foretime.evidence.families import FAMILY_NAMES, FEATURES, RULED
from foretime.evidence.index import EvidenceIndex, build_index
from foretime.evidence.module import ROWS_AT_ONCE, EvidenceComponent, WithEvidence
from foretime.models import Queries, RulesModel, Sizes, build_model
from foretime.training.trainer import new_model

PATHS = [(0, 1, 2), (0, 0, 4), (1, 3, 0), (2, 2, 2)]
SIZES = Sizes(ENTITIES, 2 * PREDICATES, len(DENSE) + 41)


FACTS = crowd(40, DENSE, seed=8)


@pytest.fixture
def index() -> EvidenceIndex:
    return index_on(FACTS, DENSE, EVERYTHING, PATHS)


@pytest.fixture
def part(index: EvidenceIndex) -> EvidenceComponent:
    part = EvidenceComponent(index)
    with torch.no_grad():
        part.weights.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(0))
    return part


def queries_of(questions: list[Question]) -> Queries:
    return Queries(*(torch.from_numpy(column) for column in asked(questions)))


def two_slices() -> Queries:
    """More questions than are scored at once."""
    questions = all_questions(DENSE) * 2
    assert ROWS_AT_ONCE < len(questions) < 2 * ROWS_AT_ONCE
    return queries_of(questions)


def some_objects(rows: int, columns: int = 4) -> Tensor:
    return torch.randint(ENTITIES, (rows, columns), generator=torch.Generator().manual_seed(1))


def test_there_is_a_weight_for_each_feature_each_of_a_predicate_each_of_a_pair_rule_and_each_path_rule(
    part: EvidenceComponent, index: EvidenceIndex
) -> None:
    pairs, paths = len(index.rules.pair_body), len(index.rules.path_body)
    assert pairs > 0
    assert paths == 2 * len(PATHS)
    assert part.weights.shape == (FEATURES + 2 * PREDICATES * FEATURES + pairs * RULED + paths,)
    assert not EvidenceComponent(index).weights.any()  # nothing speaks for anyone before training


def test_the_gradient_of_a_loss_is_that_of_finite_differences(part: EvidenceComponent, index: EvidenceIndex) -> None:
    questions = all_questions(DENSE)[::25]
    answers = some_objects(len(questions), 1).squeeze(1)

    def loss(weights: Floats) -> float:
        scores = torch.from_numpy(index.score(weights, *asked(questions))).double()
        return torch.nn.functional.cross_entropy(scores, answers).item()

    asked_loss = torch.nn.functional.cross_entropy(part.score_objects(queries_of(questions)), answers)
    (gradient,) = torch.autograd.grad(asked_loss, part.weights)
    start, step = part.weights.detach().numpy(), 0.01
    used = gradient.nonzero().squeeze(1).tolist()
    unused = (gradient == 0).nonzero().squeeze(1).tolist()
    assert len(used) > 100
    assert used[-1] >= index.weights - 2 * len(PATHS)  # the rules of paths among them
    for place in (*used[::3], *unused[::40]):
        up, down = start.copy(), start.copy()
        up[place] += step
        down[place] -= step
        assert gradient[place].item() == pytest.approx((loss(up) - loss(down)) / (2 * step), abs=2e-4)


def test_chosen_objects_are_scored_like_all(part: EvidenceComponent) -> None:
    queries = two_slices()
    objects = some_objects(len(queries.subject))
    every, chosen = part.score_objects(queries), part.score_objects(queries, objects)
    assert every.shape == (len(queries.subject), ENTITIES)
    assert torch.equal(chosen, every.gather(1, objects))
    gradients = [
        torch.autograd.grad(scores.square().sum(), part.weights)[0] for scores in (every.gather(1, objects), chosen)
    ]
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-4, atol=1e-3)
    assert part.score_objects(queries_of([]), some_objects(0)).shape == (0, 4)


def test_the_families_sum_to_the_term(part: EvidenceComponent) -> None:
    queries = two_slices()
    families = part.score_families(queries)
    (term,) = part.score_terms(queries)
    assert list(families) == [f"evidence_{name}" for name in FAMILY_NAMES]
    assert (term.name, term.weight) == ("evidence", 1.0)
    torch.testing.assert_close(torch.stack(list(families.values())).sum(0), term.scores)
    assert all(scores.any() for scores in families.values())


def test_the_penalty_is_the_sum_of_the_squared_weights(part: EvidenceComponent) -> None:
    queries = queries_of([Question(0, 0, 0)])
    with torch.no_grad():
        part.weights.zero_()[:3] = torch.tensor([1.0, 2.0, 3.0])
    assert part.penalties(queries, torch.tensor([0]))["l2"].item() == 14.0
    assert set(part.penalties(queries, torch.tensor([0]))) == set(EvidenceComponent.default_penalties)


def test_a_model_with_evidence_adds_the_evidence_to_its_own_score(
    part: EvidenceComponent, index: EvidenceIndex
) -> None:
    base = build_model(
        ModelConfig.model_validate({"name": "tntcomplex", "rank": 2}), SIZES, torch.Generator().manual_seed(0)
    )
    model = WithEvidence(base, index)
    model.evidence.load_state_dict(part.state_dict())
    queries, objects = two_slices(), some_objects(len(two_slices().subject))
    for chosen in (None, objects):
        expected = base.score_objects(queries, chosen) + part.score_objects(queries, chosen)
        torch.testing.assert_close(model.score_objects(queries, chosen), expected)
    own = base.penalties(queries, objects[:, 0])
    assert set(model.penalties(queries, objects[:, 0])) == {*own, "evidence_l2"}
    assert [(p.name, p.weight) for p in model.components()] == [
        *((p.name, p.weight) for p in base.components()),
        ("evidence", 1.0),
    ]
    gradients = torch.autograd.grad(model.score_objects(queries).square().sum(), list(model.parameters()))
    assert all(gradient.any() for gradient in gradients)


def test_rules_alone_are_nothing_but_evidence(part: EvidenceComponent, index: EvidenceIndex) -> None:
    model = WithEvidence(build_model(ModelConfig(name="rules"), SIZES, torch.Generator()), index)
    model.evidence.load_state_dict(part.state_dict())
    queries = two_slices()
    assert isinstance(model.base, RulesModel)
    assert torch.equal(model.score_objects(queries), part.score_objects(queries))
    assert [term.name for term in model.score_terms(queries)] == ["evidence"]
    assert [name for name, _ in model.named_parameters()] == ["evidence.weights"]
    assert [p.name for p in model.components()] == ["evidence"]


def test_an_asked_fact_does_not_speak_for_itself_in_the_model(part: EvidenceComponent, index: EvidenceIndex) -> None:
    for row in range(0, len(FACTS), 5):
        s, p, o, start, end = FACTS[row]
        without = EvidenceComponent(with_facts(index, [*FACTS[:row], *FACTS[row + 1 :]]))
        without.load_state_dict(part.state_dict())
        backwards = inverse(p, PREDICATES)
        queries = queries_of([Question(s, p, start), Question(s, p, end), Question(o, backwards, start)])
        assert torch.equal(part.score_objects(queries), without.score_objects(queries))


def test_the_index_is_that_of_the_configured_splits_families_and_reach(small_graph: Graph) -> None:
    config = EvidenceConfig(families=["pair", "active"], past_only=True, active_window=3, path_events=9)
    index = build_index(small_graph, config)
    assert list(index.by_family()) == ["pair", "active"]
    reach = index.reach
    assert (reach.past_only, reach.object_window, reach.active_window) == (True, 90, 3)
    assert (reach.path_window, reach.path_events) == (7, 9)
    events = len(index.events.time)
    assert events == 2 * len(small_graph.train)
    both = build_index(small_graph, EvidenceConfig(splits=["train", "valid"]))
    assert len(both.events.time) == 2 * (len(small_graph.train) + len(small_graph.valid))


@pytest.mark.parametrize("past_only", [False, True])
def test_rules_alone_train_and_rank_far_better_than_chance(small_graph: Graph, tmp_path: Path, past_only: bool) -> None:
    settings = {
        "model.name": "rules",
        "evidence.past_only": past_only,
        "training.epochs": 4,
        "training.batch_size": 100,
        "training.valid_every": 2,
        "training.threads": 1,
    }
    run = train(small_graph, folder=tmp_path / "run", settings=settings)
    report = run.report
    chance = float(np.mean(1 / np.arange(1, len(small_graph.entities) + 1)))  # all candidates in any order
    assert run.config.evidence.use
    assert report["test"]["all"]["mrr"] > 2 * chance
    losses = [line["evidence_loss"] for line in run.history]
    assert losses[-1] < losses[0]
    model = run.predictor.model
    assert isinstance(model, WithEvidence)
    assert model.evidence.weights.numel() == report["parameters"]
    assert model.evidence.weights.any()
    again = train(small_graph, folder=tmp_path / "again", settings=settings)
    assert torch.equal(again.predictor.model.state_dict()["evidence.weights"], model.evidence.weights)


def test_evidence_trains_beside_embeddings(small_graph: Graph, tmp_path: Path) -> None:
    settings = {
        "model.name": "tntcomplex",
        "model.rank": 4,
        "evidence.use": True,
        "training.softmax": "joint",
        "training.epochs": 2,
        "training.batch_size": 100,
        "training.threads": 1,
    }
    run = train(small_graph, folder=tmp_path / "run", settings=settings)
    fresh = new_model(run.config, small_graph, run.rules).state_dict()
    trained = run.predictor.model.state_dict()
    assert {"base.entities", "evidence.weights"} <= trained.keys() == fresh.keys()
    assert all(not torch.equal(trained[name], fresh[name]) for name in trained)
    assert list(run.history)[-1]["evidence_l2"] > 0
