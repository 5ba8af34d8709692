"""A file of questions answered in parts, each a task of an executor that opens the run for itself.

Questions that one process would score together stay together, so that the answers are the same.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from foretime.errors import Interrupted
from foretime.evaluation.ranks import QUESTIONS_AT_ONCE
from foretime.files import make_folder, parse_json, read_text, write_text
from foretime.inference.answers import Question
from foretime.inference.questions import Answered, Wanted, answer_all, read_questions
from foretime.runs.executor import Executor, Task, run_all
from foretime.training.callbacks import Callback

PART = 16 * QUESTIONS_AT_ONCE
"""Questions of a part: many, for each opens the run, and few, for one that is lost is answered again."""


def answer_in_parts(
    executor: Executor,
    run: tuple[Path, str | None],
    path: Path,
    out: Path,
    note: Callable[[str], None],
    part: int = PART,
) -> Callable[[list[Question], Wanted], list[Answered]]:
    """Return what answers the questions of the file `path`, by the run in a folder and on a device.

    Their answers are kept in a folder beside `out` until all are there.
    """
    folder = out.parent / f".{out.name}.parts"

    def answer(questions: list[Question], wanted: Wanted) -> list[Answered]:
        shutil.rmtree(folder, ignore_errors=True)  # of a call that was killed
        make_folder(folder)
        try:
            parts = parts_of(questions, part)
            arguments = {"run": str(run[0]), "device": run[1], "questions": str(path), "part": part, "wanted": wanted}
            tasks = [_task(arguments, folder, number, len(rows)) for number, rows in enumerate(parts)]
            for _, report in run_all(executor, tasks, lambda: False):
                note(report["text"])
            found: dict[int, Answered] = {}
            for number, rows in enumerate(parts):
                found.update(zip(rows, _read(_file(folder, number)), strict=True))
            return [found[row] for row in range(len(questions))]
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return answer


def _task(arguments: dict[str, Any], folder: Path, number: int, size: int) -> Task:
    name = f"part {number + 1} of the questions ({size:,})"
    remedy = "do the same again, with fewer --jobs if need be"
    own = {**arguments, "out": str(_file(folder, number))}
    return Task(name, answer_part, own, folder, threads=1, act="answering", remedy=remedy)


def answer_part(
    callback: Callback, run: str, device: str | None, questions: str, part: int, wanted: list[object], out: str
) -> None:
    """Answer the questions of one part, whose number is the name of the file `out`, and write them there."""
    from foretime.inference.run import Run  # which gives its files of questions here

    predictor, asked = Run(run, device).predictor, list(read_questions(Path(questions)).values())
    rows, answered = parts_of(asked, part)[int(Path(out).stem)], list[Answered]()
    for start in range(0, len(rows), QUESTIONS_AT_ONCE):
        if callback.stop_wanted():
            raise Interrupted("stopped")
        batch = [asked[row] for row in rows[start : start + QUESTIONS_AT_ONCE]]
        answered += answer_all(predictor, batch, Wanted(*wanted))  # type: ignore[arg-type]
    write_text(Path(out), "".join(json.dumps(one) + "\n" for one in answered))


def parts_of(questions: list[Question], part: int = PART) -> list[list[int]]:
    """Return the rows of each part: so many questions, all about the same slots, in their order."""
    groups: dict[tuple[object, bool], list[int]] = {}
    for row, question in enumerate(questions):
        groups.setdefault((question.targets, question.is_timeless), []).append(row)
    return [rows[start : start + part] for rows in groups.values() for start in range(0, len(rows), part)]


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number}.jsonl"


def _read(file: Path) -> Iterator[Answered]:
    for line in read_text(file).splitlines():
        yield Answered(*parse_json(line))
