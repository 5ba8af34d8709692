"""Files of a run that are damaged or gone: what is wrong is told, with the place and what to do."""

import shutil
from pathlib import Path

import pytest
from benchmarks.paper.audit import audit

from foretime.config import Config, override
from foretime.data.graph import Graph
from foretime.errors import Interrupted, RunError
from foretime.inference.predictor import Predictor
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume
from interruptions import StopAfter

GOOD = '{"epoch": 1, "seconds": 0.5, "loss": 2.0}\n'


@pytest.fixture
def copy(small_run: Path, tmp_path: Path) -> RunFolder:
    return RunFolder(shutil.copytree(small_run, tmp_path / "copy"))


@pytest.mark.parametrize(
    "line",
    [
        b'{"epoch": 1, xx}',
        b'{"epoch": 1',
        b"\xff\xfe}",
        b"\x00\x01\x02",
        b"[1, 2]",
        b"7",
        b'{"seconds": 0.5}',
        b'{"epoch": 1}',
        b'{"epoch": "1", "seconds": 0.5}',
        b'{"epoch": 1, "seconds": 0.5, "valid_mrr": null}',
    ],
)
def test_a_line_that_is_none_of_a_trace_is_named(tmp_path: Path, line: bytes):
    run = RunFolder(tmp_path)
    for content, number in ((line + b"\n", 1), (GOOD.encode() + line + b"\n" + GOOD.encode(), 2)):
        run.trace_file.write_bytes(content)
        with pytest.raises(RunError, match=rf"trace\.jsonl:{number}: not a line of a trace; fix the line or remove it"):
            run.trace()


def test_a_file_of_something_else_is_no_trace(tmp_path: Path):
    run = RunFolder(tmp_path)
    run.trace_file.write_bytes(b"\x89PNG\n\x1a\n")
    with pytest.raises(RunError, match=r"trace\.jsonl:1: not a line of a trace"):
        run.trace()


@pytest.mark.parametrize("half", [GOOD[:cut] for cut in (0, 1, 10, len(GOOD) - 2)])
def test_half_a_line_at_the_end_is_still_being_written(tmp_path: Path, half: str):
    run = RunFolder(tmp_path)
    assert run.trace() == []
    run.trace_file.write_text(GOOD + half)
    assert [line["epoch"] for line in run.trace()] == [1]
    run.trace_file.write_text(GOOD + GOOD.strip())  # all but the end of the line
    assert len(run.trace()) == 2
    run.trace_file.write_bytes(GOOD.encode() + bytes(40))  # as some file systems leave it after a power cut
    assert len(run.trace()) == 1


def test_training_does_not_go_on_with_a_damaged_trace(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = create_run(small_graph, small_config, tmp_path / "run")
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(12))
    run.trace_file.write_text("no trace\n")
    with pytest.raises(RunError, match=r"trace\.jsonl:1: not a line of a trace"):
        resume(run.path)


@pytest.mark.parametrize("name", ["x", "", "1.5", "-2", "²"])
def test_an_earlier_report_with_a_wrong_name_is_told(copy: RunFolder, name: str):
    copy.earlier_report_file(0).with_name(f"report-after-{name}.json").write_text("{}")
    with pytest.raises(RunError, match=rf"report-after-{name}\.json: not the name of an earlier report; name it after"):
        copy.tested_before()


@pytest.mark.parametrize("content", [b"{", b"", b"[]", b"3", b"\xff\xfe\x00"])
def test_an_earlier_report_that_is_damaged_is_told_before_test_is_ranked(copy: RunFolder, content: bytes):
    copy.earlier_report_file(4).write_bytes(content)
    copy.report_file.unlink()
    with pytest.raises(
        RunError, match=r"report-after-4\.json: damaged report \(.+\); restore the file, or remove it if"
    ):
        resume(copy.path)


@pytest.mark.parametrize("content", [b"{", b"[]", b"null", b"\xff\xfe\x00"])
def test_a_report_that_is_damaged_is_told(copy: RunFolder, content: bytes):
    copy.report_file.write_bytes(content)
    with pytest.raises(
        RunError, match=r"report\.json: damaged report \(.+\); write it again with foretime train --resume"
    ):
        copy.report()


def test_the_last_weights_never_stand_for_the_best_that_are_gone(copy: RunFolder):
    copy.best_file.unlink()
    for read in (Predictor.open, audit, lambda run: resume(run.path)):
        with pytest.raises(RunError, match=r"best\.safetensors: missing, though manifest\.json lists it; restore it"):
            read(copy)
    copy.report_file.unlink()
    copy.manifest_file.unlink()  # now it is a run that is not finished
    message = (
        r"best\.safetensors: no such file, and the weights that the run had chosen, of epoch \d, were in it; restore"
    )
    for read in (Predictor.open, lambda run: resume(run.path)):
        with pytest.raises(RunError, match=message):
            read(copy)


def test_a_training_whose_best_weights_are_gone_does_not_go_on(
    small_graph: Graph, small_config: Config, tmp_path: Path
):
    run = create_run(small_graph, override(small_config, {"training.valid_every": 1}), tmp_path / "run")
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(16))
    before = run.last_file.read_bytes()
    run.best_file.unlink()
    with pytest.raises(RunError, match=r"best\.safetensors: no such file"):
        resume(run.path)
    assert run.last_file.read_bytes() == before


def test_before_valid_is_ranked_the_last_weights_answer(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = create_run(small_graph, small_config, tmp_path / "run")
    with pytest.raises(Interrupted):
        resume(run.path, StopAfter(3))
    assert not run.best_file.exists()
    assert Predictor.open(run).calibrations["time"].kinds[0].temperature == 1.0
