"""The search: Optuna proposes settings, trials are trained, and everything is in a journal from which it goes on."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from foretime.config import config_text
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError, ForetimeError, Interrupted, RunError
from foretime.experiments.tuning.declared import RangeSection, TunePlan
from foretime.experiments.tuning.journal import open_study
from foretime.experiments.tuning.trials import Outcome, Trials
from foretime.files import hold, write_text
from foretime.runs.fingerprint import config_hash
from foretime.training.callbacks import Callback
from foretime.training.settings import changed_config

BEST, TABLE = "best.toml", "trials.csv"
STATES = {"COMPLETE": "finished", "PRUNED": "given up", "FAIL": "failed"}
"""What Optuna's states of a trial that is over are called here."""
TRIES = 5
"""How often settings are tried at the most at which the process crashes."""


@dataclass(frozen=True)
class Tried:
    """A trial that is over: `state` is `finished`, `given up` or `failed`."""

    trial: int
    state: str
    valid_mrr: float | None
    epochs: int
    seconds: float
    settings: dict[str, Any]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as plain values for JSON."""
        return asdict(self)


def tune(
    plan: TunePlan,
    graph: Graph,
    folder: Path | str,
    callback: Callable[[], Callback] = Callback,
    tell: Callable[[str], None] = lambda text: None,
    seconds: float = 0.0,
) -> list[Tried]:
    """Make what is left of the planned trials, and return all of them, best first.

    With seconds no trial begins after so many. The best configuration and the table of trials are written after each,
    and again at the beginning: a process may have been killed before it wrote them.
    """
    folder = Path(folder)
    if len(graph.valid) == 0:
        raise DataError(
            f"{graph.name} has no valid facts, by which settings are chosen; foretime data split makes some"
        )
    _check_installed()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with hold(folder, wait=False):
            return _search(plan, graph, folder, callback, tell, seconds)
    except BlockingIOError:
        raise RunError(f"{folder}: another process makes trials there; wait for it, or name another --out") from None


def _search(
    plan: TunePlan,
    graph: Graph,
    folder: Path,
    callback: Callable[[], Callback],
    tell: Callable[[str], None],
    seconds: float,
) -> list[Tried]:
    study = open_study(plan, graph, folder)
    began, trials = time.monotonic(), Trials(graph, folder / "trials")
    _catch_up(study, plan, folder, trials)
    while len(tried(study)) < plan.trials and not (seconds and time.monotonic() - began > seconds):
        trial = study.ask()
        try:
            settings = {key: _suggest(trial, key, own) for key, own in plan.ranges.items()}
            tell(f"trial {trial.number}: " + ", ".join(f"{key} = {_short(value)}" for key, value in settings.items()))
            _make(study, trial, plan, settings, trials, callback)
        except (Interrupted, KeyboardInterrupt):
            _note_stop(study, trial)
            raise Interrupted(f"stopped; go on with foretime tune {plan.path} --out {folder}") from None
        found = tried(study)
        _write(plan, folder, found)
        tell(_told(trial.number, found))
    return tried(study)


def tried(study: Any) -> list[Tried]:
    """Return the trials of a study that are over, the best first; those that were interrupted are not."""
    found = [
        Tried(
            trial=trial.number,
            state=STATES[trial.state.name],
            valid_mrr=trial.user_attrs.get("mrr"),
            epochs=trial.user_attrs.get("epochs", 0),
            seconds=trial.user_attrs.get("seconds", 0.0),
            settings=dict(trial.params),
            note=trial.user_attrs.get("error", ""),
        )
        for trial in _over(study)
    ]
    return sorted(found, key=lambda own: (own.state != "finished", -(own.valid_mrr or 0.0), own.trial))


def _over(study: Any) -> list[Any]:
    """Return Optuna's trials that are over; those that were interrupted have failed without an error."""
    found = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name in STATES]
    return [trial for trial in found if STATES[trial.state.name] != "failed" or "error" in trial.user_attrs]


