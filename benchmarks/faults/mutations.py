"""Damaged run folders: every file in every way, over every command; whatever comes out must be right or refused."""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.faults.commands import NOT_SERVED, TRIAL, Command, Outcome, commands_of, left_by
from benchmarks.faults.damages import DAMAGES, OFTEN, Damaged
from benchmarks.faults.kills import TRACEBACK
from benchmarks.faults.materials import Materials
from benchmarks.faults.processes import forked
from benchmarks.faults.twins import differences

NO_WORDS = re.compile(r"^\w*(Error|Exception|Warning)\(", re.MULTILINE)
"""How a trial of the service begins to tell of an error that is a bug."""
SAME, REFUSED, TOLD = "the same answer", "refused in words", "another answer, and a word about it"


class Subject(NamedTuple):
    """A run whose files are damaged, and another run of the same kind."""

    name: str
    run: Path
    twin: Path
    finished: bool = True


class Mutations:
    """Damages runs, and counts what becomes of the commands on them."""

    def __init__(self, made: Materials, draw: random.Random) -> None:
        self._made, self._draw = made, draw
        self.files, self.kinds, self.commands = Counter[str](), Counter[str](), Counter[str]()
        self.outcomes = Counter[str]()
        self.failures: list[str] = []
        self._expected: dict[str, dict[str, Outcome]] = {}

    def damage(self, subject: Subject, count: int) -> None:
        """Damage a run so many times: files, ways and the commands that come after are drawn."""
        run = self._made.empty_work() / "run"
        shutil.copytree(subject.run, run)
        commands = commands_of(self._made, subject.twin)
        if subject.name not in self._expected:
            found = {command.name: self._wanted(command, subject, run) for command in commands}
            self._expected[subject.name] = found
        wanted = self._expected[subject.name]
        names = sorted(file.relative_to(subject.run).as_posix() for file in subject.run.rglob("*") if file.is_file())
        order = [commands[number % len(commands)] for number in range(count)]
        for each in (order, names):
            self._draw.shuffle(each)
        for number, command in enumerate(order):
            name = names[number % len(names)]
            self._damage_once(subject, run, name, command, wanted[command.name])

    def _wanted(self, command: Command, subject: Subject, run: Path) -> Outcome:
        found = self._outcome(command, run)
        if found.ended.code not in (0, 2) or TRACEBACK in found.ended.err:
            raise RuntimeError(f"{command.name} fails by itself on {subject.name}:\n{found.ended.err}")
        _restore(subject.run, run)
        return found

    def _damage_once(self, subject: Subject, run: Path, name: str, command: Command, wanted: Outcome) -> None:
        kind = self._draw.choice([*DAMAGES, *OFTEN * 3])
        others = [file for file in sorted(run.rglob("*")) if file.is_file() and file != run / name]
        if DAMAGES[kind](Damaged(run / name, others, subject.twin / name), self._draw):
            before = left_by(command, run)
            outcome, problem = self._judged(command, self._outcome(command, run), wanted, run, before)
            role = re.sub(r"\d+", "N", name)
            self.files[role] += 1
            self.kinds[kind] += 1
            self.commands[command.name] += 1
            self.outcomes[outcome] += 1
            if problem:
                self.failures.append(f"{subject.name}: {name}, {kind}, {command.name}: {problem}")
        _restore(subject.run, run)

    def _outcome(self, command: Command, run: Path) -> Outcome:
        ended = forked(command.act(run), self._made.scratch)
        return Outcome(ended, left_by(command, run))

    def _judged(
        self, command: Command, found: Outcome, wanted: Outcome, run: Path, before: dict[str, Any]
    ) -> tuple[str, str]:
        """Return what came out in a word, and what is wrong with it, if anything is."""
        ended = found.ended
        if ended.late:
            return "hangs", "it hangs"
        if ended.code < 0:
            return "crashes", f"signal {-ended.code}: {ended.err[-800:]}"
        if TRACEBACK in ended.err or (ended.code == NOT_SERVED and NO_WORDS.search(ended.err)):
            return "tracebacks", ended.err[-1500:]
        if ended.code == wanted.ended.code and ended.out == wanted.ended.out:
            other = _left_otherwise(found.left, wanted.left, before)
            return ("other files", f"leaves another {other}") if other else (SAME, "")
        if ended.code:
            named = str(run) in ended.err + ended.out or command.name == TRIAL
            return (REFUSED, "") if named else ("no place", f"names no place: {ended.err[-300:]}")
        more = set(ended.err.splitlines()) - set(wanted.ended.err.splitlines())
        if any(line.startswith("warning") or str(run) in line for line in more):
            return TOLD, ""
        return "other answers", f"another answer without a word: {ended.out[:300]}"

    def to_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return {
            "mutations": sum(self.files.values()),
            "by_file": dict(sorted(self.files.items())),
            "by_damage": dict(sorted(self.kinds.items())),
            "by_command": dict(sorted(self.commands.items())),
            "outcomes": dict(self.outcomes),
            "failures": self.failures,
        }


def _left_otherwise(found: dict[str, Any], wanted: dict[str, Any], before: dict[str, Any]) -> str:
    """Return a file that a command has left otherwise than on the whole run, and not merely as it was damaged."""
    return next((name for name in differences(found, wanted) if found.get(name) != before.get(name)), "")


def _restore(source: Path, run: Path) -> None:
    """Make a run as it was, with as few changes as that takes."""
    names = {file.relative_to(source) for file in source.rglob("*")}
    for file in sorted(run.rglob("*"), reverse=True):
        if file.relative_to(run) not in names or file.is_symlink() or not (file.is_file() or file.is_dir()):
            shutil.rmtree(file) if file.is_dir() and not file.is_symlink() else file.unlink()
    for name in sorted(names):
        original, copy = source / name, run / name
        if original.is_dir():
            copy.mkdir(exist_ok=True)
        elif copy.is_dir():
            shutil.rmtree(copy)
            shutil.copy2(original, copy)
        elif not _is_the_same(original, copy):
            shutil.copy2(original, copy)


def _is_the_same(original: Path, copy: Path) -> bool:
    if not copy.is_file() or copy.stat().st_size != original.stat().st_size:
        return False
    return copy.read_bytes() == original.read_bytes()
