"""Two runs on the same questions: figures as in their reports, and the questions by name."""

import csv
import json
import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from altered_runs import sealed, unfinished
from foretime.config import override
from foretime.data.graph import read_graph
from foretime.errors import ConfigError, DataError
from foretime.evaluation import METRICS, evaluations_in, questions_of
from foretime.evaluation.comparison import FLIPS_FOR_EACH, Comparison, RankedRun, compare_ranks, name_questions
from foretime.evaluation.filters import facts_of_questions
from foretime.inference.ranked_runs import compare, notes_on, rank_run
from foretime.inference.run import Run
from foretime.runs.finish import choice_note
from foretime.runs.folder import RunFolder


@pytest.fixture(scope="module")
def result(worse_run: Path, small_run: Path) -> Comparison:
    return compare(worse_run, small_run, split="test", top=3, flips=500)


def test_figures_and_intervals_are_those_of_the_reports(result: Comparison, worse_run: Path, small_run: Path):
    for run, side in ((worse_run, "first"), (small_run, "second")):
        found = evaluations_in(RunFolder(run).report())["test"]
        assert getattr(result.metrics["mrr"], f"{side}_interval") == pytest.approx(found.mrr_interval)
        pairs = [(found.all, result), *((getattr(found, name), group) for name, group in result.directions.items())]
        pairs += [(found.predicates[name], group) for name, group in result.predicates.items()]
        for metrics, group in pairs:
            assert group.questions == metrics.questions
            assert [getattr(group.metrics[name], side) for name in METRICS] == pytest.approx(
                list(metrics.means.values())
            )
        assert list(result.predicates) == list(found.predicates)


def test_a_clearly_better_run_is_found_better(result: Comparison, worse_run: Path, small_run: Path):
    mrr = result.metrics["mrr"]
    low, high = mrr.difference_interval
    assert 0 < low < mrr.difference < high
    # the same questions are hard for both, so the difference is surer than either figure
    assert high - low < np.ptp(mrr.first_interval) + np.ptp(mrr.second_interval)
    assert result.p_value == pytest.approx(1 / 501)
    assert result.better > result.worse
    assert result.better + result.equal + result.worse == result.questions == 2 * result.facts
    swapped = compare_ranks(*reversed(result.ranked), flips=500)
    assert swapped.metrics["mrr"].difference == -mrr.difference
    assert (swapped.better, swapped.first_wins[0].question) == (result.worse, result.second_wins[0].question)


def test_a_run_is_not_better_than_itself(small_run: Path):
    result = compare(RunFolder(small_run), small_run, flips=200)
    assert (result.split, result.p_value, result.better, result.worse) == ("valid", 1.0, 0, 0)
    assert {found.difference for found in result.metrics.values()} == {0}
    assert {found.difference_interval for found in result.metrics.values()} == {(0, 0)}
    assert result.first_wins == result.second_wins == list(result.decisive) == []


def test_the_questions_that_decide_are_named_with_both_ranks(result: Comparison):
    rows = list(csv.DictReader(StringIO(result.all_questions().to_csv())))
    assert len(rows) == result.questions
    gains = sorted((1 / float(row["second_rank"]) - 1 / float(row["first_rank"]) for row in rows), reverse=True)
    assert [1 / won.second_rank - 1 / won.first_rank for won in result.second_wins] == pytest.approx(gains[:3])
    graph = result.ranked[0].graph
    facts = {
        (graph.entities.name(s), graph.predicates.name(p), graph.entities.name(o), graph.timeline.label(t))
        for s, p, o, t, _ in zip(*(column.tolist() for column in graph.test.columns()), strict=True)
    }
    assert {(row["subject"], row["predicate"], row["object"], row["time"]) for row in rows} == facts
    for won in result.second_wins:
        assert won.answer in (won.subject, won.object)
        assert won.question.count("?") == 1
    assert result.decisive.column("question")[:3] == [won.question for won in result.second_wins]


def test_tables_frames_and_json_say_the_same(result: Comparison):
    told = json.loads(json.dumps(result.to_dict()))
    assert "ranked" not in told
    assert [row["difference"] for row in result.table()] == [one["difference"] for one in told["metrics"].values()]
    assert result.by_predicate.column("predicate") == list(told["predicates"])
    assert result.by_direction.column("p_value") == [group["p_value"] for group in told["directions"].values()]
    frame = result.to_frame().set_index("metric")
    hits = told["metrics"]["hits@3"]
    assert frame.loc["H@3", ["first_low", "first_high"]].tolist() == hits["first_interval"]
    assert result.by_predicate.to_frame()["difference"].tolist() == [
        group["metrics"]["mrr"]["difference"] for group in told["predicates"].values()
    ]
    assert [line.split()[0] for line in str(result).splitlines()[2:]] == [metric.label for metric in METRICS.values()]