def _catch_up(study: Any, plan: TunePlan, folder: Path, trials: Trials) -> None:
    """Do what a process may have been killed before: remove the weights of trials that are over, and write of them."""
    for trial in _over(study):
        if trial.user_attrs.get("hash"):
            trials.forget(trial.user_attrs["hash"])
    if found := tried(study):
        _write(plan, folder, found)


def _check_installed() -> None:
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise ConfigError("Optuna is not installed; pip install 'foretime[tune]'") from None


def _note_stop(study: Any, trial: Any) -> None:
    """Note that a trial was asked to stop, unless it is over: its process has not crashed at it."""
    if not study.trials[trial.number].state.is_finished():
        _note(trial, stopped=True)


def _suggest(trial: Any, key: str, own: RangeSection) -> Any:
    if own.choices:
        return trial.suggest_categorical(key, own.choices)
    low, high = own.ends
    if isinstance(low, int) and isinstance(high, int):
        return trial.suggest_int(key, low, high, log=own.log)
    return trial.suggest_float(key, low, high, log=own.log)


def _make(
    study: Any, trial: Any, plan: TunePlan, settings: dict[str, Any], trials: Trials, callback: Callable[[], Callback]
) -> None:
    """Train one trial and put what it has come to into the journal."""
    from optuna.trial import TrialState

    name = ""
    try:
        config = changed_config(plan.base, settings, f"{plan.path}: ")
        name = config_hash(config)
        _check_crashes(trial)
        outcome = _known(study, name) or trials.train(config, name, trial, callback())
    except Interrupted:
        raise
    except (ForetimeError, MemoryError) as error:  # such as a loss that is no longer a number, or a rank too large
        _note(trial, hash=name, error=str(error) or "out of memory")
        study.tell(trial, state=TrialState.FAIL)
    else:
        _note(trial, hash=name, mrr=outcome.mrr, epochs=outcome.epochs, seconds=outcome.seconds)
        if outcome.given_up:
            study.tell(trial, state=TrialState.PRUNED)
        else:
            study.tell(trial, outcome.mrr)
    if name:
        trials.forget(name)


def _check_crashes(trial: Any) -> None:
    """Raise `RunError` if processes have crashed so often at the settings of a trial that these may be the reason."""
    crashes = trial.user_attrs.get("crashes", 0)
    if crashes >= TRIES:
        raise RunError(
            f"the process has crashed or was killed {crashes} times while it tried these settings, and they are not "
            "tried again; is there enough memory for them?"
        )


def _known(study: Any, name: str) -> Outcome | None:
    """Return what the same settings have come to before; raise `RunError` if they could not be trained."""
    from optuna.trial import TrialState

    for trial in study.get_trials(deepcopy=False):
        found = trial.user_attrs
        if found.get("hash") != name:
            continue
        if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
            return Outcome(found["mrr"], found["epochs"], found["seconds"], trial.state == TrialState.PRUNED)
        if trial.state == TrialState.FAIL and "error" in found:
            raise RunError(found["error"])
    return None


def _note(trial: Any, **values: Any) -> None:
    for name, value in values.items():
        trial.set_user_attr(name, value)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _told(number: int, found: list[Tried]) -> str:
    own = next(one for one in found if one.trial == number)
    reached = own.note if own.valid_mrr is None else f"valid MRR {own.valid_mrr:.4f}, {own.epochs} epochs"
    best = f"the best is trial {found[0].trial}" if found[0].state == "finished" else "none has finished"
    return f"trial {number}: {own.state}, {reached}; {len(found)} made, {best}"


def _write(plan: TunePlan, folder: Path, found: list[Tried]) -> None:
    """Write the table of trials, and the best configuration if a trial has finished."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "state", "valid_mrr", "epochs", "seconds", *plan.ranges, "note"])
    for own in found:
        settings = [own.settings.get(key, "") for key in plan.ranges]
        writer.writerow([own.trial, own.state, own.valid_mrr, own.epochs, own.seconds, *settings, own.note])
    write_text(folder / TABLE, text.getvalue())
    best = found[0]
    if best.state == "finished":
        head = f"# the best of {len(found)} trials by MRR on valid: {best.valid_mrr:.4f} (trial {best.trial})\n"
        write_text(folder / BEST, head + config_text(changed_config(plan.base, best.settings)))
