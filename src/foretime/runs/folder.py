"""A run is a folder: its configuration, its graph, its trace, its checkpoints and its report.

config.toml         every setting of the run, written out
graph.json          names and timeline
facts.safetensors   the facts of the three splits as ids
rules.parquet       the temporal rules that guide the model or that its evidence has paths of, if there are any
trace.jsonl         one line for each epoch
last.safetensors    weights, optimiser and progress: from which `--resume` continues
best.safetensors    the weights of the epoch with the best MRR on valid
reranker.txt        the trees of the re-ranker, if there is one
slots-SLOT.txt      the trees of the models of predicate and time, if there are any
slots.safetensors   the weights of the softmax over predicates that both read
member-N/           the same model with another seed, if the model is an ensemble
fold-N/             a model that leaves a fold of train out, if the re-ranker is fitted out of fold
report.json         the evaluation of the best weights, and the calibration
warm_start.json     the run whose weights this one began with, if there is one
updates/            the events that were added after the training, a file for each update
made.json           the commit of the code that began it, if a benchmark did
report-after-N.json the same after the N epochs that the run had before it was given more
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from foretime.config import Config, config_text, read_config
from foretime.data.graph import Graph
from foretime.errors import RunError
from foretime.files import hold, write_json, write_text
from foretime.rules.files import RUN_RULES, read_rules
from foretime.rules.table import Rules
from foretime.training.files import TrainingFiles

SECONDS_BETWEEN_TRIES = 0.2
EARLIER = "report-after-"
"""How the names of reports begin that a run had before it was given more epochs."""


class RunFolder(TrainingFiles):
    """The files of one run."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(Path(path))
        self.config_file = self.path / "config.toml"
        self.rules_file = self.path / RUN_RULES
        self.reranker_file = self.path / "reranker.txt"
        self.softmax_file = self.path / "slots.safetensors"
        self.report_file = self.path / "report.json"
        self.warm_start_file = self.path / "warm_start.json"

    @classmethod
    def create(cls, path: Path | str, config: Config, graph: Graph, rules: Rules | None = None) -> RunFolder:
        """Return a new run folder with configuration, graph and rules; one that holds a run already is an error."""
        cls.check_free(path)
        run = cls(path)
        run.path.mkdir(parents=True, exist_ok=True)
        graph.save(run.path)
        if rules is not None:
            rules.on(graph).save(run.rules_file)
        # the configuration comes last: a folder that has it has everything that a resumption needs
        write_text(run.config_file, config_text(config))
        return run

    @classmethod
    def check_free(cls, path: Path | str) -> None:
        """Raise `RunError` if no new run can be made in the folder."""
        run = cls(path)
        if run.config_file.exists():
            raise RunError(
                f"{run.path} already holds a run; resume it with --resume {run.path}, or name another folder"
            )
        for folder in (run.path, *run.path.parents):
            if folder.exists() and not folder.is_dir():
                raise RunError(f"{folder} is a file; name a folder for the run")

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """Return the run in an existing folder."""
        run = cls(path)
        if not run.path.is_dir():
            raise RunError(f"{run.path}: no such run folder")
        if not run.config_file.is_file():
            raise RunError(f"{run.path}: not a run folder, it has no config.toml; name a folder that training has made")
        return run

    @contextmanager
    def held(self) -> Iterator[int | None]:
        """Hold the folder while something is trained in it, and give the lock; one that is held is a `RunError`.

        Reading needs no lock. Where there are none, nothing is held.
        """
        with ExitStack() as stack:
            yield self._hold(stack, tries=2)

    def _hold(self, stack: ExitStack, tries: int) -> int | None:
        try:
            return stack.enter_context(hold(self.path, wait=False))
        except BlockingIOError:
            if tries > 1:  # who only asks whether it is held holds it for a moment
                time.sleep(SECONDS_BETWEEN_TRIES)
                return self._hold(stack, tries - 1)
            raise RunError(
                f"{self.path}: another process is training in it; wait until it has finished, or stop it first"
            ) from None
        except (ImportError, OSError):  # Windows has no such locks, and neither have some network disks
            return None

    def slot_file(self, slot: str) -> Path:
        """Return where the trees of a slot's model are kept."""
        return self.path / f"slots-{slot}.txt"

    def has_slots(self, graph: Graph) -> bool:
        """Return whether the models of predicate and time, and of the start of an interval, are there."""
        slots = ("predicate", "time", "start") if graph.has_intervals else ("predicate", "time")
        return all(file.exists() for file in (self.softmax_file, *map(self.slot_file, slots)))

    def earlier_report_file(self, epochs: int) -> Path:
        """Return where the report is kept that the run had after fewer epochs."""
        return self.path / f"{EARLIER}{epochs}.json"

    def tested_before(self) -> list[int]:
        """Return after how many epochs test was ranked before the run was given more."""
        found = {_epochs_in(file): _earlier(file) for file in self.path.glob(f"{EARLIER}*.json")}
        return sorted(epochs for epochs, report in found.items() if "test" in report)

    def fold(self, number: int) -> RunFolder:
        """Return the folder of a model that leaves a fold of train out."""
        return RunFolder(self.path / f"fold-{number}")

    def member(self, number: int) -> RunFolder:
        """Return the folder of the same model with another seed."""
        return RunFolder(self.path / f"member-{number}")

    def config(self) -> Config:
        """Return the configuration of the run."""
        return read_config(self.config_file)

    def graph(self) -> Graph:
        """Return the graph of the run."""
        return Graph.load(self.path)

    def rules(self, graph: Graph) -> Rules | None:
        """Return the rules that guide the run's model, if any do."""
        return read_rules(self.rules_file, graph) if self.rules_file.exists() else None

    def warm_start(self) -> dict[str, Any] | None:
        """Return what the run was started from: the path of another run and a fingerprint; nothing without one."""
        try:
            return _read_object(self.warm_start_file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RunError(f"{self.warm_start_file}: damaged ({error}); restore the file or remove it") from None

    def report(self) -> dict[str, Any]:
        """Return the report of a finished run."""
        try:
            return _read_object(self.report_file)
        except FileNotFoundError:
            raise RunError(
                f"{self.path}: the run is not finished; resume it with foretime train --resume {self.path}"
            ) from None
        except (OSError, ValueError) as error:
            raise RunError(
                f"{self.report_file}: damaged report ({error}); write it again with foretime train --resume {self.path}"
            ) from None

    def write_report(self, report: dict[str, Any]) -> None:
        """Write the report."""
        write_json(self.report_file, report)


def _read_object(file: Path) -> dict[str, Any]:
    """Return the JSON object in a file; any other content is a `ValueError`."""
    found = json.loads(file.read_bytes())
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def _epochs_in(file: Path) -> int:
    """Return after how many epochs an earlier report was made, by its name."""
    number = file.stem.removeprefix(EARLIER)
    if not (number.isascii() and number.isdecimal()):
        raise RunError(
            f"{file}: not the name of an earlier report; name it after the epochs that the run had then, as in "
            f"{EARLIER}20.json, or move it elsewhere"
        )
    return int(number)


def _earlier(file: Path) -> dict[str, Any]:
    try:
        return _read_object(file)
    except (OSError, ValueError) as error:
        raise RunError(
            f"{file}: damaged report ({error}); restore the file, or remove it if test was not ranked then"
        ) from None
