"""The search: Optuna proposes settings, trials are trained, and a journal keeps everything that is needed to resume."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from foretime.config import config_text
from foretime.data.graph import Graph, read_graph
from foretime.errors import ConfigError, DataError, ForetimeError, Interrupted, RunError
from foretime.experiments.tuning.journal import open_study
from foretime.experiments.tuning.plan import RangeSection, TunePlan, read_plan
from foretime.experiments.tuning.trials import TrialOutcome, TrialTrainer
from foretime.files import hold, make_folder, write_text
from foretime.runs.fingerprint import config_hash
from foretime.tables import Table, Tabular
from foretime.training.callbacks import Callback
from foretime.training.settings import changed_config

BEST, TABLE = "best.toml", "trials.csv"
STATES = {"COMPLETE": "finished", "PRUNED": "pruned", "FAIL": "failed"}
"""What Optuna's states of a trial that is over are called here."""
TRIES = 5
"""How often settings at which the process crashes are tried at most."""
ReportLine: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class TrialResult:
    """A trial that is over: `state` is `finished`, `pruned` or `failed`."""

    trial: int
    state: str
    valid_mrr: float | None
    epochs: int
    seconds: float
    settings: dict[str, Any]
    note: str = ""


@dataclass(frozen=True, repr=False)
class TuneResults(Tabular):
    """All trials in a folder, the best first; iterating gives each as a `TrialResult`."""

    folder: Path
    trials: tuple[TrialResult, ...]

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[TrialResult]:
        return iter(self.trials)

    def __getitem__(self, place: int) -> TrialResult:
        return self.trials[place]

    @property
    def best(self) -> TrialResult | None:
        """The finished trial with the best MRR on valid, or None; its configuration is `best.toml` in the folder."""
        return self.trials[0] if self.trials and self.trials[0].state == "finished" else None

    def table(self, top: int | None = None) -> Table:
        """Return one row for each trial, or for the best ones, with a column for each setting that is tuned."""
        names = ("trial", "state", "valid_mrr", "epochs", "seconds")
        rows = [
            {name: getattr(own, name) for name in names} | own.settings | {"note": own.note}
            for own in self.trials[:top]
        ]
        tuned = {key for row in rows for key, value in row.items() if "." in key and isinstance(value, float)}
        return Table.of(rows, formats={"valid_mrr": ".4f", "seconds": ".0f"} | dict.fromkeys(tuned, ".4g"))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the trials as plain values for JSON."""
        return [asdict(own) for own in self.trials]


def tune(
    plan: TunePlan | Path | str,
    *,
    graph: Graph | None = None,
    folder: Path | str | None = None,
    trials: int | None = None,
    seconds: float = 0.0,
    callback: Callback | None = None,
    report: ReportLine | None = None,
) -> TuneResults:
    """Choose settings from declared ranges by the MRR on valid, and return all trials, the best first.

    The same call resumes a search that was stopped. After each trial `best.toml`, a configuration to be trained, and
    `trials.csv` are written into the folder. Test is never ranked.

    Parameters:
        plan: A plan in TOML (docs/tuning.md), or one that `read_plan` has read.
        graph: The graph; None: the one that the configuration of the plan names.
        folder: Where the trials go; None: `runs/tune-NAME`.
        trials: How many trials there are in all; None: as many as the plan says.
        seconds: No trial begins after so many seconds; 0: no limit.
        callback: Receives the progress of every training.
        report: Called with a line about every trial, such as `print`.

    Raises `ConfigError` for a plan that is wrong, a folder of another plan or graph, and where Optuna is not installed;
    `DataError` for a graph without valid facts; `RunError` for a damaged journal, and for a folder in which another
    process is at work; `Interrupted` when a training was stopped.

    Example:
        found = foretime.tune("tune.toml", trials=20, report=print)
        print(found.best.settings)
    """
    plan = plan if isinstance(plan, TunePlan) else read_plan(plan)
    plan = plan if trials is None else replace(plan, trials=trials)
    report = report or (lambda text: None)
    for warning in plan.warnings():
        report(f"warning: {warning}")
    graph = graph or read_graph(plan.base.data.path, plan.base.data)
    if len(graph.valid) == 0:
        raise DataError(
            f"{graph.name} has no valid facts, by which settings are chosen; foretime data split makes some"
        )
    _check_installed()
    folder = Path(folder or Path("runs") / f"tune-{plan.path.stem}")
    make_folder(folder)
    try:
        with hold(folder, wait=False):
            search = _Search(plan, graph, folder, callback or Callback(), report)
            return TuneResults(folder, tuple(search.run(seconds)))
    except BlockingIOError:
        raise RunError(f"{folder}: another process makes trials there; wait for it, or name another --out") from None


def _check_installed() -> None:
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise ConfigError("Optuna is not installed; pip install 'foretime[tune]'") from None


class _Search:
    """A search in a folder that this process holds."""

    def __init__(self, plan: TunePlan, graph: Graph, folder: Path, callback: Callback, report: ReportLine) -> None:
        self._plan, self._folder, self._callback, self._report = plan, folder, callback, report
        self._study = open_study(plan, graph, folder)
        self._trainer = TrialTrainer(graph, folder / "trials")

    def run(self, seconds: float) -> list[TrialResult]:
        """Make what is left of the planned trials, and return all of them, the best first."""
        began = time.monotonic()
        self._catch_up()
        while len(self._over()) < self._plan.trials and not (seconds and time.monotonic() - began > seconds):
            trial = self._study.ask()
            try:
                settings = {key: _suggest(trial, key, own) for key, own in self._plan.ranges.items()}
                named = ", ".join(f"{key} = {_short(value)}" for key, value in settings.items())
                self._report(f"trial {trial.number}: {named}")
                self._make(trial, settings)
            except (Interrupted, KeyboardInterrupt):
                if not self._study.trials[trial.number].state.is_finished():
                    _note(trial, stopped=True)  # so that it does not count as a crash
                raise Interrupted(
                    f"stopped; resume with foretime tune {self._plan.path} --out {self._folder}"
                ) from None
            found = self._results()
            _write(self._plan, self._folder, found)
            self._report(_summary(trial.number, found))
        return self._results()

    def _over(self) -> list[Any]:
        """Return Optuna's trials that are over; those that were interrupted have failed without an error."""
        found = [trial for trial in self._study.get_trials(deepcopy=False) if trial.state.name in STATES]
        return [trial for trial in found if trial.state.name != "FAIL" or "error" in trial.user_attrs]

    def _results(self) -> list[TrialResult]:
        """Return the trials that are over, the best first."""
        found = []
        for trial in self._over():
            known = trial.user_attrs
            reached = known.get("mrr"), known.get("epochs", 0), known.get("seconds", 0.0)
            state, note = STATES[trial.state.name], known.get("error", "")
            found.append(TrialResult(trial.number, state, *reached, dict(trial.params), note))
        return sorted(found, key=lambda own: (own.state != "finished", -(own.valid_mrr or 0.0), own.trial))

    def _catch_up(self) -> None:
        """Do what a killed process left undone: remove the weights of trials that are over, and write the files."""
        for trial in self._over():
            if trial.user_attrs.get("hash"):
                self._trainer.forget(trial.user_attrs["hash"])
        if found := self._results():
            _write(self._plan, self._folder, found)

    def _make(self, trial: Any, settings: dict[str, Any]) -> None:
        """Train one trial and note in the journal what it has reached."""
        from optuna.trial import TrialState

        name = ""
        try:
            config = changed_config(self._plan.base, settings, f"{self._plan.path}: ")
            name = config_hash(config)
            _check_crashes(trial)
            outcome = self._known(name) or self._trainer.train(config, name, trial, self._callback)
        except Interrupted:
            raise
        except (ForetimeError, MemoryError) as error:  # such as a loss that is no longer a number, or a rank too large
            _note(trial, hash=name, error=str(error) or "out of memory")
            self._study.tell(trial, state=TrialState.FAIL)
        else:
            _note(trial, hash=name, mrr=outcome.mrr, epochs=outcome.epochs, seconds=outcome.seconds)
            state = {"state": TrialState.PRUNED} if outcome.pruned else {"values": outcome.mrr}
            self._study.tell(trial, **state)
        if name:
            self._trainer.forget(name)

    def _known(self, name: str) -> TrialOutcome | None:
        """Return what the same settings have reached before; raise `RunError` if they could not be trained."""
        for trial in self._over():
            found = trial.user_attrs
            if found.get("hash") != name:
                continue
            if trial.state.name == "FAIL":
                raise RunError(found["error"])
            return TrialOutcome(found["mrr"], found["epochs"], found["seconds"], trial.state.name == "PRUNED")
        return None


