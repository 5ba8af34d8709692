"""The life of a run: it is created, trained, resumed, continued with more epochs, and finished."""

from __future__ import annotations

from pathlib import Path

import torch

from foretime.config import Config, config_text, override
from foretime.data.graph import Graph
from foretime.devices import device_text, find_device
from foretime.errors import ConfigError, Interrupted, RunError
from foretime.evaluation.protocols import check_evidence
from foretime.files import remove, rename, write_text
from foretime.reranker.folds import check_reranker
from foretime.rules.table import Rules
from foretime.runs.executor import open_executor
from foretime.runs.finish import finish_run, is_finished
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_left, jobs_of, train_in_sequence
from foretime.runs.manifest import write_changing
from foretime.runs.memory import check_memory
from foretime.runs.parallel import threads_of_each, train_in_parallel
from foretime.runs.resuming import EPOCHS, begin_to_resume, check_checkpoints, check_to_continue, check_to_resume
from foretime.runs.warm_start import WarmStart, drop_earlier_start
from foretime.training.callbacks import Callback
from foretime.training.checkpoint import Progress, read_progress, reopen_checkpoint
from foretime.training.distributed.check import check_team
from foretime.training.distributed.team import ProcessLost, team_of_launcher
from foretime.training.guidance import rules_for
from foretime.training.settings import complete_config


def train(
    graph: Graph,
    config: Config,
    folder: Path | str,
    callback: Callback | None = None,
    with_test: bool = True,
    jobs: int = 1,
    cluster: str | None = None,
) -> RunFolder:
    """Train the configured model on the graph in a new run folder, write its report, and return the run."""
    run = create_run(graph, config, folder, callback)
    return resume(run.path, callback, with_test, jobs, cluster=cluster)


def create_run(
    graph: Graph,
    config: Config,
    folder: Path | str,
    callback: Callback | None = None,
    rules: Rules | None = None,
    warm_start: WarmStart | None = None,
) -> RunFolder:
    """Return a new run folder in which nothing is trained yet: `resume` does that.

    Rules that are not given are read or mined as configured. With a warm start, the initial weights are those of
    another run, which is not needed any more afterwards.

    Raise `RunError` if the folder holds a run already, and `ConfigError` if the configuration cannot be trained.
    """
    complete = complete_config(config)
    find_device(complete.training.device)
    RunFolder.check_free(folder)
    check_reranker(graph, complete)
    check_evidence(complete.evidence, graph)
    check_memory(complete, graph)
    check_team(complete, len(graph.entities), team_of_launcher())
    if warm_start is not None:
        warm_start.check(complete, graph)
    rules = rules_for(complete, graph, callback or Callback()) if rules is None else rules
    drop_earlier_start(RunFolder(folder), complete)
    if warm_start is not None:
        warm_start.write(RunFolder(folder), complete, graph, rules)
    return RunFolder.create(folder, complete, graph, rules)


def resume(
    folder: Path | str,
    callback: Callback | None = None,
    with_test: bool = True,
    jobs: int = 1,
    device: str | None = None,
    cluster: str | None = None,
) -> RunFolder:
    """Resume a run where it was interrupted, whenever that was; a finished run gets the report that it lacks.

    `jobs` is how many of its trainings are done in parallel, where it has several, and `device` another device than the
    configured one; `cluster` has its trainings done on the nodes of a Ray cluster. Only one process at a time may
    resume a run: a second one gets a `RunError`.
    """
    run = RunFolder.find(folder, device)
    with run.held() as lock:
        _train_to_the_end(run, callback or Callback(), with_test, (jobs, cluster), lock)
    return run


def _train_to_the_end(
    run: RunFolder, callback: Callback, with_test: bool, where: tuple[int, str | None], lock: int | None
) -> None:
    lost = check_to_resume(run)
    config, graph = run.config(), run.graph()
    if not lost and is_finished(run, graph, with_test):
        return  # test is ranked once
    device = find_device(config.training.device)
    check_memory(config, graph)
    check_checkpoints(run, config, graph)
    begin_to_resume(run, lost)
    callback.announce(f"device: {device_text(device)}")
    try:
        torch.set_num_threads(config.training.threads)  # also where all is trained, and only ranking is left
        left, (jobs, cluster) = len(jobs_left(run, config)), where
        if (left > 1 and jobs > 1) or (left and cluster is not None):
            with open_executor(jobs, cluster) as executor:
                train_in_parallel(run, config, graph, callback, executor, threads_of_each(config, jobs), lock)
        else:
            train_in_sequence(run, config, graph, callback)
        torch.set_num_threads(config.training.threads)  # where several processes shared them, one is left
        finish_run(run, config, graph, callback, with_test)
    except ProcessLost as lost:
        raise RunError(f"{lost}; resume with foretime train --resume {run.path}, on any number of processes") from None
    except Interrupted:  # maybe in the model of a fold, which is no run of its own
        raise Interrupted(f"stopped; resume with foretime train --resume {run.path}") from None
    except KeyboardInterrupt as stop:
        stop.add_note(f"resume with foretime train --resume {run.path}")
        raise


def plan_epochs(folder: Path | str, epochs: int) -> RunFolder:
    """Plan a run with more epochs than it has trained, or with other ones if it is unfinished; `resume` trains them.

    The earlier report is kept, so that the new one says if test has been ranked before. Interrupted anywhere, the same
    call does the rest.
    """
    run = RunFolder.find(folder)
    with run.held():
        manifest = check_to_continue(run)
        config = override(run.config(), {"training.epochs": epochs})
        if config.reranker.use:
            raise ConfigError(
                f"{run.path}: its re-ranker is fitted on its base model as it is; train a new run for more epochs"
            )
        files = (job.folder(run).last_file for job in jobs_of(config))
        checkpoints = {file: read_progress(file) for file in files if file.exists()}
        for file, progress in checkpoints.items():
            _check_continuation(file, progress, run, epochs)
        if manifest is not None:
            write_changing(run.path, f"{EPOCHS} {epochs}", {"config", "weights", "members", "report"})
        for file, progress in checkpoints.items():
            if progress.finished:
                reopen_checkpoint(file)
        write_text(run.config_file, config_text(config))
        if run.report_file.exists():  # comes last: with it, a checkpoint beyond the planned epochs is not trained on
            done = min(progress.epochs_done for progress in checkpoints.values())
            rename(run.report_file, run.earlier_report_file(done))
        remove(run.manifest_file)
    return run


def _check_continuation(file: Path, progress: Progress, run: RunFolder, epochs: int) -> None:
    done, planned = progress.epochs_done, run.config().training
    if epochs <= done:
        raise ConfigError(f"{run.path}: {done} epochs are trained already; name more than that")
    if progress.finished and progress.evaluations_since_best >= planned.patience:
        raise RunError(
            f"{file.parent}: it stopped after epoch {done} because valid had not become better for {planned.patience} "
            "evaluations; to continue beyond that, train a new run with a larger training.patience"
        )
