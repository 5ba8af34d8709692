"""What goes wrong on the command line: exit 2, one message, no traceback; and Ctrl-C."""

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foretime.errors import Interrupted
from foretime.runs.folder import RunFolder
from foretime.runs.life import resume
from foretime.training.callbacks import TrainingPlan
from interruptions import StopAfter


@pytest.fixture(scope="module")
def words(small_run: Path, events: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the lines below name in braces."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "bad.tsv").write_text("a\tb\tc\t2020-01-01\na\tb\tc\n")
    (folder / "bad.toml").write_text("[training]\nepoch = 5\n")
    (folder / "q.tsv").write_text("subject\tpredicate\ttime\nChina\tpraises\t2020-03-01\n")
    return {"run": small_run, "events": events, "here": folder}


ASK = "predict {run} -s 'state 1' -p praises"
FAULTS = {
    "train": "name a graph: foretime train FOLDER_OR_FILE, or data.path in the configuration",
    "train {here}/none.tsv": r"none\.tsv: no such file or folder; give a path, or fetch a public graph",
    "train {here}/bad.tsv": r"bad\.tsv:2: expected 4 or 5 tab-separated fields, found 3; fix the row, or",
    "train {events} --model lgce": r"unknown model 'lgce'; the models are transe, .*; did you mean 'lcge'\?$",
    "train {events} --rank 0": r"model\.rank = 0: should be greater than or equal to 1",
    "train {events} --model complex --set model.commonsense_rank=2": r"unknown key model\.commonsense_rank",
    "train {events} --epochs 0": r"training\.epochs = 0: should be greater than or equal to 1",
    "train {events} --epochs many": "Invalid value for '--epochs'",
    "train {events} --set epochs=3": "'epochs' is not a setting; write section.key=value, as in training.epochs=20",
    "train {events} --set training.epochs": "'training.epochs' is not a setting; write section.key=value",
    "train {events} --set trainin.epochs=3": r"unknown section 'trainin'; did you mean 'training'\?",
    "train {events} --set training.learning_rat=3": r"unknown key training\.learning_rat; did you mean 'learning_rate'",
    "train {events} --columns subject": "--columns: 'subject' is not NAME=COLUMN; write subject=1,",
    "train {events} --granularity dai": r"unknown granularity 'dai'; did you mean 'day'\?",
    "train {events} --config {here}/bad.toml": r"bad\.toml: unknown key training\.epoch; did you mean 'epochs' or",
    "train {events} --config {here}/none.toml": r"none\.toml: no such configuration file",
    "train {events} --out {run}": "already holds a run; resume it with --resume",
    "train {events} --out {here}/bad.tsv": "is a file; name a folder for the run",
    "train {events} --out {here}/bad.tsv/run": r"bad\.tsv is a file; name a folder for the run",
    "data split {events} {here}/bad.tsv/out": r"error: .*bad\.tsv/out: Not a directory$",
    "data get icews15": r"unknown dataset 'icews15'; there are: icews14, .*; did you mean 'icews14'.* or .*\?$",
    "train --resume {here}/none": "none: no such run folder",
    "train --resume {here} --tensorboard": r"not a run folder, it has no config\.toml; name a folder that training",
    "train --resume {run} --rank 9": "--resume continues the run as it was configured; leave out the other",
    "train --resume {run} --epochs 2": r"\d epochs are trained already; name more than that",
    "train {events} --resume {run}": "--resume continues the run as it was configured",
    "train --resume {run} --set training.seed=3": "--resume continues the run as it was configured",
    "train --resume {run} --granularity month": "--resume continues the run as it was configured",
    "evaluate {here}/none": "none: no such run folder",
    "evaluate {run} --split tests": "Invalid value for '--split'",
    "evaluate {run} --filter all": "Invalid value for '--filter'",
    "predict {here} -s a -p b -t 2020-01-01": r"not a run folder, it has no config\.toml",
    "predict {run}": "subject, predicate, object and time are left open; give all of",
    ASK: "object and time are left open; give all of subject, predicate, object, time but one",
    f"{ASK} -o 'state 2' -t 2020-03-01": "nothing is left open; leave out the slot that you ask for",
    f"{ASK} -t 2031-01-01": "'2031-01-01' is not on the timeline, .*; ask for a time between these",
    f"{ASK} -t 2020-03-01 --start 2020-03-01": "give either a time, or a start and an end, not both",
    f"{ASK} -t 2020-03-01 --top 0": "top is 0; ask for at least 1 answer",
    "predict {run} -s 'state' -p praises -t 2020-03-01": r"unknown entity 'state'; did you mean 'state \d+'",
    "predict {run} --questions {here}/q.tsv": "--questions and --out go together",
    f"{ASK} --questions {{here}}/q.tsv --out {{here}}/a.tsv": "ask either by --questions, or by --subject",
    "predict {run} --questions {here}/q.tsv --out {here}/a.tsv": r"q\.tsv:2: unknown entity 'China'",
    "predict {run} --questions {here}/q.tsv --out {here}/a.xls": r"a\.xls: answers are written as \.tsv, \.csv",
    "demo {here}/demo --events 5": "events",
    "evaluat": "No such command",
    "train {events} --ranks 3": "No such option",
}


@pytest.mark.parametrize("line", FAULTS)
def test_every_fault_exits_with_2_and_says_what_is_wrong(foretime, words, line: str):
    outcome = foretime(*(word.format(**words) for word in shlex.split(line)))
    assert outcome.code == 2
    assert outcome.out == ""
    assert re.search(FAULTS[line], " ".join(outcome.err.split())), outcome.err
    assert not (words["here"] / "none").exists()
    assert not (words["here"] / "a.tsv").exists()
    assert not (words["here"] / "tensorboard").exists()


def test_a_fault_in_a_real_process_is_one_line_without_a_traceback(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "foretime", "train", str(tmp_path / "none.tsv"), "--model", "lgce"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: unknown model 'lgce'")
    assert len(done.stderr.splitlines()) == 1


def test_a_full_disk_is_an_error_of_one_line(foretime, words, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("foretime.data.graph.write_bytes", full)
    outcome = foretime("train", words["events"], "--out", words["here"] / "full", "--model", "complex")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1] == "error: No space left on device"


def test_ctrl_c_anywhere_else_is_one_word(foretime, words, monkeypatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("foretime.data.graph.read_graph", stop)
    outcome = foretime("data", "describe", words["events"])
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "stopped\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_to_stop_and_a_second_one_stops_at_once(number: signal.Signals):
    from foretime.cli.progress import TerminalProgress

    before, progress = signal.getsignal(number), TerminalProgress()
    progress.begin(TrainingPlan(epochs=2, steps=3, questions=10, epoch=1, step=0, best_mrr=None))
    try:
        assert not progress.stop_wanted()
        os.kill(os.getpid(), number)
        assert progress.stop_wanted()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    finally:
        progress.end()
    assert signal.getsignal(number) is before


def test_a_signal_in_the_middle_of_something_printed_prints_past_it(monkeypatch: pytest.MonkeyPatch, capfd):
    from foretime.cli import progress as module

    def print_once_more(*_: object, **__: object) -> None:
        raise ImportError("what it needs is just being imported")

    progress = module.TerminalProgress()
    progress.begin(TrainingPlan(epochs=2, steps=3, questions=10, epoch=1, step=0, best_mrr=None))
    try:
        monkeypatch.setattr(module.console, "print", print_once_more)
        os.kill(os.getpid(), signal.SIGTERM)
        assert progress.stop_wanted()
    finally:
        progress.end()
    assert capfd.readouterr().err == "stopping after this step; once more to stop at once\n"


def test_ctrl_c_while_training_says_how_to_go_on_and_leaves_a_run_that_can(events: Path, tmp_path: Path):
    run = tmp_path / "run"
    words = ["--rank", "4", "--epochs", "100000", "--set", "training.patience=100000", "--set", "training.threads=1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "foretime", "train", str(events), "--out", str(run), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 300
    while not (run / "best.safetensors").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert err.splitlines()[-1] == f"stopped; resume with foretime train --resume {run}"
    assert out == ""
    assert not RunFolder(run).report_file.exists()
    done = len(RunFolder(run).trace())
    assert done >= 5
    with pytest.raises(Interrupted):
        resume(run, StopAfter(0))
    assert len(RunFolder(run).trace()) >= done


def hear_ctrl_c() -> None:
    """Undo what a shell does to the commands that it puts into the background: they ignore Ctrl-C, and so do theirs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


SLOW_RANKING = """
import time
from foretime.cli import main
from foretime.runs import finish as conclusion

def evaluate_split(*_):
    open({sign!r}, "w").close()
    time.sleep(600)

conclusion.evaluate_split = evaluate_split
main()
"""


def test_ctrl_c_in_the_final_ranking_says_how_to_go_on(events: Path, tmp_path: Path, quick):
    run, sign = tmp_path / "run", tmp_path / "ranking"
    words = map(str, ["train", events, "--out", run, "--model", "complex", *quick])
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_RANKING.format(sign=str(sign)), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    )
    deadline = time.monotonic() + 300
    while not sign.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert err.splitlines()[-1] == f"stopped; resume with foretime train --resume {run}"


def test_a_download_that_fails_prints_the_error_alone(foretime, tmp_path: Path):
    outcome = foretime("data", "get", "icews14", "--folder", tmp_path, "--source", "ftp://nowhere")
    assert outcome.code == 2
    assert outcome.err.startswith("error: ftp://nowhere/icews14/")


TROUBLE = {
    "memory": (MemoryError(), "error: there is not enough memory"),
    "tensors": (
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
        "error: there is not enough",
    ),
    "depth": (
        RecursionError("maximum recursion depth exceeded"),
        "error: something that was given is nested too deeply",
    ),
    "text": (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"), "error: a text that was given is not valid UTF-8"),
}


@pytest.mark.parametrize("what", TROUBLE)
def test_what_python_raises_of_what_is_too_large_is_an_error_of_one_line(foretime, words, monkeypatch, what: str):
    raised, message = TROUBLE[what]

    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr("foretime.data.graph.read_graph", fail)
    outcome = foretime("data", "describe", words["events"])
    assert outcome.code == 2
    assert outcome.err.startswith(message)
    assert len(outcome.err.splitlines()) == 1
