"""A file of questions answered in parts by several processes: the same answers, whatever they are asked."""

import re
from pathlib import Path

import pytest

import foretime as ft
from foretime.data.graph import Graph
from foretime.errors import QuestionError, RunError
from foretime.inference.answers import Question
from foretime.inference.question_parts import answer_in_parts, parts_of
from foretime.inference.questions import answer_file
from foretime.runs.executor import End, Processes, Task


def many(graph: Graph) -> str:
    """Questions about every slot, out of order, one with a name that is misspelt."""
    lines = ["subject\tpredicate\tobject\ttime", "STATE 1\tvisits\t?\t2020-03-01"]
    facts, names, steps = graph.train, graph.entities, graph.timeline
    for number in range(60):
        row = [
            names.name(int(facts.subject[number])), graph.predicates.name(int(facts.predicate[number])),
            names.name(int(facts.object[number])), steps.label(int(facts.start[number])),
        ]  # fmt: skip
        row[number % 4] = "?"
        lines.append("\t".join(row))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_parts_give_the_file_that_one_process_writes(small_run: Path, tmp_path: Path, suffix: str):
    run, said = ft.open_run(small_run), []
    questions = tmp_path / "questions.tsv"
    questions.write_text(many(run.graph), encoding="utf-8")
    whole, out = tmp_path / f"whole{suffix}", tmp_path / f"parts{suffix}"
    assert run.answer_file(questions, whole, top=3, reasons=1, note=said.append) == 61
    again: list[str] = []
    with Processes(2) as executor:
        answer = answer_in_parts(executor, (small_run, None), questions, out, again.append, part=40)
        answer_file(run.predictor, questions, out, 3, "mark", 1, again.append, answer)
    assert out.read_bytes() == whole.read_bytes()
    assert again == said == [f"{questions}:2: the subject 'STATE 1' is taken for 'state 1'"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([questions.name, whole.name, out.name])


def test_a_part_has_questions_about_the_same_slots_in_their_order():
    asked = [Question(predicate="p", object="o", time="1"), Question(subject="s", predicate="p", time="1")] * 3
    assert parts_of(asked, 2) == [[0, 2], [4], [1, 3], [5]]
    assert parts_of([Question(subject="s", predicate="p", object="o"), *asked[:2]], 2) == [[0], [1], [2]]


class Dying(Processes):
    """Kills what it starts."""

    def _begin(self, task: Task, lock: int | None) -> None:
        self._hear(task, End(-9))


def test_a_part_whose_process_is_killed_is_told_and_leaves_nothing(small_run: Path, tmp_path: Path):
    run = ft.open_run(small_run)
    questions, out = tmp_path / "questions.tsv", tmp_path / "answers.csv"
    questions.write_text(many(run.graph), encoding="utf-8")
    answer = answer_in_parts(Dying(1), (small_run, None), questions, out, print)
    told = "answering part 1 of the questions (16) was killed by signal 9, maybe because memory ran out; "
    with pytest.raises(RunError, match=f"^{re.escape(told)}do the same again, with fewer --jobs if need be$"):
        answer_file(run.predictor, questions, out, answer=answer)
    assert [path.name for path in tmp_path.iterdir()] == [questions.name]


def test_wrong_questions_are_told_before_any_process_begins(small_run: Path, tmp_path: Path):
    questions = tmp_path / "questions.tsv"
    questions.write_text("subject\tpredicate\ttime\nstate 99\tvisits\t2020-03-01\n", encoding="utf-8")
    with pytest.raises(QuestionError, match=r"questions\.tsv:2: .*state 99"):
        ft.open_run(small_run).answer_file(questions, tmp_path / "answers.csv", jobs=2)
