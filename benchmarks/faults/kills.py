"""Kills: processes end at random moments and inside calls of the system, and disks fail; then users go on."""

from __future__ import annotations

import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.faults.acts import Act, Contents
from benchmarks.faults.materials import Materials
from benchmarks.faults.processes import Ended, begun_anew, command_line, forked
from benchmarks.faults.shim import BROKEN, CALLS, FULL, KILL_BEFORE, KILL_WITHIN, Shim
from benchmarks.faults.twins import contents_of, differences

WHEN = {KILL_BEFORE: "before", KILL_WITHIN: "within", FULL: "full disk", BROKEN: "broken disk"}
GROWING = "wfomr"
"""The calls that a full disk lets fail."""
INSIDE, ERRORS = 0.5, 0.2
"""The shares of kills inside calls and of errors of the disk among the faults of an act."""
AT_RANDOM = "at a random moment"
TRACEBACK = "Traceback (most recent call last)"
WORDS_OF_A_FULL_DISK = "free some space on that disk, then do the same again"


class Twin(NamedTuple):
    """An act that nothing has disturbed."""

    calls: str
    """A letter for each call of the system that it makes on its folder."""
    seconds: float
    before: Contents
    after: Contents
    whole: tuple[Contents, Contents] | None
    """What must be whole at any moment: as it was before, and as it is afterwards."""


class Fault(NamedTuple):
    """What disturbs an act: its number-th call, or a kill after some seconds."""

    action: int = 0
    at: int = 0
    seconds: float | None = None
    anew: bool = False
    """Whether the act runs in a new interpreter."""


