"""A run is a folder: its configuration, its graph, its trace, its checkpoints and its report.

config.toml         every setting of the run, written out
graph.json          names and timeline
facts.safetensors   the facts of the three splits as ids
attributes.parquet  what is known of entities beside the facts, if anything is
rules.parquet       the temporal rules that guide the model or that its evidence has paths of, if there are any
trace.jsonl         one line for each epoch
last.safetensors    weights, optimiser and progress: from which `--resume` continues
best.safetensors    the weights of the epoch with the best MRR on valid
reranker.safetensors
                    the trees of the re-ranker, if there is one
reranker_without_valid.safetensors
                    those that valid is judged by, where the re-ranker was fitted on valid as well
reranker_to_calibrate.safetensors
                    those fitted on the first half of valid, whose probabilities are calibrated on the second half
slots-SLOT.safetensors
                    the trees of the models of predicate and time, if there are any
slots.safetensors   the weights of the softmax over predicates that both read
member-N/           the same model with another seed, if the model is an ensemble
fold-N/             a model that leaves a fold of train out, if the re-ranker is fitted out of fold
gap.json            the largest gap to the last event that a question is looked at with, and what valid says of it
manifest.json       the size and the sha256 of every file above that answers depend on, and of the report: finished
report.json         the evaluation of the best weights, and the calibration
warm_start.json     the run whose weights this one began with, if there is one
agenda.json         the small model of forecasts of events, with a hash of its own, if one was asked for
backtests.jsonl     one line for each backtest that has ranked facts of test, if there was one
updates/            the events that were added after the training, a file for each update
made.json           the commit of the code that began it, if a benchmark did
report-after-N.json the same after the N epochs that the run had before it was given more
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from foretime.config import Config, TrainingConfig, config_text, override, read_config, read_toml
from foretime.data.graph import Graph
from foretime.devices import find_device
from foretime.errors import ConfigError, RunError
from foretime.files import (
    MOST_JSON,
    hold,
    json_bytes,
    make_folder,
    parse_json,
    read_json,
    read_text,
    write_bytes,
    write_text,
)
from foretime.models import model_class
from foretime.rules.files import read_rules
from foretime.rules.table import Rules
from foretime.runs import contents
from foretime.runs.manifest import FileProblem, Manifest, compare, list_backtests, read_manifest, write_whole
from foretime.training.files import TrainingFiles
from foretime.training.settings import default_penalties

SECONDS_BETWEEN_TRIES = 0.2
OLD_TREES = ("combiner.txt", "reranker*.txt", "slots-*.txt")
"""What earlier versions called their trees."""
SHOWN = 5
"""How many missing keys of a configuration a message names."""
WARM_START_KEYS = ("path", "fingerprint", "data_fingerprint")
"""What is kept of the run that another one began with."""
EARLIER = "report-after-"
"""How the names of reports begin that a run had before it was given more epochs."""


class RunFolder(TrainingFiles):
    """The files of one run."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(Path(path))
        self.config_file = self.path / contents.CONFIG.pattern
        self.rules_file = self.path / contents.RULES.pattern
        self.reranker_file = self.path / contents.RERANKER.pattern
        self.reranker_without_valid = self.path / contents.WITHOUT_VALID.pattern
        self.reranker_to_calibrate = self.path / contents.TO_CALIBRATE.pattern
        self.softmax_file = self.path / contents.SOFTMAX.pattern
        self.report_file = self.path / contents.REPORT.pattern
        self.manifest_file = self.path / contents.MANIFEST
        self.warm_start_file = self.path / "warm_start.json"
        self.device: str | None = None
        """The device to use instead of the configured one."""
        self.gap_file = self.path / contents.GAP.pattern
        self.backtests_file = self.path / "backtests.jsonl"

    @classmethod
    def create(cls, path: Path | str, config: Config, graph: Graph, rules: Rules | None = None) -> RunFolder:
        """Return a new run folder with configuration, graph and rules; one that holds a run already is an error."""
        cls.check_free(path)
        run = cls(path)
        make_folder(run.path)
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
    def open(cls, path: Path | str, device: str | None = None) -> RunFolder:
        """Return the run in an existing folder; a finished one that is not whole is a `RunError`.

        So is one whose trees are those of an earlier version.
        """
        run = cls.find(path, device)
        run.check()
        return run

    @classmethod
    def find(cls, path: Path | str, device: str | None = None) -> RunFolder:
        """Return the run in an existing folder, whatever is wrong with its files.

        It computes on the named device, or on that of its configuration; one that is not there is a `ConfigError`.
        """
        if device is not None:
            find_device(device)
        run = cls(path)
        run.device = device
        if not run.path.is_dir():
            raise RunError(f"{run.path}: no such run folder")
        if not run.config_file.is_file():
            raise RunError(f"{run.path}: not a run folder, it has no config.toml; name a folder that training has made")
        return run

    def check(self) -> None:
        """Raise `RunError` if the run is finished and a file that its answers depend on is not as it was then."""
        self.check_trees()
        first, *others = [*self.problems(), None]
        if first is not None:
            more = f"; foretime runs verify {self.path} names {len(others) - 1} more" if len(others) > 1 else ""
            raise RunError(f"{first}{more}")

    def check_trees(self) -> None:
        """Raise `RunError` if there are trees as an earlier version wrote them: nothing would read them."""
        if old := self.old_trees():
            remedy = f"foretime upgrade {self.path} keeps them as this one does"
            raise RunError(f"{old[0]}: trees as an earlier version wrote them; {remedy}")

    def problems(self) -> list[str]:
        """Return what is wrong with the files of a finished run by its manifest; a damaged manifest is a `RunError`."""
        manifest = read_manifest(self.path)
        if manifest is None:
            return [self.without_manifest] if self.report_file.exists() else []
        if manifest.changing is not None:
            return [self.interrupted(manifest)]
        return [self.said(problem) for problem in compare(self.path, manifest)]

    @property
    def without_manifest(self) -> str:
        """What is wrong with a finished run of an earlier version."""
        return (
            f"{self.manifest_file}: missing, and the run is finished: an earlier version made it, or it was removed; "
            f"foretime upgrade {self.path} checks the run and writes it"
        )

    def interrupted(self, manifest: Manifest) -> str:
        """Return what to do about a run whose files a command was changing when it was stopped."""
        command = f"foretime train --resume {self.path} {manifest.changing}".strip()
        return f"{self.path}: the run was being changed by a command that was stopped; do the rest with {command}"

    def said(self, problem: FileProblem) -> str:
        """Return what is wrong with a file as a sentence: its place, what is wrong, and what to do."""
        return f"{self.path / problem.name}: {problem.what}; {problem.remedy}"

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
        return self.path / contents.SLOTS.pattern.replace("*", slot)

    def old_trees(self) -> list[Path]:
        """Return the files of trees that an earlier version has written, as text."""
        return sorted(file for pattern in OLD_TREES for file in self.path.glob(pattern))

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

    def add_backtest(self, found: dict[str, Any]) -> None:
        """Keep in mind that a backtest has ranked facts of test; a folder that may not be written stays as it is."""
        with suppress(OSError), self.held():
            lines = [*self.backtests(), found]
            text = "".join(
                json.dumps({"number": n} | line, ensure_ascii=False) + "\n" for n, line in enumerate(lines, 1)
            )
            write_text(self.backtests_file, text)
            list_backtests(self.path)

    def backtests(self) -> list[dict[str, Any]]:
        """Return the backtests that have ranked facts of test, in their order."""
        try:
            found = [parse_json(line) for line in read_text(self.backtests_file, MOST_JSON).splitlines()]
            return [_backtest(line, number) for number, line in enumerate(found, start=1)]
        except FileNotFoundError:
            return []
        except (OSError, AttributeError, TypeError, ValueError) as error:
            raise RunError(f"{self.backtests_file}: damaged ({error}); restore the file or remove it") from None

    def fold(self, number: int) -> RunFolder:
        """Return the folder of a model that leaves a fold of train out."""
        return RunFolder(self.path / f"fold-{number}")

    def member(self, number: int) -> RunFolder:
        """Return the folder of the same model with another seed."""
        return RunFolder(self.path / f"member-{number}")

    def config(self) -> Config:
        """Return the configuration of the run, with the device that was named when it was opened.

        A key that is not in the file is a `ConfigError`.
        """
        config = read_config(self.config_file)
        if missing := self.missing_keys():
            raise ConfigError(
                f"{self.config_file}: {', '.join(missing[:SHOWN])}{' …' if len(missing) > SHOWN else ''} "
                f"{'is' if len(missing) == 1 else 'are'} missing, and a run has every key; restore the file, or, if an "
                f"earlier version made the run, foretime upgrade {self.path} adds what is new"
            )
        return config if self.device is None else override(config, {"training.device": self.device})

    def missing_keys(self) -> list[str]:
        """Return the keys that the configuration of the run does not have, and this version needs."""
        return missing_keys(read_toml(self.config_file), read_config(self.config_file))

    def graph(self) -> Graph:
        """Return the graph of the run."""
        return Graph.load(self.path)

    def rules(self, graph: Graph) -> Rules | None:
        """Return the rules that guide the run's model, if any do."""
        return read_rules(self.rules_file, graph) if self.rules_file.exists() else None

    def warm_start(self) -> dict[str, Any] | None:
        """Return what the run was started from: the path of another run and fingerprints; nothing without one."""
        try:
            found = _read_object(self.warm_start_file)
            if found.keys() != set(WARM_START_KEYS) or not all(isinstance(text, str) for text in found.values()):
                raise ValueError(f"its keys are not {', '.join(WARM_START_KEYS)}, each with a text")
            return found
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

    @contextmanager
    def reading_report(self) -> Iterator[None]:
        """Raise `RunError` where what a report says is not what is read from it within."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise RunError(
                f"{self.report_file}: damaged report ({type(error).__name__}: {error}); remove it, and foretime train "
                f"--resume {self.path} writes it again"
            ) from None

    def write_report(self, report: dict[str, Any]) -> None:
        """Finish the run: write its manifest, then its report."""
        content = json_bytes(report)
        write_whole(self.path, content)
        write_bytes(self.report_file, content)


def missing_keys(values: dict[str, Any], config: Config) -> list[str]:
    """Return the keys that a run with this configuration has, and the values that were read have not."""
    written: dict[str, Iterable[str]] = config.model_dump(exclude_none=True)
    written["model"] = ["name", *model_class(config.model).options().model_fields]
    written["penalties"] = default_penalties(config)
    # also what is not given to a training: a run has chosen it; all but the device, which may be another one every time
    written["training"] = [key for key in TrainingConfig.model_fields if key != "device"]
    missing = [f"[{section}]" for section in written if section not in values]
    return missing + [
        f"{section}.{key}"
        for section, keys in written.items()
        for key in keys
        if section in values and key not in values[section]
    ]


def _read_object(file: Path) -> dict[str, Any]:
    """Return the JSON object in a file; any other content is a `ValueError`."""
    found = read_json(file)
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def _backtest(line: dict[str, Any], number: int) -> dict[str, Any]:
    """Return what a line says of a backtest, without its number; anything else is a `ValueError`."""
    said = {name: value for name, value in line.items() if name != "number"}
    if line.get("number") != number or [type(said.get(name)) for name in ("at", "first", "last")] != [str] * 3:
        raise ValueError(f"line {number} is not that of a backtest")
    return said


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
