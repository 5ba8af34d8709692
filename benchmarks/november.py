"""A month as an analyst lives it: ICEWS14 until October, then November day by day.

    python -m benchmarks.november icews14 FOLDER

Makes FOLDER/until-october.tsv and one file for each day of November, trains FOLDER/run on the first (train until
September, valid October, no test) if it is not there yet, and copies it to FOLDER/living. Every morning both say what the
day will bring: `living`, which has been told of every day before, and `run`, which knows nothing after October. Every
evening the events of the day are held against both, and `living` is updated. On the days of `TOLD` all of this is done by
processes of the command line, whose output is kept, and on the others in Python.

Writes benchmarks/results/november.json, and the tables and the output into docs/november.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import foretime as ft
from benchmarks.agenda import baselines, reliability
from benchmarks.november_page import write_page
from foretime.data.facts import Ids
from foretime.data.splitting import SPLITS
from foretime.files import write_json
from foretime.inference.agenda.counts import Floats
from foretime.inference.agenda.history import Triples
from foretime.inference.agenda.outlook import Limits, candidates
from foretime.runs.machine import machine

RESULT = Path(__file__).parent / "results" / "november.json"
FIRST, DAYS = date(2014, 11, 1), 30
TRAINING = ("--forecast", "--valid-from", "2014-10-01", "--set", "reranker.slots=false")
TOLD = ("2014-11-03", "2014-11-24")
"""The first Monday, and the day until which the talks with Iran were to end: chosen from the calendar, before anything
was asked."""
SUBJECT, QUESTION = "Iran", "Consult"
TOPS = (10, 20, 100)
HEADER = ("subject", "predicate", "object", "time")
WIDTH = {"COLUMNS": "150", "NO_COLOR": "1"}


class Day(NamedTuple):
    """A day of November: its name, and the file of its events."""

    name: str
    file: Path


def main() -> None:
    """Make the files, train, walk, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of ICEWS14")
    parser.add_argument("folder", type=Path, help="where the files and the runs are kept")
    given = parser.parse_args()
    days = write_files(given.data, given.folder)
    trained, living = given.folder / "run", given.folder / "living"
    if not (trained / "report.json").exists():
        foretime("train", str(given.folder / "until-october.tsv"), *TRAINING, "--out", str(trained))
    ft.open_run(trained).forecast(steps=1)  # fits the agenda, on October, for both
    shutil.rmtree(living, ignore_errors=True)
    shutil.copytree(trained, living)
    write_json(RESULT, walk(trained, living, days))
    write_page(json.loads(RESULT.read_text(encoding="utf-8")))


def write_files(data: Path, folder: Path) -> list[Day]:
    """Write the events until October into one file, and those of each day of November into one each."""
    texts = [(data / f"{split}.txt").read_text(encoding="utf-8") for split in SPLITS]
    rows = sorted((line.split("\t") for text in texts for line in text.split("\n") if line), key=lambda row: row[3])
    (folder / "november").mkdir(parents=True, exist_ok=True)
    before = ["\t".join(row) + "\n" for row in rows if row[3] < FIRST.isoformat()]
    (folder / "until-october.tsv").write_text("".join(before), encoding="utf-8", newline="\n")
    days = [Day(day, folder / "november" / f"{day}.csv") for day in map(_day, range(DAYS))]
    for day, file in days:
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([HEADER, *(row for row in rows if row[3] == day)])
    return days


def _day(number: int) -> str:
    return (FIRST + timedelta(days=number)).isoformat()


