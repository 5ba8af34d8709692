"""Files of a run by somebody who has made every hash fit: values that no training writes are refused."""

import json
import resource
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

import foretime as ft
from foretime.data.saved_facts import SavedCounts, read_saved_facts
from foretime.errors import RunError
from foretime.files import json_bytes
from foretime.inference.agenda.maker import _digest, _kept
from foretime.inference.agenda.model import ASKED_COLUMNS, RATES_COLUMNS, WINDOW_COLUMNS, AgendaModel
from foretime.reranker.slots.softmax import PredicateSoftmax, load_softmaxes, save_softmaxes
from foretime.reranker.tree_files import read_trees
from foretime.runs.finish import calibrations_in
from foretime.runs.folder import RunFolder
from foretime.runs.loading import read_max_gap
from foretime.runs.manifest import read_manifest
from foretime.training.checkpoint import read_checkpoint
from foretime.training.weights import forms_in

HUGE = 10**400
"""More than a number of the machine can hold; JSON writes it out."""
MOST_MB = 256


@pytest.fixture(scope="module")
def report(small_run: Path) -> dict[str, Any]:
    return RunFolder(small_run).report()


def test_the_calibration_of_a_report_is_taken_as_it_was_written(report: dict[str, Any]):
    assert calibrations_in(json.loads(json.dumps(report))) is not None


@pytest.mark.parametrize("number", [HUGE, -HUGE, float("nan"), float("inf"), 0, -1, "1", None, [1.0], {}])
def test_a_temperature_that_is_none_is_no_calibration(report: dict[str, Any], number: object):
    for change in (
        lambda one: one["kinds"][0].update(temperature=number),
        lambda one: one.update(rest_temperature=number),
        lambda one: one.update(ceiling=number),
    ):
        changed = json.loads(json.dumps(report))
        change(changed["calibration"]["object"])
        assert calibrations_in(changed) is None


@pytest.mark.parametrize("kinds", [0, 1, 100])
def test_a_calibration_of_fewer_or_more_kinds_than_there_are_is_none(report: dict[str, Any], kinds: int):
    changed = json.loads(json.dumps(report))
    changed["calibration"]["object"]["kinds"] = [changed["calibration"]["object"]["kinds"][0]] * kinds
    assert calibrations_in(changed) is None


REPORTS: dict[str, dict[str, Any]] = {
    "a list for a split": {"valid": [1]},
    "a word for a split": {"valid": "x"},
    "a split of nothing": {"valid": {"all": {}}},
    "numbers as words": {"training_seconds": "x", "parameters": []},
    "no time": {"training_seconds": None},
    "too large": {"training_seconds": HUGE},
}


@pytest.mark.parametrize("what", REPORTS)
def test_a_report_that_says_something_else_is_told(small_run: Path, tmp_path: Path, what: str):
    run = RunFolder(shutil.copytree(small_run, tmp_path / "run"))
    run.write_report(run.report() | REPORTS[what])
    opened = ft.open_run(run.path)
    with pytest.raises(RunError, match=r"report\.json: damaged report \(.*\); remove it, and foretime train --resume"):
        _ = [opened.summary, opened.metrics, opened.evaluations]


@pytest.mark.parametrize("gap", [HUGE, 10**7, 0, -1, True, 1.5, "3", [3]])
def test_a_gap_that_no_timeline_has_is_refused(tmp_path: Path, gap: object):
    (tmp_path / "gap.json").write_text(json.dumps({"max_gap": gap}))
    with pytest.raises(RunError, match=r"gap\.json: (max_gap is .*; write a number of steps|cannot be read)"):
        read_max_gap(tmp_path / "gap.json")


