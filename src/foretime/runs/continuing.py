"""More epochs for a run: it goes on where it ended, as if it had been planned so from the beginning."""

from __future__ import annotations

from pathlib import Path

from foretime.config import Config, config_text, override
from foretime.errors import ConfigError, RunError
from foretime.files import write_text
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_of
from foretime.training.checkpoint import Progress, read_progress, reopen_checkpoint


def continue_run(folder: Path | str, epochs: int) -> RunFolder:
    """Plan a run with more epochs than it has trained, or with other ones if it is unfinished; `resume` trains them.

    The report of the shorter training stays beside it, so that it is told if test has been ranked before. Interrupted
    anywhere, the same call does the rest.
    """
    run = RunFolder.open(folder)
    with run.held():
        _plan(run, epochs)
    return run


def _plan(run: RunFolder, epochs: int) -> None:
    config = override(run.config(), {"training.epochs": epochs})
    checkpoints = _checkpoints(run, config)
    for file, progress in checkpoints.items():
        _check(file, progress, run, epochs)
    for file, progress in checkpoints.items():
        if progress.finished:
            reopen_checkpoint(file)
    write_text(run.config_file, config_text(config))
    if run.report_file.exists():  # comes last: with it, a checkpoint beyond the planned epochs is not trained on
        run.report_file.rename(run.earlier_report_file(min(progress.epochs_done for progress in checkpoints.values())))


def _checkpoints(run: RunFolder, config: Config) -> dict[Path, Progress]:
    """Return the checkpoints of a run's trainings that have begun, and how far each has come."""
    if config.reranker.use:
        raise ConfigError(
            f"{run.path}: it has a second stage, which is fitted on what its first one says; more epochs want a new run"
        )
    files = (stage.folder(run).last_file for stage in jobs_of(config))
    return {file: read_progress(file) for file in files if file.exists()}


def _check(file: Path, progress: Progress, run: RunFolder, epochs: int) -> None:
    done, planned = progress.epochs_done, run.config().training
    if epochs <= done:
        raise ConfigError(f"{run.path}: {done} epochs are trained already; name more than that")
    if progress.finished and progress.evaluations_since_best >= planned.patience:
        raise RunError(
            f"{file.parent}: it stopped after epoch {done} because valid had not become better for {planned.patience} "
            "evaluations; to go beyond that, train a new run with a larger training.patience"
        )
