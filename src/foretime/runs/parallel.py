"""Jobs of one run in parallel, each a task of an executor that reports its epochs."""

from __future__ import annotations

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.runs.executor import Executor, Task, run_all
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job, jobs_left, jobs_of, train_alone
from foretime.training.callbacks import Callback, TrainingPlan


def train_in_parallel(
    run: RunFolder, config: Config, graph: Graph, callback: Callback, executor: Executor, threads: int, lock: int | None
) -> None:
    """Do every job of a run that is not done yet, as many at a time as the executor does, each with so many threads.

    `lock` is that of `RunFolder.held`.
    """
    tasks = {task_of(run, config, job, threads): job for job in jobs_left(run, config)}
    epochs, whole = config.training.epochs, len(jobs_of(config)) * config.training.epochs
    done = whole - len(tasks) * epochs
    callback.begin(TrainingPlan(whole, 1, 2 * len(graph.train), done + 1, 0, None))
    try:
        for task, report in run_all(executor, list(tasks), callback.stop_wanted, lock):
            if "epoch" not in report:
                callback.warn(report["text"])
                continue
            record = report["epoch"]
            done += 1
            callback.step(done, 1, sum(value for name, value in record.items() if name.endswith("loss")))
            callback.epoch({**record, "job": tasks[task].name})
    finally:
        callback.end()


def task_of(run: RunFolder, config: Config, job: Job, threads: int) -> Task:
    """Return a job as a task of so many threads."""
    device = config.training.device
    arguments = {"run": str(run.path), "job": job, "threads": threads, "device": device}
    remedy = f"resume with foretime train --resume {run.path}, with fewer --jobs if need be"
    gpus = int(device.startswith("cuda"))
    return Task(job.name or "the base model", train_alone, arguments, run.path, threads, gpus, remedy=remedy)


def threads_of_each(config: Config, jobs: int) -> int:
    """Return how many threads each training has: the same whenever a run is resumed, for the same weights."""
    return max(1, config.training.threads // min(jobs, len(jobs_of(config))))