@pytest.mark.parametrize(
    "words", ["; rm -rf ~", "--epochs 3; reboot", "--epochs ³", "--epochs 3\n", "--epochs " + "9" * 99]
)
def test_a_command_that_a_message_would_show_is_one_of_ours(tmp_path: Path, words: str):
    file = tmp_path / "manifest.json"
    for changing in ("", "--epochs 3"):
        file.write_bytes(json_bytes({"format": 1, "changing": changing, "files": {}}))
        found = read_manifest(tmp_path)
        assert found is not None
        assert found.changing == changing
    file.write_bytes(json_bytes({"format": 1, "changing": words, "files": {}}))
    with pytest.raises(RunError, match=r"manifest\.json: damaged \(changing is not a command\)"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(4, 3),
        torch.zeros(4, 3, dtype=torch.int64),
        torch.zeros(4, 3, dtype=torch.complex64),
        torch.full((4, 3), float("nan"), dtype=torch.float16),
        torch.full((4, 3), float("inf"), dtype=torch.float16),
        torch.zeros(3, 4, dtype=torch.float16),
    ],
)
def test_weights_of_the_softmax_are_finite_halves(tmp_path: Path, tensor: torch.Tensor):
    file = tmp_path / "slots.safetensors"
    save_softmaxes(file, {"softmax": PredicateSoftmax(torch.ones(4, 3))})
    assert load_softmaxes(file, {"softmax": (4, 3)})["softmax"].weights.sum() == 12
    file.write_bytes(safetensors.torch.save({"softmax": tensor}))
    with pytest.raises(RunError, match=r"slots\.safetensors: damaged: .*; delete it"):
        load_softmaxes(file, {"softmax": (4, 3)})


CHANGED: dict[str, dict[str, Any]] = {
    "no number": {"window": dict.fromkeys(WINDOW_COLUMNS, float("nan"))},
    "too large": {"rates": dict.fromkeys(RATES_COLUMNS, HUGE)},
    "a list": {"asked": [0.0] * len(ASKED_COLUMNS)},
    "endless": {"longest": HUGE},
    "of no step": {"longest": 0},
    "in letters": {"longest": "7"},
    "of one day": {"days": ["2020-01-01"]},
    "of numbers": {"days": [1, 2]},
    "of no days": {"days": None},
}


@pytest.mark.parametrize("what", CHANGED)
def test_an_agenda_that_cannot_be_is_fitted_anew(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch):
    zeros = [np.zeros(len(columns)) for columns in (RATES_COLUMNS, ASKED_COLUMNS, WINDOW_COLUMNS)]
    model, file = AgendaModel(*zeros, 7, ("2020-01-01", "2020-01-31")), tmp_path / "agenda.json"
    values = model.to_dict() | {"report": "of it", "sha256": _digest(model)}
    file.write_text(json.dumps(values))
    assert _kept(file, "of it") is not None
    # whatever the values are, the digest is theirs
    monkeypatch.setattr("foretime.inference.agenda.maker._digest", lambda _: values["sha256"])
    file.write_text(json.dumps(values | CHANGED[what]))
    assert _kept(file, "of it") is None


def tensors(header: object) -> bytes:
    """A file of tensors with this header, and 64 bytes behind it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(64)


def one(shape: list[int], offsets: list[int], dtype: str = "F32") -> bytes:
    return tensors({"model.weights": {"dtype": dtype, "shape": shape, "data_offsets": offsets}})


HEADERS: dict[str, bytes] = {
    "a header longer than the file": struct.pack("<Q", 2**63) + b"{}",
    "a header of four gigabytes": struct.pack("<Q", 2**32) + b"{}",
    "no header": b"",
    "more values than there are bytes": one([2**20, 2**20], [0, 2**42]),
    "more values than can be counted": one([2**62, 2**62], [0, 64]),
    "a shape of no values that overflows": one([2**63 - 1, 2**63 - 1, 0], [0, 0]),
    "a negative shape": one([-1, 16], [0, 64]),
    "a place that is not in the file": one([16], [2**40, 2**40 + 64]),
    "an end before the beginning": one([16], [64, 0]),
    "an unknown type": one([16], [0, 64], "F7"),
    "a header that is nested deeply": tensors(b'{"a": ' + b"[" * 100_000),
    "nested values that end": tensors(b'{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"),
    "a header that is a list": tensors([]),
}
READERS: dict[str, Callable[[Path], object]] = {
    "facts": lambda path: read_saved_facts(path, SavedCounts(4, 2, 10)),
    "checkpoint": read_checkpoint,
    "forms": forms_in,
    "trees": lambda path: read_trees(path, "reranker"),
    "softmax": lambda path: load_softmaxes(path, {"model.weights": (4, 4)}),
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_header_that_claims_what_is_not_there_takes_no_memory(tmp_path: Path, what: str):
    file = tmp_path / "hostile.safetensors"
    file.write_bytes(HEADERS[what])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, read in READERS.items():
        # facts are read within `Graph.load`, which makes a `RunError` of these
        with pytest.raises((RunError, safetensors.SafetensorError, ValueError, KeyError)):
            pytest.fail(f"{name} has read {read(file)}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MB << 10
