"""Rankings files: an evaluator that knows nothing of the project finds the same figures in them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from independent_evaluator import evaluate_rankings

from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.errors import ForetimeError
from foretime.evaluation import evaluate, questions_of
from foretime.evaluation.rankings import FACTS_ENDING, write_rankings
from foretime.inference.run import Run


@pytest.mark.parametrize("candidates", [None, 0, 12])
def test_another_evaluator_finds_the_same_figures(small_run: Path, tmp_path: Path, candidates: int | None) -> None:
    run, file = Run(small_run), tmp_path / "rankings.txt"
    assert run.write_rankings(file, "test", candidates=candidates) == file
    found = evaluate_rankings(file, tmp_path / f"rankings.txt{FACTS_ENDING}", "test")
    ours = run.evaluate("test").all
    assert found["mrr"] == pytest.approx(ours.mrr, abs=1e-14)
    assert [found[f"hits@{k}"] for k in (1, 3, 10)] == [ours[f"hits@{k}"] for k in (1, 3, 10)]


def test_ties_are_read_back_as_ties(small_graph: Graph, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = torch.from_numpy(generator.integers(0, 3, (64, len(small_graph.entities))).astype(np.float32) / 3)

    def scorer(questions: Facts) -> torch.Tensor:
        return table[torch.from_numpy((questions.subject * 7 + questions.predicate * 3 + questions.start) % 64)]

    questions = questions_of(small_graph.test, len(small_graph.predicates))
    write_rankings(tmp_path / "tied", scorer, questions, small_graph)
    found = evaluate_rankings(tmp_path / "tied", tmp_path / f"tied{FACTS_ENDING}", "test")
    ours = evaluate(scorer, small_graph)
    assert ours.optimistic_mrr > ours.pessimistic_mrr
    assert found["mrr"] == pytest.approx(ours.all.mrr, abs=1e-14)


def test_a_question_is_two_lines_and_the_facts_have_names(small_graph: Graph, tmp_path: Path) -> None:
    entities, fact = len(small_graph.entities), small_graph.test.take(np.array([0]))
    questions = questions_of(fact, len(small_graph.predicates))
    write_rankings(
        tmp_path / "r", lambda q: -torch.arange(entities).float().repeat(len(q), 1), questions, small_graph, 2
    )
    s, p, o, t = (int(column[0]) for column in fact.columns()[:4])
    ranking = "0 -0 1 -1"
    assert (tmp_path / "r").read_text().splitlines() == [f"{s} {p} ? {t}", ranking, f"? {p} {o} {t}", ranking]
    header, *rows = (tmp_path / f"r{FACTS_ENDING}").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == [
        "split", "subject_id", "predicate_id", "object_id", "time_id", "subject", "predicate", "object", "time",
    ]  # fmt: skip
    names = [row.split("\t")[5:] for row in rows if row.startswith("test\t")]
    assert names == [list(row) for row in small_graph.rows("test")]


def test_a_file_that_cannot_be_written_is_named(small_graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(ForetimeError, match=r"r: cannot be written: .*; name another file"):
        write_rankings(tmp_path / "none" / "r", lambda q: torch.zeros(len(q), 1), small_graph.test, small_graph)
