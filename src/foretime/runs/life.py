"""Training: a run folder in, the best weights and an honest report out."""

from __future__ import annotations

from pathlib import Path

import torch

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import Interrupted
from foretime.runs.continuing import continue_run
from foretime.runs.finish import finish_run, is_finished, load_model
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_left, train_in_sequence
from foretime.runs.parallel import train_in_parallel
from foretime.runs.reranking import check_reranker
from foretime.training.callbacks import Callback
from foretime.training.guidance import rules_for
from foretime.training.settings import changed_config, complete_config

__all__ = [
    "Callback",
    "Interrupted",
    "RunFolder",
    "changed_config",
    "complete_config",
    "continue_run",
    "create_run",
    "load_model",
    "resume",
    "train",
]


def train(
    graph: Graph,
    config: Config,
    folder: Path | str,
    callback: Callback | None = None,
    with_test: bool = True,
    jobs: int = 1,
) -> RunFolder:
    """Train the configured model on the data set in a new run folder, write its report, and return the run."""
    run = create_run(graph, config, folder, callback)
    return resume(run.path, callback, with_test, jobs)


def create_run(graph: Graph, config: Config, folder: Path | str, callback: Callback | None = None) -> RunFolder:
    """Return a new run folder in which nothing is trained yet: `resume` does that."""
    complete = complete_config(config)
    RunFolder.check_free(folder)
    check_reranker(graph, complete)
    rules = rules_for(complete, graph, callback or Callback())
    return RunFolder.create(folder, complete, graph, rules)


def resume(folder: Path | str, callback: Callback | None = None, with_test: bool = True, jobs: int = 1) -> RunFolder:
    """Go on with a run where it was interrupted, whenever that was; a finished run gets the report that it lacks.

    `jobs` is how many of its trainings are done side by side, where it has several. One process at a time goes on with
    a run: a second one gets a `RunError`.
    """
    run = RunFolder.open(folder)
    with run.held() as lock:
        _train_to_the_end(run, callback or Callback(), with_test, jobs, lock)
    return run


def _train_to_the_end(run: RunFolder, callback: Callback, with_test: bool, jobs: int, lock: int | None) -> None:
    config, graph = run.config(), run.graph()
    if is_finished(run, graph, with_test):
        return  # test is ranked once
    try:
        torch.set_num_threads(config.training.threads)  # also where all is trained, and only ranking is left
        if jobs > 1 and len(jobs_left(run, config)) > 1:
            train_in_parallel(run, config, graph, callback, jobs, lock)
        else:
            train_in_sequence(run, config, graph, callback)
        finish_run(run, config, graph, callback, with_test)
    except Interrupted:  # maybe in the first stage of a part, which is no run of its own
        raise Interrupted(f"stopped; go on with foretime train --resume {run.path}") from None
    except KeyboardInterrupt as stop:
        stop.add_note(f"go on with foretime train --resume {run.path}")
        raise
