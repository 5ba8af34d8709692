"""What a run must be before a command changes it: whole, but for what the command makes again."""

from __future__ import annotations

from pathlib import Path

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import RunError
from foretime.runs.contents import Role, role_of
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import jobs_of
from foretime.runs.manifest import FileProblem, Manifest, compare, read_manifest, write_changing
from foretime.runs.origin import check_origin, origin_of

EPOCHS = "--epochs"
"""The flag of the command that gives a run more epochs."""


def check_to_resume(run: RunFolder) -> set[Role]:
    """Return the roles of the files that a run has lost and a resumption makes again; else a problem is a `RunError`.

    Those are the report, trees of the re-ranker if the file that answers was removed, models of the slots, and members
    whose folder was.
    """
    run.check_trees()
    manifest = read_manifest(run.path)
    if manifest is None:
        _check_upgraded(run)
        return set()
    if manifest.changing:
        raise RunError(run.interrupted(manifest))
    problems = check_kept(run, manifest)
    begun: set[Role] = set() if manifest.changing is None else {"report"}
    return begun | {problem.role for problem in problems if problem.role}


def begin_to_resume(run: RunFolder, lost: set[Role]) -> None:
    """Say in the manifest of a finished run that its report is written again, and what it has lost is made again."""
    manifest = read_manifest(run.path)
    if manifest is not None and manifest.changing is None:
        write_changing(run.path, "", {"report", *lost})


def check_kept(run: RunFolder, manifest: Manifest) -> list[FileProblem]:
    """Return the problems with files that a resumption makes again; any other one is a `RunError`."""
    return _checked(run, manifest, _remade(run, manifest))


def check_to_continue(run: RunFolder) -> Manifest | None:
    """Return the manifest of a run that is to be given more epochs, if it is finished; a problem is a `RunError`."""
    run.check_trees()
    manifest = read_manifest(run.path)
    if manifest is None:
        _check_upgraded(run)
    elif manifest.changing is not None and not manifest.changing.startswith(EPOCHS):
        raise RunError(run.interrupted(manifest))
    else:
        _checked(run, manifest, set())
    return manifest


def check_checkpoints(run: RunFolder, config: Config, graph: Graph) -> None:
    """Raise `RunError` if a checkpoint of a run is damaged or of another training, before an hour is lost on it."""
    for job in jobs_of(config):
        check_origin(run, job.folder(run), origin_of(run, config, graph, *job))


def checkpoints_of(run: RunFolder, config: Config) -> list[Path]:
    """Return the checkpoints that the trainings of a run have written."""
    folders = [job.folder(run) for job in jobs_of(config)]
    return [file for folder in folders for file in (folder.last_file, folder.best_file) if file.exists()]


def _remade(run: RunFolder, manifest: Manifest) -> set[Role]:
    """Return the roles of files that a resumption would make again, as they stand."""
    found: set[Role] = {"report"}
    if not run.reranker_file.exists():
        found.add("reranker")
    for name in manifest.files:
        file, role = run.path / name, role_of(name)
        if role == "slots" and not file.exists():
            found.add("slots")
        if role == "members" and not file.parent.exists():
            found.add("members")
    return found


def _checked(run: RunFolder, manifest: Manifest, remade: set[Role]) -> list[FileProblem]:
    """Return the problems with files that are made again anyway; any other one is a `RunError`."""
    problems = compare(run.path, manifest)
    for problem in problems:
        if problem.role not in remade:
            raise RunError(run.said(problem))
    return problems


def _check_upgraded(run: RunFolder) -> None:
    if run.report_file.exists():
        raise RunError(run.without_manifest)
