"""Jobs of one run in parallel, each in a process of its own that reports its epochs as lines of JSON."""

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
from foretime.training.callbacks import Callback, TrainingPlan

Reports: TypeAlias = "queue.Queue[tuple[Worker, dict[str, Any] | None]]"
"""Which worker reports, and what: the record of an epoch, nothing when it has ended."""
WORKER = "foretime.runs.worker"
SECONDS_BETWEEN_LOOKS = 0.2
"""How long to wait for a report before the callback is asked whether to stop."""
STOPPED = (0, 130, 1 if sys.platform == "win32" else -signal.SIGTERM)
"""How a process ends that was asked to stop: with its training, after a step, or before it had begun."""


def train_in_parallel(
    run: RunFolder, config: Config, graph: Graph, callback: Callback, jobs: int, lock: int | None = None
) -> None:
    """Do every job of a run that is not done yet, `jobs` of them at a time, each with its share of threads.

    `lock` is that of `RunFolder.held`.
    """
    left, whole = jobs_left(run, config), len(jobs_of(config)) * config.training.epochs
    threads = threads_of_each(config, jobs)
    working: list[Worker] = []
    reports: Reports = queue.Queue()
    done, stopping = whole - len(left) * config.training.epochs, False
    callback.begin(TrainingPlan(whole, 1, 2 * len(graph.train), done + 1, 0, None))
    try:
        while working or (left and not stopping):
            while left and len(working) < jobs and not stopping:
                working.append(Worker(run, left.pop(0), threads, reports, lock, config.training.device))
            if not stopping and callback.stop_wanted():
                stopping = True
                for worker in working:
                    worker.process.terminate()
            try:
                worker, record = reports.get(timeout=SECONDS_BETWEEN_LOOKS)
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
    """Return how many threads each training has: the same whenever a run is resumed, for the same weights."""
    return max(1, config.training.threads // min(jobs, len(jobs_of(config))))


def _end_all(workers: list[Worker]) -> None:
    """Let the workers that are left save their state and end; at once if Ctrl-C comes meanwhile."""
    for worker in workers:
        worker.process.terminate()
    try:
        for worker in workers:
            worker.process.wait()
    except KeyboardInterrupt:
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
        raise


class Worker:
    """A process that does one job."""

    def __init__(
        self, run: RunFolder, job: Job, threads: int, reports: Reports, lock: int | None = None, device: str = "auto"
    ) -> None:
        """Start it; what it reports, and nothing at its end, is put into `reports`."""
        self.job = job
        self._run, self._fault = run, ""
        number = str(threads)
        passed = () if lock is None else (lock,)  # it may outlive its parent, and holds the folder till then
        self.process = subprocess.Popen(
            [sys.executable, "-m", WORKER, str(run.path), json.dumps(job), number, device, str(os.getpid())],
            stdout=subprocess.PIPE,
            pass_fds=passed,
            start_new_session=True,  # Ctrl-C goes to the parent, which stops it in turn
            env=os.environ | {"OMP_NUM_THREADS": number, "NUMBA_NUM_THREADS": number},
            encoding="utf-8",
            errors="replace",
        )
        threading.Thread(target=self._read, args=(reports,), daemon=True).start()

    def _read(self, reports: Reports) -> None:
        try:
            for line in self.process.stdout or ():
                self._take(line, reports)
        finally:
            reports.put((self, None))

    def _take(self, line: str, reports: Reports) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):  # a message of some library
            sys.stderr.write(line)
        elif "fault" in found:
            self._fault = found["fault"]
        else:
            reports.put((self, {**found, "job": self.job.name}))

    def check_end(self, expected: tuple[int, ...]) -> None:
        """Raise an error if it has ended in another way than expected."""
        code = self.process.wait()
        if code in expected:
            return
        name = self.job.name or "the base model"
        if self._fault:
            raise ForetimeError(f"{name}: {self._fault}")
        how = (
            f"was killed by signal {-code}, maybe because memory ran out"
            if code < 0
            else f"ended with exit code {code}"
        )
        raise RunError(
            f"the training of {name} {how}; resume with foretime train --resume {self._run.path}, "
            "with fewer --jobs if need be"
        )
