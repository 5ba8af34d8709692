"""Updates survive SIGKILL at any moment: there is never half an update, and what was reported is there."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from living_runs import assert_same, built_anew, copied, drawn_rows
from reranked_runs import Reranked, interval_graph

from foretime.config import Config
from foretime.errors import RunError
from foretime.inference.run import Run
from foretime.runs.life import train
from foretime.runs.updates import UpdateLog

WRITER = """
import json, sys
from foretime.inference.run import Run
run, parts = Run(sys.argv[1]), json.loads(sys.argv[2])
print("ready", flush=True)
for rows in parts:
    if rows is None:
        print("undo", run.undo_update() is not None, flush=True)
    else:
        print("added", run.update(rows).number, flush=True)
"""


@pytest.fixture(scope="module", params=["points", "intervals"])
def trained(request, reranked: dict[str, Reranked], reranked_config: Config, tmp_path_factory) -> Path:
    if request.param == "points":
        return reranked["fold"].run.path
    folder = tmp_path_factory.mktemp("lands")
    return train(interval_graph(folder / "lands.tsv"), reranked_config, folder / "run").path


def kill_while_it_writes(run: Path, parts: list, after: float) -> list[str]:
    import json

    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(run), json.dumps(parts)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    time.sleep(after)
    os.kill(writer.pid, signal.SIGKILL)
    said = writer.stdout.read().splitlines()
    writer.wait()
    return said


def test_a_writer_that_is_killed_leaves_whole_updates_and_what_it_has_reported(trained: Path, tmp_path: Path):
    draw, moments = np.random.default_rng(1), random.Random(1)
    run = Run(copied(trained, tmp_path / "run"))
    for round_ in range(3):
        parts: list = []
        for _ in range(30):
            parts += [drawn_rows(run, draw, 5), None] if draw.random() < 0.3 else [drawn_rows(run, draw, 5)]
        before = len(UpdateLog(run.path, run.graph.timeline).read())
        said = kill_while_it_writes(run.path, parts, moments.uniform(0.0, 0.15))
        found = UpdateLog(run.path, run.graph.timeline).read()
        reported = sum(1 if line.startswith("added") else -1 for line in said if "None" not in line)
        # what it was doing when it was killed may be done or not, but never in part
        assert abs(len(found) - (before + reported)) <= 1, round_
        for update, events in found:
            assert update.events == len(events)
    held = [events for _, events in UpdateLog(run.path, run.graph.timeline).read()]
    rows = [list(zip(e.subject, e.predicate, e.object, *times(run, e), strict=True)) for e in held]
    assert_same(Run(run.path).predictor, built_anew(run, rows), 2, explained=1)


def times(run: Run, events) -> list[list[str]]:
    """The times of events as texts: one column, or two where there are intervals."""
    from foretime.data.times import NO_TICK, tick_text

    unit = run.graph.timeline.unit
    columns = [events.start, events.end] if run.graph.has_intervals else [events.start]
    return [["" if tick == NO_TICK else tick_text(tick, unit) for tick in column.tolist()] for column in columns]


def test_writers_take_turns_and_nothing_is_lost(trained: Path, tmp_path: Path):
    import json

    run = Run(copied(trained, tmp_path / "run"))
    draws = [drawn_rows(run, np.random.default_rng(seed), 6) for seed in range(4)]
    command = [sys.executable, "-c", WRITER, str(run.path)]
    writers = [
        subprocess.Popen([*command, json.dumps([draws[i], draws[i + 1]])], stdout=subprocess.DEVNULL) for i in (0, 2)
    ]
    assert [writer.wait(300) for writer in writers] == [0, 0]
    numbers = [update.number for update in run.updates]
    assert numbers == sorted(set(numbers))
    added = {row for part in draws for row in part} - set(run.graph.rows("train"))
    assert sum(update.events for update in run.updates) == len(added)


def test_a_damaged_update_is_named_with_a_remedy(trained: Path, tmp_path: Path):
    run = Run(copied(trained, tmp_path / "run"))
    run.update(drawn_rows(run, np.random.default_rng(3), 4))
    file = run.path / "updates" / "000001.jsonl"
    whole = file.read_bytes()
    for content in (whole[:-5], whole.replace(b'"format": 2', b'"format": 1'), b"", whole[: len(whole) // 3]):
        file.write_bytes(content)
        with pytest.raises(RunError, match=r"000001\.jsonl: damaged: .*000001\.undone\.jsonl"):
            Run(run.path).predictor  # noqa: B018
    shutil.move(file, file.with_name("000001.undone.jsonl"))
    assert Run(run.path).updates == []
