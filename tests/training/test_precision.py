"""Training in bfloat16: the gradients of single precision but for rounding, and nothing else in bfloat16."""

from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from typer.testing import CliRunner

from foretime.cli import app
from foretime.config import Config, ModelConfig, override
from foretime.data.facts import Events
from foretime.data.graph import Graph
from foretime.errors import ConfigError
from foretime.models import MODELS, Sizes, build_model
from foretime.runs.life import create_run, train
from foretime.runs.loading import load_model
from foretime.training.batches import QuestionPool
from foretime.training.objective import loss_each
from foretime.training.precision import products_in

SIZES = Sizes(entities=60, predicates=6, times=5)
PRODUCTS = sorted(name for name, model in MODELS.items() if model.scores_are_products)


def gradients(name: str, precision: str) -> torch.Tensor:
    """Return the gradient of one step on random facts, all weights of the model in a row."""
    draw = np.random.default_rng(0)
    sizes = (SIZES.entities, SIZES.predicates, SIZES.entities, SIZES.times)
    events = Events(*(draw.integers(0, size, 200) for size in sizes))
    model = build_model(ModelConfig(name=name, rank=16, init_scale=0.5), SIZES, torch.Generator().manual_seed(0))
    parts = model.components()
    pools = [QuestionPool(events, part.model.uses_time) for part in parts]
    weights = {
        f"{part.name}_{key}" if part.name else key: 0.01 for part in parts for key in part.model.default_penalties
    }
    with products_in(precision):
        loss = loss_each(parts, [pool.batch(np.arange(pool.distinct)) for pool in pools], weights)
    loss.total.backward()
    return torch.cat([weight.grad.flatten() for weight in model.parameters() if weight.grad is not None])


@pytest.mark.parametrize("name", PRODUCTS)
def test_gradients_differ_by_rounding_alone(name: str):
    single, rounded = gradients(name, "single"), gradients(name, "bfloat16")
    assert rounded.dtype == torch.float32
    assert 0 < float((rounded - single).norm() / single.norm()) < 0.02


def test_the_models_that_may_be_rounded_are_those_that_multiply():
    assert {"complex", "distmult", "lcge", "quate", "tcomplex", "telm", "tntcomplex"} <= set(PRODUCTS)
    assert not {"transe", "rotate", "ttranse", "hyte", "tero", "atise", "rules"} & set(PRODUCTS)


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(PRODUCTS)))
def test_other_models_are_refused_before_anything_is_written(small_graph: Graph, tmp_path: Path, name: str):
    config = override(Config(), {"model.name": name, "training.precision": "bfloat16"})
    with pytest.raises(ConfigError, match=rf'training\.precision: {name} .* "bfloat16" is for .*lcge'):
        create_run(small_graph, config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_weights_and_scores_are_single_and_about_as_good(small_graph: Graph, small_config: Config, tmp_path: Path):
    single = train(small_graph, small_config, tmp_path / "single")
    rounded = train(small_graph, override(small_config, {"training.precision": "bfloat16"}), tmp_path / "rounded")
    weights = safetensors.torch.load_file(rounded.best_file)
    assert {weight.dtype for name, weight in weights.items() if name.startswith("model.")} == {torch.float32}
    model, known = load_model(rounded, rounded.config(), small_graph), load_model(single, single.config(), small_graph)
    assert any(not torch.equal(a, b) for a, b in zip(model.parameters(), known.parameters(), strict=True))
    difference = rounded.report()["valid"]["all"]["mrr"] - single.report()["valid"]["all"]["mrr"]
    assert abs(difference) < 0.1


@pytest.mark.parametrize(("known", "warned"), [({"avx512_bf16": True}, False), ({"avx2": True}, True)])
def test_a_processor_without_bfloat16_is_told(tmp_path: Path, monkeypatch, known: dict[str, bool], warned: bool):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known)
    rows = [f"a{k % 5}\tsees\ta{k % 7}\t2020-01-{1 + k % 28:02}" for k in range(80)]
    (tmp_path / "events.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    settings = ["--set", "training.precision=bfloat16", "--rank", "2", "--epochs", "1", "--model", "distmult"]
    found = CliRunner().invoke(app, ["train", str(tmp_path / "events.tsv"), "--out", str(tmp_path / "run"), *settings])
    assert found.exit_code == 0, found.output
    assert ("no instructions for bfloat16" in found.output + found.stderr) == warned
