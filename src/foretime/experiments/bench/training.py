"""One run of a list as a task: in its own process memory can be measured, and a failure stops nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foretime.config import Config, config_text, read_config
from foretime.data.graph import read_graph
from foretime.experiments.bench.rows import Ending
from foretime.experiments.bench.shape import Status
from foretime.files import write_text
from foretime.runs.executor import End, Report, Task
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_left
from foretime.runs.life import create_run, resume
from foretime.training.callbacks import Callback


def task_of(config: Config, folder: Path) -> Task:
    """Return the task that trains in a run folder, or resumes there; the configuration is written beside it."""
    arguments, threads = {"folder": str(folder)}, config.training.threads
    if not RunFolder(folder).config_file.exists():
        file = folder.parent / f"{folder.name}.toml"
        write_text(file, config_text(config))
        arguments["config"] = str(file)
    return Task(
        folder.name, train_run, arguments, folder.parent, threads, int(config.training.device.startswith("cuda"))
    )


def train_run(callback: Callback, folder: str, config: str | None = None) -> None:
    """Train a run to its end: resume it, or create it from a file of settings if its folder holds none yet."""
    if config is not None and not RunFolder(folder).config_file.exists():
        settings = read_config(config)
        create_run(read_graph(settings.data.path, settings.data), settings, folder, callback)
    resume(folder, callback)


def line_of(report: Report) -> str:
    """Return what a training reports as a line of text."""
    return report["text"] if "text" in report else _epoch_text(report["epoch"])


def _epoch_text(record: dict[str, Any]) -> str:
    job = f"{record['job']}: " if record.get("job") else ""
    losses = (f"{name} {value:.4f}" for name, value in record.items() if name.endswith("loss"))
    mrr = [f"valid MRR {record['valid_mrr']:.4f}"] if "valid_mrr" in record else []
    return "  ".join([f"{job}epoch {record['epoch']:>3}", *losses, f"{record['seconds']:.0f} s", *mrr])


def ending_of(end: End, folder: Path, seconds: float, stopped: Status | None) -> Ending:
    """Return how a training has ended after so many seconds; `stopped` is why it was asked to, if it was."""
    if end.code == 0:
        return Ending("finished", seconds)
    if stopped is not None:
        return Ending(stopped, seconds)
    fault = end.fault.strip().partition("\n")[0] if end.code > 0 else ""
    how = fault or end.how
    resumable = RunFolder(folder).config_file.exists()
    return Ending("failed", seconds, f"{how}; foretime train --resume {folder} resumes it" if resumable else how)


def is_trained(folder: Path) -> bool:
    """Return whether all models of a run are trained, and it only has to fit its re-ranker and rank."""
    run = RunFolder(folder)
    return run.config_file.exists() and not jobs_left(run, run.config())
