"""Two runs on the same questions: figures as in their reports, and the questions by name."""

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from foretime.config import override
from foretime.data.graph import read_graph
from foretime.errors import ConfigError, DataError
from foretime.evaluation import questions_of
from foretime.evaluation.comparison import FLIPS_FOR_EACH, compare
from foretime.evaluation.filters import facts_of_questions
from foretime.evaluation.ranked_questions import asked, write_asked
from foretime.inference.ranked_runs import RankedRun, notes_on, rank_both, rank_run
from foretime.runs.finish import choice_note
from foretime.runs.folder import RunFolder


@pytest.fixture(scope="module")
def pair(worse_run: Path, small_run: Path) -> tuple[RankedRun, RankedRun]:
    return rank_both(worse_run, small_run, "test")


def test_figures_and_intervals_are_those_of_the_reports(pair, worse_run: Path, small_run: Path):
    result = compare(*pair, flips=500)
    for run, side in ((worse_run, "first"), (small_run, "second")):
        report = RunFolder(run).report()["test"]
        found = result.metrics["mrr"]
        assert getattr(found, side) == pytest.approx(report["all"]["mrr"])
        assert getattr(found, f"{side}_interval") == pytest.approx(report["mrr_interval"])
        for k in ("1", "3", "10"):
            assert getattr(result.metrics[f"hits@{k}"], side) == pytest.approx(report["all"][f"hits@{k}"])
        for direction in ("objects", "subjects"):
            assert getattr(result.directions[direction].mrr, side) == pytest.approx(report[direction]["mrr"])
        for name, group in result.predicates.items():
            assert getattr(group.mrr, side) == pytest.approx(report["predicates"][name]["mrr"])
    assert list(result.predicates) == list(RunFolder(small_run).report()["test"]["predicates"])


def test_a_clearly_better_run_is_found_better(pair):
    result = compare(*pair, flips=500)
    low, high = result.metrics["mrr"].difference_interval
    assert 0 < low < result.metrics["mrr"].difference < high
    assert result.p_value == pytest.approx(1 / 501)
    assert result.better > result.worse
    assert result.better + result.equal + result.worse == result.questions == 2 * result.facts
    turned = compare(*reversed(pair), flips=500)
    assert turned.metrics["mrr"].difference == -result.metrics["mrr"].difference
    assert (turned.better, turned.first_wins[0].question) == (result.worse, result.second_wins[0].question)


def test_a_run_is_not_better_than_itself(small_run: Path):
    ranked = rank_run(small_run, "valid")
    result = compare(ranked, ranked, flips=200)
    assert all(found.difference == 0 for found in result.metrics.values())
    assert all(found.difference_interval == (0, 0) for found in result.metrics.values())
    assert (result.p_value, result.better, result.worse) == (1.0, 0, 0)
    assert result.first_wins == result.second_wins == []


def test_the_questions_that_decide_are_named_with_both_ranks(pair, tmp_path: Path):
    result = compare(*pair, top=3, flips=100)
    write_asked(tmp_path / "all.csv", *pair)
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == result.questions
    gains = sorted((1 / float(row["second_rank"]) - 1 / float(row["first_rank"]) for row in rows), reverse=True)
    shown = [1 / won.second_rank - 1 / won.first_rank for won in result.second_wins]
    assert shown == pytest.approx(gains[:3])
    graph, facts = pair[0].graph, set()
    for row in zip(*graph.test.columns(), strict=True):
        subject, object_ = (graph.entities.name(int(row[place])) for place in (0, 2))
        facts.add((subject, graph.predicates.name(int(row[1])), object_, graph.timeline.label(int(row[3]))))
    assert {(row["subject"], row["predicate"], row["object"], row["time"]) for row in rows} == facts
    won = result.second_wins[0]
    assert won.answer in (won.subject, won.object)
    assert won.question.count("?") == 1


