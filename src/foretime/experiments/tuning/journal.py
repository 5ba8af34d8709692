"""The journal of a search: what Optuna knows, as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from foretime.config import LARGEST_SEED
from foretime.data.graph import Graph
from foretime.errors import ConfigError, RunError
from foretime.experiments.tuning.plan import TunePlan
from foretime.files import read_bytes, write_bytes
from foretime.runs.fingerprint import config_hash

JOURNAL, STUDY = "journal.log", "foretime"
SHOWN = 80
"""How much of a damaged line is shown, in characters."""


def open_study(plan: TunePlan, graph: Graph, folder: Path) -> Any:
    """Return the study in a folder, created if it is not there; unfinished trials are proposed again."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = load_study(folder / JOURNAL)
    ranges = {key: own.model_dump(exclude_defaults=True) for key, own in plan.ranges.items()}
    declared = json.dumps({"config": config_hash(plan.base), "ranges": ranges}, sort_keys=True)
    if study.user_attrs.get("declared", declared) != declared:
        raise ConfigError(f"{folder} holds trials of another configuration or of other ranges; name another --out")
    fingerprint = graph.fingerprint()
    if study.user_attrs.get("graph", fingerprint) != fingerprint:
        raise ConfigError(f"{folder} holds trials on another graph: the data have changed; name another --out")
    study.set_user_attr("declared", declared)
    study.set_user_attr("graph", fingerprint)
    _propose_again(study, plan)
    # with the same seed a resumed search would propose its first settings again
    study.sampler = optuna.samplers.TPESampler(seed=(plan.seed + len(study.trials)) % (LARGEST_SEED + 1))
    study.pruner = optuna.pruners.MedianPruner(plan.startup_trials, plan.warmup_epochs)
    return study


def _propose_again(study: Any, plan: TunePlan) -> None:
    """Propose again what earlier processes have begun and not finished, and count how often they have crashed at it."""
    from optuna.trial import TrialState

    waiting = [_proposed(trial) for trial in study.get_trials(states=(TrialState.WAITING,))]
    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        settings = _proposed(trial)
        if set(settings) == set(plan.ranges) and settings not in waiting:
            crashes = trial.user_attrs.get("crashes", 0) + ("stopped" not in trial.user_attrs)
            study.enqueue_trial(settings, user_attrs={"crashes": crashes})
        study.tell(trial.number, state=TrialState.FAIL)  # last: after this the trial is not running any more


def _proposed(trial: Any) -> dict[str, Any]:
    """Return the settings that a trial was proposed with, also if it was stopped before it had used them all."""
    return dict(trial.system_attrs.get("fixed_params", trial.params))


def load_study(journal: Path) -> Any:
    """Return the study in a journal, without half a line that a power cut may have left at its end."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    try:
        content = read_bytes(journal) if journal.exists() else b""
    except OSError as error:
        raise RunError(f"{journal}: cannot be read: {error}; restore the file, or name another --out") from None
    if not content.endswith(b"\n") and content:
        write_bytes(journal, content[: content.rfind(b"\n") + 1])
    lines: Any = CountedLines(JournalFileBackend(str(journal)))
    try:
        return optuna.create_study(
            storage=JournalStorage(lines), study_name=STUDY, direction="maximize", load_if_exists=True
        )
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError):
        # Optuna trusts every line, and its errors are about its own code
        raise RunError(
            f"{journal}: damaged journal (line {lines.line}: {_shown(content, lines.line)}); "
            "restore the file, or name another --out"
        ) from None


def _shown(content: bytes, line: int) -> str:
    """Return a line, from 1, as it is shown in a message."""
    text = b"".join(content.split(b"\n")[line - 1 : line]).decode(errors="replace")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")


class CountedLines:
    """The backend of a journal that knows the line its reader is at."""

    def __init__(self, backend: Any) -> None:
        self.line = 1
        self._backend = backend

    def read_logs(self, start: int) -> Iterator[Any]:
        """Return the contents of the lines from `start`, counted from 0."""
        self.line = start + 1
        for log in self._backend.read_logs(start):
            yield log
            self.line += 1  # only now: until it asks for the next one, the reader is at this line

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Add lines."""
        self._backend.append_logs(logs)
