"""Training: a run folder in, the best weights and an honest report out."""

from __future__ import annotations

from pathlib import Path

from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.errors import Interrupted
from foretime.training.conclusion import conclude, is_concluded, load_model
from foretime.training.guidance import rules_for
from foretime.training.listeners import Listener
from foretime.training.members import train_first_stage
from foretime.training.runs import RunFolder
from foretime.training.second_stage import check_second_stage, facts_of_first_stage
from foretime.training.settings import changed_config, complete_config

__all__ = [
    "Interrupted",
    "Listener",
    "RunFolder",
    "changed_config",
    "complete_config",
    "create_run",
    "load_model",
    "resume",
    "train",
]


def train(
    dataset: Dataset, config: Config, folder: Path | str, listener: Listener | None = None, with_test: bool = True
) -> RunFolder:
    """Train the configured model on the data set in a new run folder, write its report, and return the run."""
    run = create_run(dataset, config, folder, listener)
    return resume(run.path, listener, with_test)


def create_run(dataset: Dataset, config: Config, folder: Path | str, listener: Listener | None = None) -> RunFolder:
    """Return a new run folder in which nothing is trained yet: `resume` does that."""
    complete = complete_config(config)
    RunFolder.check_free(folder)
    check_second_stage(dataset, complete)
    rules = rules_for(complete, dataset, listener or Listener())
    return RunFolder.create(folder, complete, dataset, rules)


def resume(folder: Path | str, listener: Listener | None = None, with_test: bool = True) -> RunFolder:
    """Go on with a run where it was interrupted, whenever that was; a finished run gets the report that it lacks."""
    run, listener = RunFolder.open(folder), listener or Listener()
    config, dataset = run.config(), run.dataset()
    if is_concluded(run, dataset, with_test):
        return run  # test is ranked once
    try:
        facts = facts_of_first_stage(dataset, config)
        train_first_stage(run, config, dataset, listener, facts, run.rules(dataset))
        conclude(run, config, dataset, listener, with_test)
    except Interrupted:  # maybe in the first stage of a part, which is no run of its own
        raise Interrupted(f"stopped; go on with foretime train --resume {run.path}") from None
    except KeyboardInterrupt as stop:
        stop.add_note(f"go on with foretime train --resume {run.path}")
        raise
    return run