def test_intervals_and_unknown_ends_are_told(tmp_path: Path):
    rows = [f"a\tmeets\tb\t{1900 + year}\t{1901 + year}" for year in range(8)] + ["a\tmeets\tc\t1903\t####-##-##"]
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    graph = read_graph(tmp_path)
    questions = questions_of(graph.test, 1)
    fact, ranks = facts_of_questions(graph.test), np.arange(1.0, 19.0)
    ranked = RankedRun("run", graph, "test", "exact", questions, fact, ranks)
    shown = asked(ranked, replace(ranked, ranks=ranks + 1), np.array([0, 8, 9]))
    assert [found.time for found in shown] == ["1900 to 1901", "1903 to ?", "1900 to 1901"]
    assert [found.open for found in shown] == ["object", "object", "subject"]
    assert [(found.subject, found.object) for found in shown] == [("a", "b"), ("a", "c"), ("a", "b")]
    assert [(found.first_rank, found.second_rank) for found in shown] == [(1, 2), (9, 10), (10, 11)]
    assert shown[1].question == "(a, meets, ?, 1903 to ?)"


def test_runs_on_different_graphs_are_refused(small_run: Path, evidence_run: Path):
    with pytest.raises(DataError, match=r"different graphs and cannot be compared: .*fingerprint \w{12}.* train both"):
        rank_both(small_run, evidence_run, "test")


def test_runs_under_different_filters_need_one_to_be_chosen(small_run: Path, tmp_path: Path):
    other = Path(shutil.copytree(small_run, tmp_path / "other"))
    text = (other / "config.toml").read_text(encoding="utf-8")
    (other / "config.toml").write_text(text.replace('filter = "exact"', 'filter = "points"'), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"has exact, .* has points; choose one with --filter"):
        rank_both(small_run, other, "test")
    first, second = rank_both(small_run, other, "test", "valid-at")
    assert (first.filter, second.filter) == ("valid-at", "valid-at")
    assert (first.ranks == second.ranks).all()


def test_what_makes_ranks_doubtful_is_noted_once(pair):
    noted = replace(pair[0], notes=("its reranker was fitted on test",))
    assert compare(noted, noted, flips=100).notes == ["its reranker was fitted on test"]
    assert compare(*pair, flips=100).notes == []


SEEN = {
    "reranker.fit": ("valid", "its reranker was fitted on valid"),
    "reranker.with_valid": (True, "its reranker was fitted on valid"),
    "evidence.splits": (["train", "valid"], "its evidence has the facts of valid"),
}


def test_rules_of_a_file_may_have_seen_anything_and_that_is_told(small_run: Path, tmp_path: Path):
    run = RunFolder(shutil.copytree(small_run, tmp_path / "run"))
    config = override(run.config(), {"rules.file": "rules.txt"})
    run.rules_file.touch()
    told = "its rules were read from a file; whether they were mined from {} too is not known"
    for split in ("valid", "test"):
        assert notes_on(run, config, run.graph(), split) == [told.format(split)]
    assert choice_note(config).endswith("the rules were read from a file, and what they were mined from is not known")


@pytest.mark.parametrize("setting", SEEN)
def test_whoever_has_seen_valid_is_noted_on_valid_alone(small_run: Path, setting: str):
    run = RunFolder(small_run)
    value, said = SEEN[setting]
    config = override(run.config(), {"reranker.use": True, "evidence.use": True, setting: value})
    assert notes_on(run, config, run.graph(), "valid") == [f"{said}, so these are not figures of unseen facts"]
    assert notes_on(run, config, run.graph(), "test") == []
    assert notes_on(run, run.config(), run.graph(), "valid") == []
    assert "it was trained on train" in notes_on(run, run.config(), run.graph(), "train")[0]


def test_a_run_that_is_not_finished_is_noted(small_run: Path, tmp_path: Path):
    copy = Path(shutil.copytree(small_run, tmp_path / "copy"))
    (copy / "report.json").unlink()
    assert rank_run(copy, "valid").notes == (f"{copy}: the run is not finished: its weights so far",)
    run = RunFolder(copy)
    config = override(run.config(), {"reranker.use": True})
    assert notes_on(run, config, run.graph(), "valid")[0].endswith("its weights so far, without its second stage")


def test_many_predicates_have_flips_enough_for_a_small_adjusted_p(pair):
    result = compare(*pair, flips=10, resamples=100)
    floor = 1 / (1 + FLIPS_FOR_EACH * len(result.predicates))
    assert min(group.p_value for group in result.predicates.values()) < 0.05
    assert min(group.p_value for group in result.predicates.values()) >= floor
    assert result.p_value == pytest.approx(1 / 11)
