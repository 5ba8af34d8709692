"""Several processes that train together come to what one comes to, however many they are and whatever happens."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from foretime.config import Config, ModelConfig, override
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.errors import ConfigError, Interrupted
from foretime.models import MODELS, Component, Model, Queries, Sizes, build_model
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run
from foretime.training.batches import Batch, QuestionPool
from foretime.training.callbacks import Callback
from foretime.training.candidates import SampledSoftmax
from foretime.training.checkpoint import read_checkpoint
from foretime.training.distributed.check import check_team
from foretime.training.distributed.questions import check_questions
from foretime.training.distributed.softmax import DividedSoftmax
from foretime.training.distributed.tables import align, divide
from foretime.training.distributed.team import ALONE, ProcessLost, Team, share, team_of_launcher
from foretime.training.losses import SampledLoss
from foretime.training.objective import OwnLoss, loss_each
from foretime.training.trainer import Trainer
from interruptions import StopAfter
from several_processes import run_together

SETTINGS = {
    "model.name": "lcge", "model.rank": 4, "training.epochs": 1, "training.batch_size": 400, "training.valid_every": 1,
    "training.threads": 1,
}  # fmt: skip
EVIDENCE = {"evidence.use": True, "evidence.families": ["pair", "object", "popularity"]}
WHOLE = ("atise", "recent", "rules")
"""Models of which nothing is divided: two that cannot be, and one without tables."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return read_graph(generate_world(1000).write(tmp_path_factory.mktemp("world")))


def new_run(graph: Graph, folder: Path, **changes: Any) -> Path:
    return create_run(graph, override(Config(), SETTINGS | changes), folder).path


class DieAfter(Callback):
    """Ends its process in the middle of a training, as the system does where memory runs out."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def step(self, epoch: int, step: int, loss: float) -> None:
        if step == self.steps:
            os._exit(9)


def compute_in_double() -> None:
    """Round so little that only a wrong formula could be seen."""
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = lambda self: self


def fit(folder: Path, in_double: bool = False, callback: Callback | None = None, by: int | None = None) -> None:
    """Train in this process, with the others; the callback is that of one process, if one is named."""
    if in_double:
        compute_in_double()
    run, team = RunFolder(folder), team_of_launcher()
    own = callback if callback and by in (None, team.rank) else Callback()
    Trainer(run, run.config(), run.graph(), own, team=team).fit()


def largest_difference(one: Path, other: Path) -> float:
    """That of the weights, and of what the optimiser keeps."""
    first, second = (read_checkpoint(RunFolder(folder).last_file)[0] for folder in (one, other))
    assert first.keys() == second.keys()
    return max(float((first[name] - second[name]).abs().max()) for name in first)


def losses(folder: Path) -> list[float]:
    return [value for line in RunFolder(folder).trace() for name, value in line.items() if name != "seconds"]


@pytest.fixture(scope="module")
def alone(world: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that one process has trained in double precision."""
    folder = new_run(world, tmp_path_factory.mktemp("alone") / "run")
    assert run_together(1, fit, folder, True) == [None]
    return folder


@pytest.mark.parametrize("size", [2, 4])
def test_an_epoch_ends_with_the_weights_of_one_process(size: int, world: Graph, alone: Path, tmp_path: Path):
    folder = new_run(world, tmp_path / "run")
    assert run_together(size, fit, folder, True) == [None] * size
    assert largest_difference(folder, alone) < 1e-10
    assert losses(folder) == pytest.approx(losses(alone), abs=1e-10)


def test_in_single_precision_the_losses_are_those_of_one_process_the_evidence_too(world: Graph, tmp_path: Path):
    folders = [new_run(world, tmp_path / name, **EVIDENCE) for name in ("one", "several")]
    fit(folders[0])
    assert run_together(3, fit, folders[1]) == [None] * 3
    assert losses(folders[1]) == pytest.approx(losses(folders[0]), abs=1e-6, rel=1e-6)
    weights = [read_checkpoint(RunFolder(one).best_file)[0]["model.evidence.weights"] for one in folders]
    assert float(weights[0].abs().max()) > 0.01
    assert torch.allclose(*weights, atol=1e-6)


