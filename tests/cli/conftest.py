"""The command line as a function, and a file of events for it."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from foretime.cli import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Outcome]


@pytest.fixture
def foretime(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `main` as the shell would; an exception other than an exit is a traceback, and fails the test."""

    def run(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["foretime", *map(str, words)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code
        printed = capsys.readouterr()
        return Outcome(code if isinstance(code, int) else 0, printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = np.random.default_rng(5)
    first, rows = np.datetime64("2021-01-01"), {}
    for land, day in zip(generator.integers(8, size=300), generator.integers(60, size=300), strict=True):
        verb, host = "visits" if land % 2 else "sues", (land + 1 + day // 20) % 8
        rows[f"land {land}\t{verb}\tland {host}\t{first + day}"] = None
    path = tmp_path_factory.mktemp("events") / "events.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


QUICK = ("--rank", 4, "--epochs", 2, "--set", "training.valid_every=1", "--set", "training.threads=1")


@pytest.fixture
def quick() -> tuple[object, ...]:
    """The flags of a training that takes no time."""
    return QUICK
