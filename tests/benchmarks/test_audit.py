"""The audit: its sum is the report's, its counts those of a loop, and its page what the kept figures say."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.paper.audit import audit, count_competitors, count_firsts, main
from benchmarks.paper.audit_page import MARKS, audit_table, put_between_marks
from benchmarks.paper.published import published

from altered_runs import sealed, unfinished
from foretime.config import EvidenceConfig, ModelConfig, RerankerConfig, config_text
from foretime.data.facts import Facts
from foretime.errors import ConfigError, DataError, ForetimeError, RunError
from foretime.evaluation import AnswerIndex
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_model
from foretime.training.checkpoint import read_progress, save_checkpoint
from foretime.training.settings import complete_config

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def audited(small_run: Path) -> dict[str, object]:
    return audit(small_run).to_dict()


def test_the_sum_is_the_ranking_of_the_report(audited, small_run: Path):
    report = RunFolder(small_run).report()["test"]
    found = audited["counts"]["sum"]
    assert {name: found[name] for name in report["all"]} == pytest.approx(report["all"])


def test_any_second_score_raises_the_figure_and_puts_several_first(audited):
    counts = audited["counts"]
    for name in ("both", "random"):
        assert counts[name]["mrr"] > max(counts["sum"]["mrr"], counts["event"]["mrr"])
        assert counts[name]["firsts"] > 1.2
    assert counts["sum"]["firsts"] == counts["event"]["firsts"] == 1.0
    assert audited["printed"] is None  # the paper prints nothing for this graph


def questions_and_known(questions: int, entities: int, generator: np.random.Generator) -> tuple[Facts, AnswerIndex]:
    zeros = np.zeros(questions, dtype=np.int64)
    subject = np.arange(questions)
    asked = Facts(subject, zeros, generator.integers(entities, size=questions), zeros, zeros)
    other = Facts(subject, zeros, generator.integers(entities, size=questions), zeros, zeros)
    facts = Facts(*(np.concatenate(pair) for pair in zip(asked.columns(), other.columns(), strict=True)))
    return asked, AnswerIndex(facts)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("scores", [1, 2])
def test_counts_are_those_of_a_loop(scores: int, ties: bool):
    generator = np.random.default_rng(scores)
    asked, known = questions_and_known(40, 9, generator)
    drawn = generator.integers(4, size=(scores, 40, 9)) if ties else generator.random((scores, 40, 9))
    tables = [torch.from_numpy(table.astype(np.float32)) for table in drawn]
    above, level = count_competitors(tables, asked, known)
    firsts = count_firsts(tables, asked, known)
    competitors = known.filtered(asked)
    for question in range(40):
        own = np.stack([table[question].numpy() for table in tables])  # (scores, entities)
        left_out = set(competitors.answer[competitors.question == question].tolist())
        fair = [entity for entity in range(9) if entity not in left_out]
        answer = int(asked.object[question])
        others = [entity for entity in fair if entity != answer]
        assert above[question] == sum(bool((own[:, e] > own[:, answer]).all()) for e in others)
        assert level[question] == sum(bool((own[:, e] >= own[:, answer]).all()) for e in others)
        if not ties:
            unbeaten = [e for e in fair if not any(bool((own[:, r] > own[:, e]).all()) for r in fair)]
            assert firsts[question] == len(unbeaten)


def test_the_seed_draws_the_random_numbers(small_run: Path, audited):
    again, other = audit(small_run), audit(small_run, seed=1)
    assert again.to_dict() == audited
    assert other.counts["sum"] == again.counts["sum"]
    assert other.counts["random"] != again.counts["random"]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"model": ModelConfig(name="tntcomplex", rank=8)}, "its model is tntcomplex"),
        ({"model": ModelConfig(name="lcge", commonsense_weight=0.0)}, "its commonsense_weight is 0"),
        ({"evidence": EvidenceConfig(use=True)}, "it has evidence"),
        ({"reranker": RerankerConfig(use=True)}, "it has a re-ranker"),
    ],
)
def test_only_runs_with_the_two_scores_can_be_audited(small_run: Path, tmp_path: Path, changes, fault: str):
    copy = Path(shutil.copytree(small_run, tmp_path / "copy"))
    config = RunFolder(copy).config().model_copy(update={"penalties": {}, **changes})
    (copy / "config.toml").write_text(config_text(complete_config(config)), encoding="utf-8")
    sealed(copy)
    with pytest.raises(RunError, match=f"copy: {fault}; an audit needs a run of LCGE that scores by"):
        audit(copy)


def test_a_run_that_is_not_finished_is_not_audited(small_run: Path, tmp_path: Path):
    copy = unfinished(Path(shutil.copytree(small_run, tmp_path / "copy")))
    with pytest.raises(RunError, match="copy: the run is not finished; resume it with foretime train --resume"):
        audit(copy)


def test_scores_that_are_not_numbers_are_not_counted(small_run: Path, tmp_path: Path):
    run = RunFolder(shutil.copytree(small_run, tmp_path / "copy"))
    config, graph = run.config(), run.graph()
    model = load_model(run, config, graph)
    for parameter in model.parameters():
        parameter.data.copy_(1e38 * parameter.data.sign())  # their products are infinite, and so are no numbers
    save_checkpoint(run.best_file, model, None, read_progress(run.best_file))
    sealed(run.path)
    with pytest.raises(ForetimeError, match=r"scores that are not numbers: lower training\.learning_rate"):
        audit(run)


@pytest.mark.parametrize("broken", [0, 1])
def test_each_of_the_scores_is_to_be_a_number(broken: int):
    asked, known = questions_and_known(3, 9, np.random.default_rng(0))
    tables = [torch.zeros(3, 9), torch.zeros(3, 9)]
    tables[broken][1, 4] = torch.nan
    with pytest.raises(ForetimeError, match="not numbers"):
        count_competitors(tables, asked, known)


def test_printed_figures_stand_beside_this_graph_and_no_other_of_its_name(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run = RunFolder(shutil.copytree(small_run, tmp_path / "copy"))
    graph = replace(run.graph(), name="icews14")
    graph.save(run.path)
    sealed(run.path)
    found = audit(run)
    assert (found.data, found.printed) == ("icews14", None)
    assert "printed in the paper" not in audit_table(found.to_dict())
    monkeypatch.setitem(published().fingerprints, "icews14", [graph.fingerprint()])
    assert audit(run).printed == published().table3["icews14"]["LCGE"]


@pytest.mark.parametrize("data", ["icews14", "icews05-15", "wikidata12k"])
def test_every_printed_graph_is_known_by_its_fingerprint(data: str):
    for fingerprint in published().fingerprints[data]:
        assert published().printed(data, fingerprint, "LCGE") == published().table3[data]["LCGE"]
    assert published().printed(data, "another", "LCGE") is None


@pytest.mark.parametrize("seed", [-1, 2**32, 10**30])
def test_a_seed_that_is_too_small_or_too_large_is_told(small_run: Path, seed: int):
    with pytest.raises(ConfigError, match=f"seed {seed}: should be a whole number from 0 to 4294967295"):
        audit(small_run, seed=seed)


def test_the_page_says_what_the_kept_figures_say():
    kept = json.loads((ROOT / "results" / "audit.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    assert page.split(MARKS[0])[1].split(MARKS[1])[0].strip() == audit_table(kept)
    assert kept["counts"]["random"]["mrr"] > kept["counts"]["sum"]["mrr"]


def test_a_table_goes_between_its_marks_and_nowhere_else(audited, tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n", encoding="utf-8")
    for _ in range(2):
        put_between_marks(page, audited)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{MARKS[0]}\n\nThe test split of events")
    assert text.endswith(f"|\n\n{MARKS[1]}\nafter\n")
    assert "old" not in text
    page.write_text("no place", encoding="utf-8")
    with pytest.raises(DataError, match=r"page\.md: has no place for the table; write the lines <!-- audit:begin"):
        put_between_marks(page, audited)


def test_the_command_prints_writes_and_fills_a_page(
    audited, small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page, written = tmp_path / "audit.md", tmp_path / "new" / "audit.json"
    page.write_text(f"{MARKS[0]}\n{MARKS[1]}\n", encoding="utf-8")
    main([str(small_run), "--write", str(written), "--page", str(page)])
    assert json.loads(written.read_text(encoding="utf-8")) == audited
    assert capsys.readouterr().out.strip() == audit_table(audited)
    assert audit_table(audited) in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, r"page\.md: no such page; name one that has a place for the table"),
        (b"no marks", r"page\.md: has no place for the table"),
        ("Côte <!-- audit:begin --> <!-- audit:end -->".encode("latin-1"), r"page\.md: not a page in UTF-8"),
    ],
)
def test_a_page_without_a_place_is_refused_before_anything_is_counted(
    small_run: Path, tmp_path: Path, content: bytes | None, fault: str
):
    page = tmp_path / "page.md"
    if content is not None:
        page.write_bytes(content)
    with pytest.raises(SystemExit, match=f"error: .*{fault}"):
        main([str(small_run), "--page", str(page), "--write", str(tmp_path / "audit.json")])
    assert not (tmp_path / "audit.json").exists()