def test_intervals_and_unknown_ends_are_shown(tmp_path: Path):
    rows = [f"a\tmeets\tb\t{1900 + year}\t{1901 + year}" for year in range(8)] + ["a\tmeets\tc\t1903\t####-##-##"]
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    graph = read_graph(tmp_path)
    questions = questions_of(graph.test, 1)
    fact, ranks = facts_of_questions(graph.test), np.arange(1.0, 19.0)
    ranked = RankedRun("run", graph, "test", "exact", questions, fact, ranks)
    shown = name_questions(ranked, replace(ranked, ranks=ranks + 1), np.array([0, 8, 9]))
    assert [found.time for found in shown] == ["1900 to 1901", "1903 to ?", "1900 to 1901"]
    assert [found.target for found in shown] == ["object", "object", "subject"]
    assert [(found.subject, found.object) for found in shown] == [("a", "b"), ("a", "c"), ("a", "b")]
    assert [(found.first_rank, found.second_rank) for found in shown] == [(1, 2), (9, 10), (10, 11)]
    assert shown[1].question == "(a, meets, ?, 1903 to ?)"


def test_runs_on_different_graphs_are_refused(small_run: Path, evidence_run: Path):
    with pytest.raises(DataError, match=r"different graphs and cannot be compared: .*fingerprint \w{12}.* train both"):
        compare(small_run, evidence_run)


def test_runs_under_different_filters_need_one_to_be_chosen(small_run: Path, tmp_path: Path):
    other = Path(shutil.copytree(small_run, tmp_path / "other"))
    text = (other / "config.toml").read_text(encoding="utf-8")
    (other / "config.toml").write_text(text.replace('filter = "exact"', 'filter = "points"'), encoding="utf-8")
    sealed(other)
    with pytest.raises(ConfigError, match=r"has exact, .* has points; choose one with --filter"):
        compare(small_run, other)
    found = compare(small_run, other, filter="valid-at", resamples=10, flips=10)
    assert (found.filter, found.equal) == ("valid-at", found.questions)


def test_what_makes_ranks_doubtful_is_noted_once(result: Comparison):
    noted = replace(result.ranked[0], notes=("its re-ranker was fitted on test",))
    assert compare_ranks(noted, noted, resamples=10, flips=10).notes == ["its re-ranker was fitted on test"]
    assert result.notes == []


SEEN = {
    "reranker.fit": ("valid", "its re-ranker was fitted on valid"),
    "reranker.with_valid": (True, "its re-ranker was fitted on valid"),
    "evidence.splits": (["train", "valid"], "its evidence has the facts of valid"),
}


def test_rules_of_a_file_may_have_seen_anything_and_that_is_noted(small_run: Path, tmp_path: Path):
    run = RunFolder(shutil.copytree(small_run, tmp_path / "run"))
    config = override(run.config(), {"rules.file": "rules.txt"})
    run.rules_file.touch()
    note = "its rules were read from a file; whether they were mined from {} too is not known"
    for split in ("valid", "test"):
        assert notes_on(run, config, run.graph(), split) == [note.format(split)]
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
    copy = unfinished(Path(shutil.copytree(small_run, tmp_path / "copy")))
    assert rank_run(Run(copy), "valid").notes == (f"{copy}: the run is not finished: its weights so far",)
    run = RunFolder(copy)
    config = override(run.config(), {"reranker.use": True})
    assert notes_on(run, config, run.graph(), "valid")[0].endswith("its weights so far, without its re-ranker")


def test_many_predicates_have_flips_enough_for_a_small_adjusted_p(result: Comparison):
    result = compare_ranks(*result.ranked, flips=10, resamples=100)
    floor = 1 / (1 + FLIPS_FOR_EACH * len(result.predicates))
    assert min(group.p_value for group in result.predicates.values()) < 0.05
    assert min(group.p_value for group in result.predicates.values()) >= floor
    assert result.p_value == pytest.approx(1 / 11)
