"""Kills processes, breaks disks and damages runs on purpose, and counts what is lost: it should be nothing.

    python -m benchmarks.faults.check            a minute or two
    python -m benchmarks.faults.check --long     an hour: the figures of docs/robustness.md

    python -m benchmarks.faults.check --long --add --seed 1 --minutes 20
                                                 as much of another hour as fits, added to the figures

All fail if anything is lost, crashes, hangs, ends with a traceback, or answers otherwise without a word. The long form
writes benchmarks/results/faults.json and the tables of the page, which `--page` writes again from the file.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults.acts import acts_of
from benchmarks.faults.kills import Fault, Kills, faults_of
from benchmarks.faults.materials import OF_THE_PAST, RERANKED, SMALL, Materials, train
from benchmarks.faults.mutations import Mutations, Subject
from benchmarks.faults.page import OUT, write_page
from benchmarks.faults.processes import command_line
from benchmarks.faults.shim import Shim, environment
from foretime.files import write_json
from foretime.runs.machine import machine

IN_MEMORY = Path("/dev/shm")
"""Where files cost nothing: what a power cut leaves is not what is checked here."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "NUMBA_THREADING_LAYER": "workqueue"}
"""A process with threads cannot be forked."""
INSIDE = "--inside"
SHARES = {"train": 0.45}
"""Which acts get more than an equal share of the kills."""
KILLS, MUTATIONS, ANEW = {False: 30, True: 1400}, {False: 120, True: 5400}, {False: 1, True: 20}
"""How many, short and long; of the kills some are disk errors, and some come too late."""
ROUNDS = {False: 1, True: 20}
"""In how many rounds over everything; the figures are written after each, so that a check that is stopped has them."""


def main() -> None:
    """Check, print the counts, and exit with 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="thousands of faults, and write the figures")
    parser.add_argument("--page", action="store_true", help="only write the tables of the page from the figures")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn")
    parser.add_argument("--only", choices=("kills", "mutations"), help="one half of it")
    parser.add_argument("--add", action="store_true", help="add to the figures that are there, by another seed")
    parser.add_argument("--minutes", type=float, default=600, help="after how many no other round begins")
    parser.add_argument(INSIDE, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.page:
        write_page()
    elif given.inside is None:
        sys.exit(_begin_anew())
    else:
        sys.exit(_check(given))


def _begin_anew() -> int:
    """Check in a process in which calls of the system are disturbed; return its exit code."""
    place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place, prefix="foretime-faults-") as folder:
        words = [sys.executable, "-m", "benchmarks.faults.check", *sys.argv[1:], INSIDE, folder]
        return subprocess.run(words, env=environment(Path(folder)) | ONE_THREAD, check=False).returncode


def _check(given: argparse.Namespace) -> int:
    made = Materials(given.inside / "made")
    _load_everything(made)
    found = json.loads(OUT.read_text(encoding="utf-8")) if (given.only or given.add) and OUT.exists() else {}
    earlier, failures = found if given.add else {}, 0
    for name, check in {"kills": _kills, "mutations": _mutations}.items():
        if given.only not in (None, name):
            continue
        before, counts, begun = earlier.get(name, {}), {}, time.monotonic()
        if given.seed in before.get("seeds", []):
            raise SystemExit(f"{OUT} has the {name} of seed {given.seed} already; give another --seed")
        for counts in check(made, random.Random(given.seed), given.long):
            minutes = round((time.monotonic() - begun) / 60, 1)
            own = {"seeds": [given.seed], "minutes": minutes, **counts}
            found = found | {name: {"machine": machine(), **added(before, own)}}
            if given.long:
                write_json(OUT, found)
            if minutes >= given.minutes:
                break
        failures += len(counts["failures"])
    print(f"{failures} failures")
    if given.long:
        write_page()
    return int(failures > 0)


def added(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of two checks as one: numbers are summed, lists put one behind the other."""
    found = {name: value for name, value in before.items() if name != "machine"}
    for name, value in now.items():
        old = found.get(name)
        if old is None or isinstance(value, bool):
            found[name] = value
        elif isinstance(value, dict):
            found[name] = added(old, value)
        else:
            found[name] = round(old + value, 1) if isinstance(value, float) else old + value
    return found


def _load_everything(made: Materials) -> None:
    """Train once in this process: its children find every module and every compiled kernel in their memory."""
    print("loading", flush=True)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        command_line(train(SMALL | RERANKED, made.data, made.folder / "first"))()
    gc.collect()
    gc.freeze()  # or every child would copy all that it looks through
    gc.disable()


def _kills(made: Materials, draw: random.Random, long: bool) -> Iterator[dict[str, Any]]:
    shim = Shim()
    if not shim.is_there:
        print("no C compiler: kills inside system calls and errors of the disk are left out")
    acts, kills = acts_of(made), Kills(made, shim, draw)
    twins = {act.name: kills.twin(act) for act in acts}
    faults = {}
    for act in acts:
        share = SHARES.get(act.name, (1 - sum(SHARES.values())) / (len(acts) - len(SHARES)))
        faults[act.name] = faults_of(twins[act.name], max(2, round(KILLS[long] * share)), draw, shim.is_there)
    if shim.is_there:
        calls = len(twins["train"].calls)
        faults["train"] += [
            Fault(1 + draw.randrange(2), draw.randrange(1, calls), anew=True) for _ in range(ANEW[long])
        ]
    for some in faults.values():
        draw.shuffle(some)
    for round_ in range(ROUNDS[long]):
        for act in acts:
            kills.disturb(act, twins[act.name], faults[act.name][round_ :: ROUNDS[long]])
        _print(f"{kills.kinds['killed']:,} kills so far", kills.failures)
        yield {"calls_disturbed": shim.is_there, **kills.to_dict()}


def _mutations(made: Materials, draw: random.Random, long: bool) -> Iterator[dict[str, Any]]:
    other = made.run("other", {**RERANKED, "training.seed": 1}, updates=True)
    past = made.run("past", {**OF_THE_PAST, "training.seed": 1})
    full = made.run("full", RERANKED, updates=True)
    subjects = [
        Subject("a finished run", full, other),
        Subject("a run of forecasts", made.forecasting("forecasting"), past),
        Subject("an unfinished run", made.unfinished("unfinished"), other),
    ]
    mutations = Mutations(made, draw)
    for _ in range(ROUNDS[long]):
        for subject in subjects:
            mutations.damage(subject, MUTATIONS[long] // len(subjects) // ROUNDS[long])
        _print(f"{sum(mutations.files.values()):,} mutations so far", mutations.failures)
        yield mutations.to_dict()


def _print(text: str, failures: list[str]) -> None:
    print(f"{text}, {len(failures)} failures", flush=True)
    for failure in failures[-20:]:
        print(f"  {failure}")


if __name__ == "__main__":
    main()
