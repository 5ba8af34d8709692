"""Two small runs, and services of them: one in this process, and real ones in processes of their own."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from live_service import Live, Process

from foretime.service.settings import Settings


@pytest.fixture(scope="session")
def runs_folder(evidence_run: Path, small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the finished runs `world` (with evidence) and `small` (without)."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(evidence_run, folder / "world")
    shutil.copytree(small_run, folder / "small")
    return folder


@pytest.fixture(scope="session")
def live(runs_folder: Path) -> Iterator[Live]:
    with Live([runs_folder], Settings(port=0, load_seconds=0)) as running:
        yield running


@pytest.fixture
def live_with(runs_folder: Path) -> Iterator[Callable[..., Live]]:
    """Starts a service with other settings or folders, which ends with the test; runs are loaded without a trial."""
    running: list[Live] = []

    def start(folders: list[Path] | None = None, **settings: object) -> Live:
        own: dict[str, Any] = {"port": 0, "load_seconds": 0, **settings}
        found = Live(folders or [runs_folder / "small"], Settings(**own))
        running.append(found)
        return found.__enter__()

    yield start
    for one in running:
        one.__exit__()


@pytest.fixture
def process(runs_folder: Path) -> Iterator[Callable[..., Process]]:
    """Starts `foretime serve` in a process of its own, which is ended with the test."""
    running: list[Process] = []

    def start(*flags: object, **environment: str) -> Process:
        running.append(Process(runs_folder / "world", *flags, **environment))
        return running[-1]

    yield start
    for one in running:
        one.end()