class Kills:
    """Disturbs acts, and counts what becomes of them."""

    def __init__(self, made: Materials, shim: Shim, draw: random.Random) -> None:
        self._made, self._shim, self._draw = made, shim, draw
        self.kinds, self.errors = Counter[str](), Counter[str]()
        self.phases, self.calls, self.acts = Counter[str](), Counter[str](), Counter[str]()
        self.failures: list[str] = []

    def disturb(self, act: Act, twin: Twin, faults: list[Fault]) -> None:
        """Disturb an act in each of some ways."""
        for fault in faults:
            problem = self._problem(act, twin, fault)
            if problem:
                self.failures.append(f"{act.name}, {self._words(twin, fault)}: {problem}")

    def twin(self, act: Act) -> Twin:
        """Return what the act does if nothing disturbs it."""
        work = self._begun(act)
        before, whole_before = contents_of(work), act.whole(work) if act.whole else {}
        with self._shim.watching(work):
            ended = self._run(act.command(work))
            calls = self._shim.calls()
        if ended.code:
            raise RuntimeError(f"{act.name} fails by itself:\n{ended.err}")
        whole = (whole_before, act.whole(work)) if act.whole else None
        return Twin(calls, ended.seconds, before, contents_of(work), whole)

    def _problem(self, act: Act, twin: Twin, fault: Fault) -> str:
        """Disturb an act once, go on, and return what is wrong, nothing if all is well."""
        work = self._begun(act)
        run = self._anew if fault.anew else self._run
        with self._shim.watching(work, fault.at, fault.action):
            ended = run(act.command(work), fault.seconds)
        self._count(act, twin, fault, ended)
        problem = self._wrong_end(ended, fault, work) or self._half_done(act, twin, work)
        if not problem and self._draw.random() < 0.1 and (work / "run" / "config.toml").exists():
            problem = _told(self._run(["predict", str(work / "run"), "--subject", "state 0", "--predicate", "visits"]))
        return problem or self._lost(act, twin, work)

    def _lost(self, act: Act, twin: Twin, work: Path) -> str:
        """Do what a user does afterwards; return what is not as if nothing had happened."""
        if act.whole is not None and act.name == "update --undo" and act.whole(work) == (twin.whole or ((), ()))[1]:
            return _said(differences(contents_of(work), twin.after))
        tried = []
        for again in act.again if act.name != "update --undo" else act.again[1:]:
            ended = self._run(again(work))
            if ended.code == 0:
                return _said(differences(contents_of(work), twin.after))
            tried.append(f"exit code {ended.code}: {ended.err[-300:]}")
        return f"no command goes on: {tried}"

    def _half_done(self, act: Act, twin: Twin, work: Path) -> str:
        if act.whole is None or twin.whole is None:
            return ""
        found = act.whole(work)
        allowed = (*twin.whole, {}) if act.or_nothing else twin.whole
        return "" if found in allowed else f"half done: {differences(found, twin.whole[1])}"

    def _wrong_end(self, ended: Ended, fault: Fault, work: Path) -> str:
        if fault.action not in (FULL, BROKEN):
            return "" if ended.code in (0, -signal.SIGKILL) else f"ended with {ended.code}: {ended.err[-300:]}"
        if problem := _told(ended):
            return problem
        if ended.code == 0:
            return ""  # what was not written matters to nobody, or the end is compared below
        if str(work) not in ended.err:
            return f"the message names no file: {ended.err[-300:]}"
        last = (ended.err.strip().splitlines() or [""])[-1]
        return "" if fault.action == BROKEN or WORDS_OF_A_FULL_DISK in ended.err else f"no remedy: {last}"

    def _count(self, act: Act, twin: Twin, fault: Fault, ended: Ended) -> None:
        if fault.action in (FULL, BROKEN):
            self.errors[f"{WHEN[fault.action]}, {CALLS[twin.calls[fault.at - 1]]}"] += 1
            return
        killed = ended.code == -signal.SIGKILL
        self.kinds["killed" if killed else "had ended already"] += 1
        if killed:
            self.acts[act.name] += 1
            self.phases[act.phase(ended.err)] += 1
            self.calls[self._words(twin, fault)] += 1
            self.kinds["in a new interpreter"] += fault.anew

    def _words(self, twin: Twin, fault: Fault) -> str:
        if not fault.action:
            return AT_RANDOM
        letter = twin.calls[fault.at - 1] if fault.at <= len(twin.calls) else "?"
        return f"{WHEN[fault.action]} {CALLS.get(letter, 'a later call')}"

    def _begun(self, act: Act) -> Path:
        work = self._made.empty_work()
        act.begin(work)
        return work

    def _run(self, words: list[str], kill_after: float | None = None) -> Ended:
        return forked(command_line(words), self._made.scratch, kill_after)

    def _anew(self, words: list[str], kill_after: float | None = None) -> Ended:
        return begun_anew(words, self._made.scratch, kill_after)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return {
            "kills": dict(self.kinds),
            "by_act": dict(self.acts),
            "by_phase": dict(self.phases),
            "by_call": dict(self.calls),
            "disk_errors": dict(self.errors),
            "failures": self.failures,
        }


def faults_of(twin: Twin, count: int, draw: random.Random, in_calls: bool) -> list[Fault]:
    """Return so many faults of an act: kills inside calls, errors of the disk, and kills at random moments.

    Where an act makes too few calls for its shares of the first two, there are more of the third.
    """
    calls = list(enumerate(twin.calls, start=1)) if in_calls else []
    kills = [Fault(action, at) for at, _ in calls for action in (KILL_BEFORE, KILL_WITHIN)]
    errors = [Fault(BROKEN, at) for at, _ in calls] + [Fault(FULL, at) for at, letter in calls if letter in GROWING]
    inside = [
        fault
        for known, share in ((kills, INSIDE), (errors, ERRORS))
        for fault in draw.sample(known, min(len(known), round(count * share)))
    ]
    moments = [Fault(seconds=draw.uniform(0.01, max(0.02, twin.seconds))) for _ in range(count - len(inside))]
    return [*inside, *moments]


def _said(names: list[str]) -> str:
    return f"not the same in the end: {', '.join(names[:5])}" if names else ""


def _told(ended: Ended) -> str:
    """Return what is wrong with how a command ended that may fail: with an error in words, and in no other way."""
    if ended.late:
        return "it hangs"
    if ended.code < 0:
        return f"signal {-ended.code}"
    if TRACEBACK in ended.err or ended.code not in (0, 2):
        return f"exit code {ended.code}: {ended.err[-1500:]}"
    return ""
