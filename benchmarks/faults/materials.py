"""What is disturbed: small graphs and files of events, and runs that have all that a run may have."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.faults.processes import Ended, command_line, forked

SMALL = {
    "model.rank": 4,
    "training.epochs": 2,
    "training.batch_size": 100,
    "training.threads": 1,
    "training.valid_every": 1,
    "training.checkpoint_seconds": 0,
    "rules.support": 2,
}
"""A training of a second that saves its state after every step."""
RERANKED = {
    "evidence.use": "true",
    "training.ensemble_size": 2,
    "reranker.use": "true",
    "reranker.fit": "out-of-fold",
    "reranker.folds": 2,
    "reranker.fitted_folds": 1,
    "reranker.top": 5,
    "reranker.trees": 4,
    "reranker.leaves": 4,
    "reranker.leaf_candidates": 2,
    "reranker.with_valid": "true",
}
"""Two members, a fold, trees of the re-ranker in three files, and models of the slots."""
OF_THE_PAST = {
    "evidence.use": "true",
    "evidence.past_only": "true",
    "reranker.use": "true",
    "reranker.fit": "fold",
    "reranker.folds": 3,
    "reranker.top": 5,
    "reranker.trees": 4,
    "reranker.leaves": 4,
    "reranker.leaf_candidates": 2,
    "data.split": "time",
}
STOPPED, STEPS = 130, 9
LAST_DAY = "2020-02-29"
QUESTION = ["--subject", "state 0", "--predicate", "visits", "--time", "2020-05-05"]
ANSWER = ["--object", "state 1"]


def train(settings: dict[str, object], data: Path, out: Path) -> list[str]:
    """Return the command that trains on a graph."""
    named = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return ["train", str(data), "--model", "lcge", "--out", str(out), *named]


def rows(count: int, seed: int, first: str = "2020-01-01") -> list[tuple[str, str, str, str]]:
    """Return events that can be learned: each subject visits its own two hosts, in turn by month."""
    draw, found = np.random.default_rng(seed), {}
    while len(found) < count:
        subject, day = int(draw.integers(8)), int(draw.integers(60))
        host = (subject + 1 + (day // 30) % 2 + int(draw.random() < 0.1)) % 8
        verb = ("visits", "praises", "sues")[subject % 3]
        found[f"state {subject}", verb, f"state {host}", str(np.datetime64(first) + day)] = None
    return list(found)


class Materials:
    """The files and the runs, made in a folder, each once."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.scratch = folder, folder / "scratch"
        self.data, self.edges = folder / "data", folder / "edges.csv"
        self.more, self.still_more = folder / "more.tsv", folder / "still_more.tsv"
        self.work, self.runs = folder / "work", folder / "runs"
        for made in (self.scratch, self.data, self.runs):
            made.mkdir(parents=True)
        self._write_data()

    def _write_data(self) -> None:
        _write(self.data / "events.tsv", rows(120, 0))
        kinds = [(f"state {number}", ("land", "union")[number % 2]) for number in range(8)]
        _write(self.data / "entities.tsv", [("name", "type"), *kinds])
        _write(self.more, rows(6, 1, "2020-03-01"))
        _write(self.still_more, [*rows(5, 2, "2020-03-15"), ("state 9", "visits", "state 1", "2020-05-01")])
        edges = [(str(day), who, whom, what) for who, what, whom, day in rows(200, 3)]
        lines = [",".join((str(int(np.datetime64(day).astype(int))), *rest)) for day, *rest in edges]
        self.edges.write_text("\n".join(["timestamp,head,tail,relation_type", *lines, "soon,a,b,c"]) + "\n")

    def do(self, *words: str, stop_after: int = 0) -> Ended:
        """Run a command that must succeed, or be stopped after some steps of training."""
        act = command_line(words)
        ended = forked(_stopped(act, stop_after) if stop_after else act, self.scratch)
        if ended.code != (STOPPED if stop_after else 0):
            raise RuntimeError(f"{' '.join(words)} ended with {ended.code}:\n{ended.err}")
        return ended

    def run(self, name: str, settings: dict[str, object], updates: bool = False) -> Path:
        """Return a run with these settings, trained if it is not there yet."""
        path = self.runs / name
        if not path.exists():
            self.do(*train(SMALL | settings, self.data, path))
            if updates:
                self.do("update", str(path), str(self.more))
                self.do("update", str(path), str(self.still_more))
        return path

    def forecasting(self, name: str) -> Path:
        """Return a run of forecasts with weights of another, a backtest, and an agenda."""
        path = self.runs / name
        if not path.exists():
            before = self.run(f"{name}-before", OF_THE_PAST)
            self.do("train", "--warm-start", str(before), "--out", str(path), "--set", "reranker.fit=refit")
            self.do("backtest", str(path), "--from", LAST_DAY, "--to", LAST_DAY)
            self.do("forecast", str(path), "--json")
        return path

    def unfinished(self, name: str) -> Path:
        """Return a run that was stopped while its last model was trained."""
        path = self.runs / name
        if not path.exists():
            self.do(
                *train(SMALL | RERANKED | {"training.epochs": 1, "reranker.folds": 3}, self.data, path),
                stop_after=STEPS,
            )
        return path

    def empty_work(self) -> Path:
        """Return the folder in which something is disturbed, with nothing in it."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        return self.work


def _stopped(act: Callable[[], int], steps: int) -> Callable[[], int]:
    """Return an act in which the training asks to be stopped after some steps, as Ctrl-C has it."""

    def run() -> int:
        from foretime.cli.progress import TerminalProgress

        asked = iter(range(steps))
        TerminalProgress.stop_wanted = lambda _: next(asked, None) is None
        return act()

    return run


def _write(path: Path, lines: list[tuple[str, ...]]) -> None:
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
