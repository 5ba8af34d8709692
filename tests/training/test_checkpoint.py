"""A checkpoint is refused before it is used unless every name, type, shape, value and bit is right."""

import json
import resource
import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from foretime.config import Config, ModelConfig, override
from foretime.data.graph import Graph
from foretime.errors import RunError
from foretime.models import MODELS, Sizes, build_model
from foretime.training.checkpoint import Progress, load_checkpoint, read_checkpoint, save_checkpoint
from foretime.training.settings import complete_config
from foretime.training.trainer import build_optimizer, check_checkpoint, new_model
from foretime.training.weights import digest, forms_of


@pytest.fixture
def config(small_config: Config) -> Config:
    return complete_config(override(small_config, {"model.rank": 4}))


@pytest.fixture
def saved(small_graph: Graph, config: Config, tmp_path: Path) -> Path:
    """A checkpoint with the state of an optimiser."""
    model = new_model(config, small_graph)
    save_checkpoint(tmp_path / "last.safetensors", model, build_optimizer(config.training, model), Progress(2))
    return tmp_path / "last.safetensors"


def rewrite(path: Path, name: str, tensor: torch.Tensor) -> None:
    """Replace a tensor and the hash, as someone would who knows the format."""
    tensors, progress = read_checkpoint(path)
    text = json.dumps(progress.__dict__)
    tensors = {key: value.clone() for key, value in tensors.items()} | {name: tensor}
    metadata = {"progress": text, "sha256": digest(tensors, text)}
    path.write_bytes(safetensors.torch.save(tensors, metadata))


def load(path: Path, config: Config, graph: Graph) -> None:
    check_checkpoint(path, config, graph)
    model = new_model(config, graph)
    load_checkpoint(path, model, build_optimizer(config.training, model))


def test_every_flipped_byte_is_refused(saved: Path, small_graph: Graph, config: Config):
    content = saved.read_bytes()
    load(saved, config, small_graph)
    draw = np.random.default_rng(0)
    header = 8 + struct.unpack("<Q", content[:8])[0]
    places = [*range(0, header, 23), *draw.integers(header, len(content), 60).tolist()]
    for place in places:
        saved.write_bytes(
            content[:place] + bytes([content[place] ^ (1 << int(draw.integers(8)))]) + content[place + 1 :]
        )
        with pytest.raises(RunError, match=r"last\.safetensors: "):
            load(saved, config, small_graph)
    for length in (0, 7, header, len(content) - 1):
        saved.write_bytes(content[:length])
        with pytest.raises(RunError, match=r"last\.safetensors: damaged checkpoint"):
            load(saved, config, small_graph)


@pytest.mark.parametrize("name", ["model.event.entities", "optimizer.0.sum"])
@pytest.mark.parametrize("type_", [torch.int64, torch.int32, torch.bool, torch.float16, torch.float64])
def test_weights_of_another_type_are_refused(saved: Path, small_graph: Graph, config: Config, type_, name: str):
    tensor = read_checkpoint(saved)[0][name]
    rewrite(saved, name, tensor.to(type_))
    message = rf"last\.safetensors: the weights do not fit .*{name.removeprefix('model.')} is .* and not F32"
    with pytest.raises(RunError, match=message):
        load(saved, config, small_graph)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["model.event.entities", "optimizer.0.sum"])
def test_values_that_are_no_finite_numbers_are_refused(
    saved: Path, small_graph: Graph, config: Config, value: float, name: str
):
    tensor = read_checkpoint(saved)[0][name].clone()
    tensor[0, 0] = value
    rewrite(saved, name, tensor)
    with pytest.raises(
        RunError, match=rf"last\.safetensors: damaged checkpoint \({name} has values that are not finite"
    ):
        load(saved, config, small_graph)


@pytest.mark.parametrize("name", ["model.event.more", "optimizer.99.sum", "optimizer.0.more", "more"])
def test_a_tensor_that_no_model_has_is_refused(saved: Path, small_graph: Graph, config: Config, name: str):
    rewrite(saved, name, torch.zeros(2))
    with pytest.raises(RunError, match=rf"{name.removeprefix('model.')} is F32 \[2\] and not there"):
        load(saved, config, small_graph)


def test_a_checkpoint_of_an_earlier_version_names_the_upgrade(saved: Path, small_graph: Graph, config: Config):
    tensors, progress = read_checkpoint(saved)
    saved.write_bytes(safetensors.torch.save(tensors, {"progress": json.dumps(progress.__dict__)}))
    with pytest.raises(RunError, match=r"last\.safetensors: has no hash; an earlier version wrote it: foretime"):
        load(saved, config, small_graph)


def test_what_a_header_or_a_configuration_claims_is_not_allocated(
    saved: Path, small_graph: Graph, config: Config, tmp_path: Path
):
    """Both ask for tens of gigabytes; the file is even as long as its header says, and the disk keeps nothing of it."""
    many = 2_000_000_000
    header = json.dumps(
        {"model.event.entities": {"dtype": "F32", "shape": [many, 8], "data_offsets": [0, 32 * many]}}
    ).encode()
    huge = tmp_path / "huge.safetensors"
    with huge.open("wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header)
        stream.truncate(8 + len(header) + 32 * many)
    wide = override(config, {"model.rank": 10_000})
    named = small_graph.entities.names
    many_names = type(small_graph.entities)("entity", [*named, *(f"name {n}" for n in range(300_000))])
    grown = Graph(
        small_graph.name, many_names, small_graph.predicates, small_graph.timeline,
        small_graph.train, small_graph.valid, small_graph.test,
    )  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for path, own, graph in ((huge, config, small_graph), (saved, wide, grown)):
        with pytest.raises(RunError, match=r"safetensors: the weights do not fit the run's configuration"):
            check_checkpoint(path, own, graph)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


@pytest.mark.parametrize("name", [name for name in MODELS if name != "rules"])
def test_every_model_has_its_shapes_without_memory(name: str):
    sizes, config = Sizes(5, 4, 3), ModelConfig(name=name)
    with torch.device("meta"):
        outline = build_model(config, sizes, torch.Generator("cpu"))
    assert {value.device.type for value in outline.state_dict().values()} == {"meta"}
    assert forms_of(outline.state_dict()) == forms_of(build_model(config, sizes, torch.Generator()).state_dict())
