"""Trainings of one run side by side, each in a process of its own that tells by lines of JSON how it goes on."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from typing import Any, TypeAlias

from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.errors import ForetimeError, Interrupted, RunError
from foretime.training.listeners import Listener, Plan
from foretime.training.runs import RunFolder
from foretime.training.stages import Stage, is_finished, stages_of

Heard: TypeAlias = "queue.Queue[tuple[Worker, dict[str, Any] | None]]"
"""Who says something, and what: the record of an epoch, nothing when it has ended."""
WORKER = "foretime.training.worker"
SECONDS_BETWEEN_LOOKS = 0.2
"""How long nothing is heard before it is asked whether to stop."""


def train_side_by_side(run: RunFolder, config: Config, dataset: Dataset, listener: Listener, jobs: int) -> None:
    """Train every stage of a run that is not trained yet, `jobs` of them at a time, each with its share of threads."""
    left = [stage for stage in stages_of(config) if not is_finished(stage, run)]
    threads = max(1, config.training.threads // max(1, min(jobs, len(left))))
    heard: Heard = queue.Queue()
    working: list[Worker] = []
    all_epochs = len(stages_of(config)) * config.training.epochs
    done = all_epochs - len(left) * config.training.epochs
    listener.begin(Plan(all_epochs, 1, 2 * len(dataset.train), done + 1, 0, None))
    try:
        while left or working:
            working += [Worker(run, left.pop(0), threads, heard) for _ in range(min(jobs - len(working), len(left)))]
            if listener.stop_wanted():
                raise Interrupted("stopped")
            try:
                worker, record = heard.get(timeout=SECONDS_BETWEEN_LOOKS)
            except queue.Empty:
                continue
            if record is None:
                working.remove(worker)
                worker.check_end()
                continue
            done += 1
            listener.step(done, 1, sum(value for name, value in record.items() if name.endswith("loss")))
            listener.epoch(record)
    finally:
        for worker in working:
            worker.stop()
        for worker in working:
            worker.wait()
        listener.end()


class Worker:
    """A process that trains one stage."""

    def __init__(self, run: RunFolder, stage: Stage, threads: int, heard: Heard) -> None:
        """Start it; what it says, and at last nothing, is put into `heard`."""
        self.stage = stage
        self._fault = ""
        number = str(threads)
        self._process = subprocess.Popen(
            [sys.executable, "-m", WORKER, str(run.path), json.dumps(stage), number],
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for who has started it, who stops it in turn
            env=os.environ | {"OMP_NUM_THREADS": number, "NUMBA_NUM_THREADS": number},
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()

    def _listen(self, heard: Heard) -> None:
        for line in self._process.stdout or ():
            try:
                found = json.loads(line)
            except ValueError:  # some library has something to say
                sys.stderr.write(line)
                continue
            self._fault = found.pop("fault", "")
            if found:
                heard.put((self, {**found, "stage": self.stage.name}))
        heard.put((self, None))

    def check_end(self) -> None:
        """Raise an error if it has not come to the end of its training."""
        code = self.wait()
        if code == 0:
            return
        name = self.stage.name or "the first stage"
        if self._fault:
            raise ForetimeError(f"{name}: {self._fault}")
        how = f"was killed by signal {-code}, maybe for want of memory" if code < 0 else f"ended with exit code {code}"
        raise RunError(
            f"the training of {name} {how}; go on with foretime train --resume, with fewer --jobs if need be"
        )

    def stop(self) -> None:
        """Ask it to save its state and stop."""
        self._process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        """Wait until it has ended, and return its exit code."""
        return self._process.wait()
