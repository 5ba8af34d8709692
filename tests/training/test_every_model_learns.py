"""Every model, with its own defaults, learns the small built-in world in a second."""

from pathlib import Path

import pytest

from foretime.config import Config, override
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.models import MODELS
from foretime.runs.life import create_run
from foretime.training.callbacks import Callback
from foretime.training.trainer import Trainer

SETTINGS = {
    "model.rank": 16,
    "training.epochs": 6,
    "training.valid_every": 6,
    "training.batch_size": 200,
    "training.negatives": 16,
    "training.valid_limit": 100,
    "training.threads": 1,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return read_graph(generate_world(events=1500, seed=1).write(tmp_path_factory.mktemp("world") / "world"))


# rules alone has no embeddings to learn: tests/evidence has its own
@pytest.mark.parametrize("name", sorted(set(MODELS) - {"rules"}))
def test_a_model_is_far_better_than_chance(world: Graph, tmp_path: Path, name: str):
    reading = {"evidence.use": True, "evidence.families": ["affinity"]} if MODELS[name].reads_events else {}
    run = create_run(world, override(Config(), {**SETTINGS, **reading, "model.name": name}), tmp_path / name)
    Trainer(run, run.config(), world, Callback()).fit()
    entities = len(world.entities)
    chance = sum(1 / rank for rank in range(1, entities + 1)) / entities
    assert run.trace()[-1]["valid_mrr"] > 5 * chance