def walk(trained: Path, living: Path, days: list[Day]) -> dict[str, Any]:
    """Return what was said each morning, what came, and what it took."""
    frozen, run = ft.open_run(trained), ft.open_run(living)
    walker, told, found = Walker(run, frozen, len(days)), {}, []
    for number, day in enumerate(days):
        by_hand = tell_morning(living, run) if day.name in TOLD else None
        said = {name: walker.morning(number, limits) for name, limits in walker.scopes.items()}
        kept = walker.evening(day, by_command=by_hand is not None)
        kept["precision"] = {name: walker.hold_against(name, one) for name, one in said.items()}
        if by_hand is not None:
            told[day.name] = by_hand | {"update": kept.pop("printed"), "came": walker.came_of(said)}
        found.append(kept)
        print(json.dumps(kept), flush=True)
    graph = frozen.graph
    return {
        "data": graph.name, "fingerprint": graph.fingerprint(), "train": len(graph.train), "valid": len(graph.valid),
        "valid_mrr": frozen.evaluations["valid"].all.mrr, "training_seconds": frozen.report["training_seconds"],
        "agenda_fitted_on": frozen._forecasts.model.days, "machine": machine(), "load": round(os.getloadavg()[0], 1),
        "days": found, "reliability": walker.reliability(), "told": told,
    }  # fmt: skip


class Said(NamedTuple):
    """What one ranking said in the morning: the keys of its events, the best first, and how likely each is."""

    keys: Ids
    probability: Floats | None = None

    @classmethod
    def of(cls, triples: Triples, score: Floats, probability: Floats | None = None) -> Said:
        """Return events by falling score."""
        order = np.argsort(-score, kind="stable")
        return cls(keys_of(triples)[order], None if probability is None else probability[order])


def keys_of(triples: Triples) -> Ids:
    """Return one number for each event that stays the same when the graph grows."""
    return (triples.subject << 40) + (triples.predicate << 24) + triples.object


