"""Training: a run folder in, the best weights and an honest report out."""

from __future__ import annotations

from pathlib import Path

from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.training.conclusion import conclude, load_model
from foretime.training.listeners import Listener
from foretime.training.runs import RunFolder
from foretime.training.trainer import Interrupted, Trainer, complete_config

__all__ = ["Interrupted", "Listener", "RunFolder", "complete_config", "load_model", "resume", "train"]


def train(
    dataset: Dataset, config: Config, folder: Path | str, listener: Listener | None = None, with_test: bool = True
) -> RunFolder:
    """Train the configured model on the data set in a new run folder, write its report, and return the run."""
    run = RunFolder.create(folder, complete_config(config), dataset)
    return resume(run.path, listener, with_test)


def resume(folder: Path | str, listener: Listener | None = None, with_test: bool = True) -> RunFolder:
    """Go on with a run where it was interrupted, whenever that was; a finished run gets its report only."""
    run, listener = RunFolder.open(folder), listener or Listener()
    config, dataset = run.config(), run.dataset()
    Trainer(run, config, dataset, listener).fit()
    conclude(run, config, dataset, listener, with_test)
    return run
