"""What foretime does to folders, as it is disturbed: how each act begins, its command, and how a user goes on after it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.faults.materials import RERANKED, SMALL, Materials, train
from benchmarks.faults.twins import contents_of

OLD_RUN = Path(__file__).parents[2] / "tests" / "runs" / "old_run"
Contents = dict[str, Any]
PHASES = (
    (r"^ranking (valid|test)$", "final report"),
    (r"^calibrating", "calibration"),
    (r"^fitting the (softmax|model)", "models of the slots"),
    (r"^(extracting|fitting the re-ranker)", "re-ranker"),
    (r"^(member|base model|.*epoch +\d+ )", "training and checkpoints"),
    (r"^(training|mining)", "rules and a new folder"),
)
"""The phase of a training by the last line that it has said."""


class Act(NamedTuple):
    """A command on a folder."""

    name: str
    begin: Callable[[Path], None]
    """Make what the command finds."""
    command: Callable[[Path], list[str]]
    again: tuple[Callable[[Path], list[str]], ...]
    """What a user does afterwards, in turn, until one of them succeeds."""
    whole: Callable[[Path], Contents] | None = None
    """What must be as before or as afterwards at any moment, if anything must."""
    or_nothing: bool = False
    """Whether it may also be missing for a moment."""

    def phase(self, said: str) -> str:
        """Return what it was doing, by what it has said."""
        if self.command(Path())[0] != "train":
            return self.name
        lines = [line for line in said.splitlines() if line.strip()]
        for line in reversed(lines):
            for pattern, phase in PHASES:
                if re.match(pattern, line):
                    return phase
        return "reading" if "--resume" not in self.command(Path()) else "reading a run"


def acts_of(made: Materials) -> list[Act]:
    """Return the acts; the runs that they begin with are trained."""
    living = made.run("living", {**RERANKED, "training.ensemble_size": 1}, updates=True)
    plain = made.run("plain", {})
    forecasting = made.forecasting("forecasting")
    return [
        Act(
            "train", _nothing, lambda at: train(SMALL | RERANKED, made.data, at / "run"), (_resume, _train_again(made))
        ),
        Act("more epochs", _copy(plain), _more_epochs, (_more_epochs, _resume)),
        Act("a re-ranker that is gone", _without_trees(living), _resume, (_resume,)),
        Act("update", _copy(living, without=("000002.jsonl", "list.json")), _update(made), (_update(made),), _updates),
        Act("update --undo", _copy(living), _undo, (_update(made), _undo), _updates),
        Act("upgrade", _copy(OLD_RUN), _upgrade, (_upgrade,)),
        Act("upgrade of a run without a manifest", _copy(living, without=("manifest.json",)), _upgrade, (_upgrade,)),
        Act("data import", _nothing, _import(made), (_import(made),), _imported, True),
        Act(
            "data import in place of another", _imported_before(made), _import(made), (_import(made),), _imported, True
        ),
        Act("forecast", _copy(forecasting, without=("agenda.json",)), _forecast, (_forecast,)),
    ]


def _nothing(folder: Path) -> None:
    """Begin with an empty folder."""


def _copy(run: Path, without: tuple[str, ...] = ()) -> Callable[[Path], None]:
    return lambda folder: _copied(run, folder, without)


def _copied(run: Path, folder: Path, without: tuple[str, ...]) -> None:
    shutil.copytree(run, folder / "run", ignore=shutil.ignore_patterns(*without))


def _without_trees(run: Path) -> Callable[[Path], None]:
    return lambda folder: _copied(run, folder, ("reranker.safetensors",))


def _imported_before(made: Materials) -> Callable[[Path], None]:
    def begin(folder: Path) -> None:
        edges = folder.parent / "earlier.csv"
        lines = made.edges.read_text(encoding="utf-8").splitlines()
        edges.write_text("\n".join(lines[:50]) + "\n", encoding="utf-8")
        made.do("data", "import", "tgb", str(edges), "--out", str(folder / "events"))

    return begin


def _train_again(made: Materials) -> Callable[[Path], list[str]]:
    return lambda folder: train(SMALL | RERANKED, made.data, folder / "run")


def _resume(folder: Path) -> list[str]:
    return ["train", "--resume", str(folder / "run")]


def _more_epochs(folder: Path) -> list[str]:
    return [*_resume(folder), "--epochs", "3"]


def _update(made: Materials) -> Callable[[Path], list[str]]:
    return lambda folder: ["update", str(folder / "run"), str(made.still_more)]


def _undo(folder: Path) -> list[str]:
    return ["update", str(folder / "run"), "--undo"]


def _upgrade(folder: Path) -> list[str]:
    return ["upgrade", str(folder / "run")]


def _import(made: Materials) -> Callable[[Path], list[str]]:
    return lambda folder: ["data", "import", "tgb", str(made.edges), "--out", str(folder / "events")]


def _forecast(folder: Path) -> list[str]:
    return ["forecast", str(folder / "run"), "--json"]


def _updates(folder: Path) -> Contents:
    """Return the updates; the number of the last one comes after it, and may be missing until the next time."""
    return {name: found for name, found in contents_of(folder / "run" / "updates").items() if name[0].isdigit()}


def _imported(folder: Path) -> Contents:
    return contents_of(folder / "events")