class Walker:
    """Two runs on their way through the month, one of which hears every evening what came."""

    def __init__(self, run: ft.Run, frozen: ft.Run, days: int) -> None:
        self.run, self.frozen, self.first = run, frozen, len(frozen.graph.timeline)
        self.scopes = {"whole graph": Limits(), SUBJECT: Limits(subject=frozen.graph.entities.id(SUBJECT))}
        self._ahead = {name: frozen._forecasts.outlook(self.first, days, one) for name, one in self.scopes.items()}
        self._pooled: dict[str, list[tuple[Floats, NDArray[np.bool_]]]] = defaultdict(list)
        self._truth = np.empty(0, dtype=np.int64)
        self._seconds: dict[str, dict[str, float]] = {}

    def morning(self, number: int, limits: Limits) -> dict[str, Said]:
        """Return what every ranking says of a day; only `not updated` and `said on 1 November` do not know the last."""
        start, scope = self.first + number, next(name for name, one in self.scopes.items() if one == limits)
        with self._timed(f"forecast, {scope}"):
            maker = self.run._forecasts
            living = maker.outlook(start, 1, limits)
        frozen = self.frozen._forecasts.outlook(start, 1, limits)
        ahead = self._ahead[scope]
        later = self.frozen._forecasts.model.window_probability(ahead.by_step[:, [number]])
        known = candidates(maker.history, start, limits)
        held = baselines(maker, known, start)
        return {
            "updated": Said(keys_of(living.triples), living.probability),
            "not updated": Said(keys_of(frozen.triples), frozen.probability),
            "said on 1 November": Said.of(ahead.triples, later, later),
            "recency": Said.of(known, held["recency"]),
            "frequency": Said.of(known, held["frequency"]),
        }

    def evening(self, day: Day, by_command: bool) -> dict[str, Any]:
        """Let the events of a day in, and return what they were and how long it took."""
        rows = list(csv.reader(day.file.open(encoding="utf-8", newline="")))[1:]
        before, seen = self.run.predictor.graph, self.run._forecasts.history
        printed = None
        with self._timed("update"):
            if by_command:
                printed = foretime("update", str(self.run.path), str(day.file))
                self.run.refresh()
            else:
                self.run.update(day.file)
        graph = self.run.predictor.graph
        tomorrow = (date.fromisoformat(day.name) + timedelta(days=1)).isoformat()
        with self._timed("answer"):
            self.run.predict(subject=SUBJECT, predicate=QUESTION, time=tomorrow)
        names = zip(*(row[:3] for row in rows), strict=True)
        slots = (graph.entities, graph.predicates, graph.entities)
        triples = Triples(*(np.array(one.ids(column)) for one, column in zip(slots, names, strict=True)))
        self._truth = np.unique(keys_of(triples))
        kept: dict[str, Any] = {
            "day": day.name, "events": len(rows), "new": len(np.setdiff1d(self._truth, keys_of(seen.events))),
            "new_entities": len(graph.entities) - len(before.entities),
            "new_predicates": len(graph.predicates) - len(before.predicates),
            "by": "process" if by_command else "python", "seconds": self._seconds,
        }  # fmt: skip
        return kept | ({} if printed is None else {"printed": printed})

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        """Keep how long something takes, by the clock and of the processor: other work may share the machine."""
        clock, processor = time.perf_counter(), time.process_time()
        yield
        taken = {"clock": time.perf_counter() - clock, "processor": time.process_time() - processor}
        self._seconds = self._seconds | {name: {key: round(value, 3) for key, value in taken.items()}}

    def hold_against(self, scope: str, said: dict[str, Said]) -> dict[str, dict[str, float]]:
        """Return the precision of each ranking at each k and, for the whole graph, the Brier scores."""
        limit = self.scopes[scope].subject
        truth = self._truth if limit is None else self._truth[self._truth >> 40 == limit]
        right = {name: np.isin(one.keys, truth) for name, one in said.items()}
        found = {name: {f"@{top}": int(came[:top].sum()) / top for top in TOPS} for name, came in right.items()}
        # all that any of them listed, and all that came: what one has not listed it called impossible
        every = np.unique(np.concatenate([truth, *(one.keys for one in said.values())]))
        came = np.isin(every, truth)
        for name, one in said.items():
            if one.probability is not None:
                self._pooled[f"{name}, {scope}"].append((one.probability, right[name]))
                chance = np.zeros(len(every))
                chance[np.searchsorted(every, one.keys)] = one.probability
                found[name]["squared errors"] = round(float(((chance - came) ** 2).sum()), 3)
        return found

    def came_of(self, said: dict[str, dict[str, Said]]) -> dict[str, Any]:
        """Return which of the first events of a morning came, and how likely those were that came."""
        first = {scope: np.isin(one["updated"].keys[:20], self._truth).tolist() for scope, one in said.items()}
        whole = said["whole graph"]["updated"]
        chance = whole.probability[np.isin(whole.keys, self._truth)] if whole.probability is not None else np.empty(0)
        return {"first": first, "listed": len(chance), "below 1 %": int((chance < 0.01).sum()), "all": len(self._truth)}

    def reliability(self) -> dict[str, Any]:
        """Return how far the probabilities of the month could be believed."""
        return {
            name: reliability(*(np.concatenate(column) for column in zip(*pairs, strict=True)))
            for name, pairs in self._pooled.items()
        }


def tell_morning(living: Path, run: ft.Run) -> dict[str, Any]:
    """Return what the command line prints in the morning; it must say what Python says."""
    ask = ("forecast", str(living), "--days", "1")
    began = time.perf_counter()
    whole = foretime(*ask, "--top", "20")
    seconds = round(time.perf_counter() - began, 1)
    events = run.forecast(steps=1, top=20)
    if re.findall(r"\d+\.\d%", whole) != [f"{event.probability:.1%}" for event in events]:
        raise AssertionError("the command line forecasts other events than Python")
    subject = foretime(*ask, "--subject", SUBJECT, "--top", "5", "--why", "1")
    return {
        "whole graph": whole,
        SUBJECT: subject,
        "process_seconds": seconds,
        "events": [one.to_dict() for one in events],
    }


def foretime(*arguments: str) -> str:
    """Run a command of foretime as a process of its own, and return what it printed."""
    command = [sys.executable, "-m", "foretime", *arguments]
    environment = {**os.environ, **WIDTH}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


if __name__ == "__main__":
    main()