def _suggest(trial: Any, key: str, own: RangeSection) -> Any:
    if own.choices:
        return trial.suggest_categorical(key, own.choices)
    low, high = own.ends
    if isinstance(low, int) and isinstance(high, int):
        return trial.suggest_int(key, low, high, log=own.log)
    return trial.suggest_float(key, low, high, log=own.log)


def _check_crashes(trial: Any) -> None:
    """Raise `RunError` if processes have crashed so often at the settings of a trial that these may be the reason."""
    crashes = trial.user_attrs.get("crashes", 0)
    if crashes >= TRIES:
        raise RunError(
            f"the process has crashed or was killed {crashes} times while it tried these settings, and they are not "
            "tried again; is there enough memory for them?"
        )


def _note(trial: Any, **values: Any) -> None:
    for name, value in values.items():
        trial.set_user_attr(name, value)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _summary(number: int, found: list[TrialResult]) -> str:
    own = next(one for one in found if one.trial == number)
    reached = own.note if own.valid_mrr is None else f"valid MRR {own.valid_mrr:.4f}, {own.epochs} epochs"
    best = f"the best is trial {found[0].trial}" if found[0].state == "finished" else "none has finished"
    return f"trial {number}: {own.state}, {reached}; {len(found)} made, {best}"


def _write(plan: TunePlan, folder: Path, found: list[TrialResult]) -> None:
    """Write the table of trials, and the best configuration if a trial has finished."""
    write_text(folder / TABLE, TuneResults(folder, tuple(found)).table().to_csv())
    best = found[0]
    if best.state == "finished":
        head = f"# the best of {len(found)} trials by MRR on valid: {best.valid_mrr:.4f} (trial {best.trial})\n"
        write_text(folder / BEST, head + config_text(changed_config(plan.base, best.settings)))