def test_a_training_resumes_on_another_number_of_processes(world: Graph, alone: Path, tmp_path: Path):
    folder = new_run(world, tmp_path / "run")
    for size, steps in ((4, 2), (2, 1)):
        errors = run_together(size, fit, folder, True, StopAfter(steps), size - 1)  # asked of the last one alone
        assert [type(error) for error in errors] == [Interrupted] * size
    assert run_together(1, fit, folder, True) == [None]
    assert largest_difference(folder, alone) < 1e-10


def test_adam_resumes_on_another_number_of_processes_too(world: Graph, tmp_path: Path):
    adam = {"training.optimizer": "adam", "training.learning_rate": 0.01, "model.name": "distmult"}
    one, several = (new_run(world, tmp_path / name, **adam) for name in ("one", "several"))
    assert run_together(1, fit, one, True) == [None]
    run_together(2, fit, several, True, StopAfter(2))
    assert run_together(3, fit, several, True) == [None] * 3
    assert largest_difference(several, one) < 1e-8


@pytest.mark.parametrize("dead", [0, 1])
def test_a_process_that_dies_ends_the_others_and_the_training_resumes(
    dead: int, world: Graph, alone: Path, tmp_path: Path
):
    folder = new_run(world, tmp_path / "run", **{"training.checkpoint_seconds": 0.0})
    found = run_together(2, fit, folder, True, DieAfter(3), dead)
    assert found[dead] is None
    assert isinstance(found[1 - dead], ProcessLost)
    assert "another process of this training has ended" in str(found[1 - dead])
    assert read_checkpoint(RunFolder(folder).last_file)[1].step >= 2
    assert run_together(1, fit, folder, True) == [None]
    assert largest_difference(folder, alone) < 1e-10


SIZES = Sizes(entities=7, predicates=4, times=5)


def a_batch(answers: int = SIZES.entities) -> Batch:
    draw = np.random.default_rng(3)
    columns = [torch.from_numpy(draw.integers(count, size=6)) for count in SIZES[:3]]
    row = torch.tensor([0, 0, 1, 2, 3, 4, 5, 5])
    queries = Queries(*columns)
    questions = Queries(*(column[row] for column in queries))
    return Batch(queries, row, questions, torch.from_numpy(draw.integers(answers, size=len(row))), 0.9)


def gradients(model: Model, kind: str, loss: OwnLoss | None) -> dict[str, torch.Tensor]:
    components = [Component("", 1.0, model)] if kind == "joint" else model.components()
    batch = a_batch(2) if kind == "few candidates" else a_batch()
    penalties = {f"{one.name}_{name}" if one.name else name: 0.1 for one in components for name in names_of(one.model)}
    total = loss_each(components, [batch] * len(components), penalties, [loss] * len(components)).total
    total.backward()
    found = {name: weights.grad for name, weights in model.named_parameters() if weights.grad is not None}
    return found | {"the loss": total.detach()}


def names_of(model: Model) -> list[str]:
    batch = a_batch()
    return list(model.penalties(batch.questions, batch.objects))


def drawn_losses(team: Team) -> dict[str, OwnLoss]:
    draw = np.random.default_rng
    return {
        "negatives": SampledLoss("negatives", 2.0, 3, 1.0, SIZES.entities, draw(5)),
        "candidates": SampledSoftmax(np.array([2]), 3, SIZES.entities, draw(5), team),
        "few candidates": SampledSoftmax(np.array([1]), 0, SIZES.entities, draw(5), team),
    }


def wrong_gradients() -> list[str]:
    """The models, losses and tables whose gradient, in this process, is not that of one process with all rows."""
    compute_in_double()
    team = team_of_launcher()
    divided = DividedSoftmax(team, SIZES.entities)
    found = wrong_in("lcge", "joint", None, divided, team)
    for name in sorted(MODELS.keys() - set(WHOLE)):
        found += wrong_in(name, "softmax", None, divided, team)
        for kind, loss in drawn_losses(ALONE).items():
            found += wrong_in(name, kind, loss, drawn_losses(team)[kind], team)
    return found


