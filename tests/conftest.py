"""What several tests share: a small graph, a small trained run, and where the real data is."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from compiling import compile_once
from foretime.config import Config, override
from foretime.data.graph import Graph, read_graph

# how long an example takes, or making one, says nothing where other programs use the machine too
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if "PYTEST_XDIST_WORKER" not in os.environ:  # no other process runs the tests
        yield
        return
    folder = tmp_path_factory.getbasetemp().parent / "kernels"
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        compile_once(folder, patch)
        yield


def small_rows(facts: int = 600, seed: int = 0) -> list[tuple[str, str, str, str]]:
    """Events that can be learned: each subject visits its own two hosts, in turn by month."""
    generator = np.random.default_rng(seed)
    rows = {}
    for _ in range(4 * facts):
        subject, day = int(generator.integers(12)), int(generator.integers(300))
        verb = ("visits", "praises", "sues")[subject % 3]
        host = (subject + 1 + (day // 30) % 2 + int(generator.random() < 0.1)) % 12
        date = np.datetime64("2020-01-01") + day
        rows[f"state {subject}", verb, f"state {host}", str(date)] = None
    return list(rows)[:facts]


def write_rows(path: Path, rows: list[tuple[str, ...]]) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def small_graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return read_graph(write_rows(tmp_path_factory.mktemp("graph") / "events.tsv", small_rows()))


@pytest.fixture(scope="session")
def small_config() -> Config:
    return override(
        Config(),
        {
            "model.name": "lcge",
            "model.rank": 8,
            "training.epochs": 6,
            "training.batch_size": 100,
            "training.valid_every": 2,
            "training.threads": 1,
        },
    )


@pytest.fixture(scope="session")
def small_run(small_graph: Graph, small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from foretime.runs.life import train

    return train(small_graph, small_config, tmp_path_factory.mktemp("runs") / "small").path


@pytest.fixture(scope="session")
def evidence_run(small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with evidence of every family on a small built-in world."""
    from foretime.data.synthetic import generate_world
    from foretime.runs.life import train

    folder = tmp_path_factory.mktemp("evidence")
    settings = {"evidence.use": True, "model.rank": 4, "training.epochs": 1, "training.batch_size": 200}
    settings |= {"training.valid_every": 1, "rules.support": 2, "rules.static_support": 3}
    return train(
        read_graph(generate_world(1500).write(folder / "world")), override(small_config, settings), folder / "run"
    ).path


@pytest.fixture(scope="session")
def real_data() -> Path:
    folder = Path(os.environ.get("FORETIME_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no benchmark data in {folder}; set FORETIME_DATA to a folder that has it")
    return folder
