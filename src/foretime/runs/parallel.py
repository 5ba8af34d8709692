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
from foretime.data.graph import Graph
from foretime.errors import ForetimeError, Interrupted, RunError
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job, jobs_left, jobs_of
from foretime.training.callbacks import Callback, Plan

Heard: TypeAlias = "queue.Queue[tuple[Worker, dict[str, Any] | None]]"
"""Who says something, and what: the record of an epoch, nothing when it has ended."""
SECONDS_BETWEEN_LOOKS = 0.2
"""How long nothing is heard before it is asked whether to stop."""
STOPPED = (0, 130, -signal.SIGTERM)
"""How a process ends that was asked to stop: with its training, after a step, or before it had begun."""


def train_in_parallel(
    run: RunFolder, config: Config, graph: Graph, callback: Callback, jobs: int, lock: int | None = None
) -> None:
    """Train every stage of a run that is not trained yet, `jobs` of them at a time, each with its share of threads.

    `lock` is that of `RunFolder.held`.
    """
    left, whole = jobs_left(run, config), len(jobs_of(config)) * config.training.epochs
    threads = threads_of_each(config, jobs)
    working: list[Worker] = []
    heard: Heard = queue.Queue()
    done, stopping = whole - len(left) * config.training.epochs, False
    callback.begin(Plan(whole, 1, 2 * len(graph.train), done + 1, 0, None))
    try:
        while working or (left and not stopping):
            while left and len(working) < jobs and not stopping:
                working.append(Worker(run, left.pop(0), threads, heard, lock))
            if not stopping and callback.stop_wanted():
                stopping = True
                for worker in working:
                    worker.stop()
            try:
                worker, record = heard.get(timeout=SECONDS_BETWEEN_LOOKS)
            except queue.Empty:
                continue
            if record is None:
                working.remove(worker)
                worker.check_end(STOPPED if stopping else (0,))
                continue
            done += 1
            callback.step(done, 1, sum(value for name, value in record.items() if name.endswith("loss")))
            callback.epoch(record)
    finally:
        try:
            _end_all(working)
        finally:
            callback.end()
    if stopping:
        raise Interrupted("stopped")


def threads_of_each(config: Config, jobs: int) -> int:
    """Return how many threads each training has: as many whenever a run goes on, for the same weights."""
    return max(1, config.training.threads // min(jobs, len(jobs_of(config))))


def _end_all(workers: list[Worker]) -> None:
    """Let what still works, after one has failed, save its state and end; at once if Ctrl-C comes meanwhile."""
    for worker in workers:
        worker.stop()
    try:
        for worker in workers:
            worker.wait()
    except KeyboardInterrupt:
        for worker in workers:
            worker.kill()
        raise


class Worker:
    """A process that trains one stage."""

    def __init__(self, run: RunFolder, stage: Job, threads: int, heard: Heard, lock: int | None = None) -> None:
        """Start it; what it says, and at last nothing, is put into `heard`."""
        self.stage = stage
        self._run, self._fault = run, ""
        number = str(threads)
        passed = () if lock is None else (lock,)  # it may outlive who has started it, and holds the folder till then
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "foretime.runs.worker",
                str(run.path),
                json.dumps(stage),
                number,
                str(os.getpid()),
            ],
            stdout=subprocess.PIPE,
            pass_fds=passed,
            start_new_session=True,  # Ctrl-C is for who has started it, who stops it in turn
            env=os.environ | {"OMP_NUM_THREADS": number, "NUMBA_NUM_THREADS": number},
            encoding="utf-8",
            errors="replace",
        )
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()

    def _listen(self, heard: Heard) -> None:
        try:
            for line in self._process.stdout or ():
                self._hear(line, heard)
        finally:
            heard.put((self, None))

    def _hear(self, line: str, heard: Heard) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):  # some library has something to say
            sys.stderr.write(line)
        elif "fault" in found:
            self._fault = found["fault"]
        else:
            heard.put((self, {**found, "stage": self.stage.name}))

    def check_end(self, expected: tuple[int, ...]) -> None:
        """Raise an error if it has ended in another way than expected."""
        code = self.wait()
        if code in expected:
            return
        name = self.stage.name or "the first stage"
        if self._fault:
            raise ForetimeError(f"{name}: {self._fault}")
        how = f"was killed by signal {-code}, maybe for want of memory" if code < 0 else f"ended with exit code {code}"
        raise RunError(
            f"the training of {name} {how}; go on with foretime train --resume {self._run.path}, with fewer --jobs if "
            "need be"
        )

    def stop(self) -> None:
        """Ask it to save its state and stop."""
        self._process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        """Wait until it has ended, and return its exit code."""
        return self._process.wait()

    def kill(self) -> None:
        """End it at once; what came after its last checkpoint is lost."""
        self._process.kill()
        self._process.wait()