def wrong_in(name: str, kind: str, alone: OwnLoss | None, together: OwnLoss, team: Team) -> list[str]:
    one, divided = (
        build_model(ModelConfig(name=name, rank=3, init_scale=0.5), SIZES, torch.Generator().manual_seed(1))
        for _ in range(2)
    )
    divide(divided, torch.optim.SGD(divided.parameters()), team)
    expected, here = gradients(one, kind, alone), gradients(divided, kind, together)
    rows = team.part_of(SIZES.entities)
    wanted = {
        key: value[rows.start : rows.stop] if key.endswith("entities") else value for key, value in expected.items()
    }
    same = {key for key in wanted.keys() & here.keys() if torch.allclose(here[key], wanted[key], atol=1e-12)}
    return [f"{name} {kind} {key}" for key in (wanted.keys() | here.keys()) - same]


def test_the_gradient_under_every_loss_of_every_model_that_can_be_divided_is_that_of_one_process():
    assert run_together(3, wrong_gradients) == [[]] * 3


def aligned() -> list[float]:
    """The sum of each table that all have, after this process had changed its own."""
    team = team_of_launcher()
    model = build_model(ModelConfig(name="tcomplex", rank=3), SIZES, torch.Generator().manual_seed(team.rank))
    optimizer = torch.optim.Adagrad(model.parameters())
    divide(model, optimizer, team)
    tables = (model.predicates, model.times, optimizer.state[model.times]["sum"])
    for table in tables:
        table.data.add_(team.rank)
    align(model, optimizer, team)
    return [table.sum().item() for table in tables]


def test_what_all_processes_have_is_that_of_the_first():
    first, second = run_together(2, aligned)
    alone = build_model(ModelConfig(name="tcomplex", rank=3), SIZES, torch.Generator().manual_seed(0))
    assert first == second == [alone.predicates.sum().item(), alone.times.sum().item(), 0.0]


class Pretended(Team):
    size = 8


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_is_divided_or_says_that_it_cannot_be(name: str):
    config, few = override(Config(), {"model.name": name, "training.device": "cpu"}), Pretended()
    check_team(config, 1, ALONE)
    if name in ("atise", "recent"):
        with pytest.raises(ConfigError, match=f"{name} cannot be trained in several processes: its .*, such as tntcom"):
            check_team(config, 100, few)
    else:
        check_team(config, 100, few)
        with pytest.raises(ConfigError, match="8 processes for 7 entities: start at most as many"):
            check_team(config, 7, few)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training.device": "mps"}, 'training.device = "mps": several processes train on the CPU alone'),
        ({"training.softmax": "joint", "evidence.use": True}, 'take "each", or start one process'),
    ],
)
def test_what_cannot_be_trained_together_is_refused(changes: dict[str, Any], message: str, monkeypatch):
    monkeypatch.setattr("foretime.training.distributed.check.find_device", torch.device)
    with pytest.raises(ConfigError, match=message):
        check_team(override(Config(), {"training.device": "cpu"} | changes), 100, Pretended())


def test_a_step_with_fewer_questions_than_processes_is_refused(world: Graph):
    pool = QuestionPool(world.train.with_inverses(len(world.predicates)).events(0), uses_time=True)
    check_questions(pool, pool.distinct // 8, Pretended())
    with pytest.raises(ConfigError, match=r"a step has 7 different questions, too few for 8 processes; raise"):
        check_questions(pool, pool.distinct // 7, Pretended())


@pytest.mark.parametrize(("count", "size"), [(7, 3), (8, 4), (3, 4), (0, 2)])
def test_shares_are_all_of_it_and_nearly_the_same(count: int, size: int):
    shares = [share(count, rank, size) for rank in range(size)]
    assert [number for one in shares for number in one] == list(range(count))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
