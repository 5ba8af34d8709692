"""Whether a run is whole: all that an opening checks, and what it leaves for later; nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import ForetimeError, RunError
from foretime.runs.finish import is_finished
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_of, member_config
from foretime.runs.loading import load_model, scorer_of
from foretime.runs.origin import check_origin, origin_of
from foretime.runs.updates import UpdateLog
from foretime.training.trainer import check_checkpoint


class RunCheck(NamedTuple):
    """What is wrong with a run, if anything is."""

    path: Path
    finished: bool
    problems: tuple[str, ...]
    """One sentence for each: the file, what is wrong with it, and what to do."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"run": str(self.path), "finished": self.finished, "problems": list(self.problems)}


def run_folders(folder: Path | str) -> list[Path]:
    """Return the folder if a run is in it, or else those right below it that hold one, by name.

    Raises `RunError` if the folder is missing.

    >>> ft.run_folders("runs")
    [PosixPath('runs/small')]
    """
    path = Path(folder)
    if not path.is_dir():
        raise RunError(f"{path}: no such folder; name the folder of a run, or one with runs in it")
    if RunFolder(path).config_file.is_file():
        return [path]
    return [found for found in sorted(path.iterdir()) if RunFolder(found).config_file.is_file()]


def verify_run(folder: Path | str) -> RunCheck:
    """Return what is wrong with a run: with its files by its manifest, and with what is in each of them.

    Of a run that is not finished, what is there is checked. Nothing is changed. Raises `RunError` if there is no run.

    >>> ft.verify_run("runs/small").problems
    ()
    """
    run = RunFolder.find(folder)
    try:
        problems = run.problems()
    except RunError as error:  # the manifest itself
        problems = [str(error)]
    for check in _checks(run):
        try:
            check()
        except ForetimeError as error:
            problems += [line for line in str(error).splitlines() if line not in problems]
    return RunCheck(run.path, run.report_file.exists(), tuple(problems))


def _checks(run: RunFolder) -> Iterator[Callable[[], object]]:
    """Yield what may raise an error; what needs the configuration or the graph only if these could be read."""
    yield from (run.trace, run.backtests, run.tested_before, run.warm_start)
    if run.report_file.exists():
        yield run.report
    found: dict[str, Any] = {}
    yield lambda: found.update(config=run.config())
    yield lambda: found.update(graph=run.graph())
    if len(found) < 2:
        return
    config, graph = found["config"], found["graph"]
    yield lambda: run.rules(graph)
    yield UpdateLog(run.path, graph.timeline).read
    for job in jobs_of(config):
        folder, own = job.folder(run), member_config(config, job.member)
        yield partial(check_origin, run, folder, origin_of(run, config, graph, *job))
        for file in (folder.last_file, folder.best_file):
            if file.exists():
                yield partial(check_checkpoint, file, own, graph)
    if run.best_file.exists() or run.last_file.exists():
        yield lambda: _check_answers(run, config, graph)


def _check_answers(run: RunFolder, config: Config, graph: Graph) -> None:
    """Raise an error if what answers cannot be loaded, or if a finished run lacks a part of it."""
    scorer_of(run, config, graph, load_model(run, config, graph))
    if run.report_file.exists() and not is_finished(run, graph, with_test=False):
        raise RunError(
            f"{run.path}: has a report and lacks a part of what it should have; do the rest with "
            f"foretime train --resume {run.path}"
        )
