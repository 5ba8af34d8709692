"""Training: a run folder in, the best weights and an honest report out."""

from __future__ import annotations

from pathlib import Path

import torch

from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.errors import Interrupted
from foretime.training.conclusion import conclude, is_concluded, load_model
from foretime.training.extension import extend
from foretime.training.guidance import rules_for
from foretime.training.listeners import Listener
from foretime.training.runs import RunFolder
from foretime.training.second_stage import check_second_stage
from foretime.training.settings import changed_config, complete_config
from foretime.training.side_by_side import train_side_by_side
from foretime.training.stages import stages_left, train_one_by_one

__all__ = [
    "Interrupted",
    "Listener",
    "RunFolder",
    "changed_config",
    "complete_config",
    "create_run",
    "extend",
    "load_model",
    "resume",
    "train",
]


def train(
    dataset: Dataset,
    config: Config,
    folder: Path | str,
    listener: Listener | None = None,
    with_test: bool = True,
    jobs: int = 1,
) -> RunFolder:
    """Train the configured model on the data set in a new run folder, write its report, and return the run."""
    run = create_run(dataset, config, folder, listener)
    return resume(run.path, listener, with_test, jobs)


def create_run(dataset: Dataset, config: Config, folder: Path | str, listener: Listener | None = None) -> RunFolder:
    """Return a new run folder in which nothing is trained yet: `resume` does that."""
    complete = complete_config(config)
    RunFolder.check_free(folder)
    check_second_stage(dataset, complete)
    rules = rules_for(complete, dataset, listener or Listener())
    return RunFolder.create(folder, complete, dataset, rules)


def resume(folder: Path | str, listener: Listener | None = None, with_test: bool = True, jobs: int = 1) -> RunFolder:
    """Go on with a run where it was interrupted, whenever that was; a finished run gets the report that it lacks.

    `jobs` is how many of its trainings are done side by side, where it has several. One process at a time goes on with
    a run: a second one gets a `RunError`.
    """
    run = RunFolder.open(folder)
    with run.held() as lock:
        _train_to_the_end(run, listener or Listener(), with_test, jobs, lock)
    return run


def _train_to_the_end(run: RunFolder, listener: Listener, with_test: bool, jobs: int, lock: int | None) -> None:
    config, dataset = run.config(), run.dataset()
    if is_concluded(run, dataset, with_test):
        return  # test is ranked once
    try:
        torch.set_num_threads(config.training.threads)  # also where all is trained, and only ranking is left
        if jobs > 1 and len(stages_left(run, config)) > 1:
            train_side_by_side(run, config, dataset, listener, jobs, lock)
        else:
            train_one_by_one(run, config, dataset, listener)
        conclude(run, config, dataset, listener, with_test)
    except Interrupted:  # maybe in the first stage of a part, which is no run of its own
        raise Interrupted(f"stopped; go on with foretime train --resume {run.path}") from None
    except KeyboardInterrupt as stop:
        stop.add_note(f"go on with foretime train --resume {run.path}")
        raise
