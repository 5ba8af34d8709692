"""Which device is used, and what is said of one that is not there."""

import re

import pytest
import torch

import foretime as ft
from foretime.config import Config, override
from foretime.devices import CPU, device_here, device_text, find_device, widest
from foretime.errors import ConfigError
from foretime.training.precision import has_bfloat16, precision_warning


def cuda_there(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let torch see so many CUDA devices."""
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Some GPU")


def without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda_there(monkeypatch, 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


def test_auto_is_cuda_then_mps_then_the_cpu(monkeypatch: pytest.MonkeyPatch):
    without_any(monkeypatch)
    assert find_device("auto") == CPU
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert find_device("auto") == find_device("mps") == torch.device("mps")
    cuda_there(monkeypatch, 2)
    assert find_device("auto") == find_device("cuda") == torch.device("cuda", 0)
    assert find_device("cuda:1") == torch.device("cuda", 1)
    assert device_text(find_device("cuda:1")) == "cuda:1 (Some GPU)"
    assert device_here("cuda:1") == "cuda:1"


@pytest.mark.parametrize(
    ("name", "build", "count", "said"),
    [
        ("cuda", None, 0, "is a build without CUDA; install one with it (https://pytorch.org"),
        ("cuda:1", "13.0", 0, "is built for CUDA 13.0 and sees no such device; look at nvidia-smi"),
        ("cuda:2", "13.0", 2, "torch sees cuda:0 (Some GPU), cuda:1 (Some GPU); take one of these, or auto"),
        ("mps", None, 0, "is a build without MPS, which only macOS has; take the device cpu"),
    ],
)
def test_a_device_that_is_not_there_is_an_error_with_the_remedy(name, build, count, said, monkeypatch):
    without_any(monkeypatch)
    cuda_there(monkeypatch, count)
    monkeypatch.setattr(torch.version, "cuda", build)
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: False)
    with pytest.raises(ConfigError, match=f'^device "{name}" is not there: .*{re.escape(said)}'):
        find_device(name)
    assert device_here(name) == "auto"


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cpu:1", "", "CUDA", "meta"])
def test_a_device_has_one_of_the_names(name: str):
    with pytest.raises(ConfigError, match=r"^no device has the name .*; write auto, cpu, cuda, cuda:N"):
        find_device(name)
    with pytest.raises(ConfigError, match=r"training\.device.*auto, cpu, cuda, cuda:N \(as in cuda:1\) or mps"):
        override(Config(), {"training.device": name})


def test_a_training_on_a_device_that_is_not_there_does_not_begin(small_graph, tmp_path, monkeypatch):
    without_any(monkeypatch)
    with pytest.raises(ConfigError, match=r'^device "cuda:3" is not there'):
        ft.train(small_graph, model="complex", device="cuda:3", folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_bfloat16_is_asked_of_the_device(monkeypatch: pytest.MonkeyPatch):
    cuda_there(monkeypatch, 1)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    config = override(Config(), {"training.precision": "bfloat16", "training.device": "cuda"}).training
    assert not has_bfloat16(find_device("cuda"))
    assert str(precision_warning(config)).startswith("cuda:0 (Some GPU) has no instructions for bfloat16")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert precision_warning(config) is None


def test_mps_has_no_double_precision():
    assert [widest(torch.device(kind)) for kind in ("cpu", "cuda", "mps")] == [
        torch.float64, torch.float64, torch.float32,
    ]  # fmt: skip
