"""The page of the benchmarks: results beside what the paper prints."""

import re
from pathlib import Path

import pytest
from benchmarks.paper.grouping import differences, lines_of
from benchmarks.paper.page import main, named_apart, page, write_page
from benchmarks.paper.published import published

from foretime.errors import DataError
from foretime.experiments.bench.rows import read_rows
from result_rows import RISE, points, result

ROOT = Path(__file__).parents[2]


def test_the_printed_figures_are_all_there():
    paper = published()
    assert {data: len(rows) for data, rows in paper.table3.items()} == {
        "icews14": 12,
        "icews05-15": 12,
        "wikidata12k": 12,
    }
    assert paper.table3["icews14"]["LCGE"] == {"mrr": 0.667, "hits@10": 0.815, "hits@3": 0.714, "hits@1": 0.588}
    assert paper.table3["icews14"]["TransE"] == {"mrr": 0.28, "hits@10": 0.637, "hits@1": 0.094}
    assert paper.table4["icews05-15"]["-TIS"]["mrr"] == 0.679
    assert (paper.name("quate"), paper.name("tntcomplex"), paper.name("mine")) == ("QuatE", "TNTComplEx", "mine")


def test_seeds_are_put_together_and_reasons_come_from_the_rows():
    rows = [
        result("a-0", 0.5),
        result("a-1", 0.6, seed=1),
        result("c", 0.7, evidence=True, reranker="valid"),
        result("d", 0.4, model="complex", converged=False, last_gain=0.0123),
        result("e", 0.4, model="transe", status="over budget", test=None, epochs=7),
        result("f", 0.3, data="wikidata12k", converged=None, rank=100),
    ]
    lines = lines_of(rows)
    assert [line.model for line in lines] == [
        "LCGE",
        "LCGE + evidence + re-ranker (valid)",
        "ComplEx",
        "TransE",
        "LCGE",
    ]
    assert lines[0].spread("mrr") == "0.550 ± 0.071"
    assert lines[0].mean("hits@1") == pytest.approx(0.45)
    said = [differences(line) for line in lines]
    assert said[0].startswith("rank 200, 30 epochs; 2 seeds; printed: a count over two scores, no ranking")
    assert said[1] == "rank 200, 30 epochs; re-ranker fitted on valid"
    assert said[2] == "rank 200, 30 epochs; still rising (+0.012 in its last quarter)"
    assert said[3] == "over budget after 7 epochs, test not ranked"
    assert "too few evaluations to tell" in said[4]
    assert "filter `exact`" in said[4]
    apart = lines_of([result("g", 0.3, data="wikidata12k", boundary_relations="separate")])[0]
    assert "starts and ends under relations of their own" in differences(apart)
    rounded, exact = (lines_of([result("g", 0.3, precision=name)])[0] for name in ("bfloat16", "single"))
    assert "trained in bfloat16" in differences(rounded)
    assert "bfloat16" not in differences(exact)
    unruled, ruled = (lines_of([result("g", 0.3, model="lcge", rules=4, guided=guided)])[0] for guided in (False, True))
    assert "no rules guide it" in differences(unruled)
    assert "no rules" not in differences(ruled)
    assert "relations of their own" not in said[4]


def test_only_seeds_differ_in_a_line():
    rows = [
        result("plain-0", 0.5, seedless_hash="p"),
        result("hot-0", 0.1, seedless_hash="h"),
        result("plain-again-1", 0.6, seed=1, seedless_hash="p", converged=False, last_gain=0.01, epochs=20),
        result("plain-2", 0.9, seed=2),  # of an earlier version
        result("plain-3", 0.0, seed=3, seedless_hash="p", status="failed", test=None),
    ]
    plain, hot = lines_of(rows)
    assert [row["name"] for row in plain.rows] == ["plain-0", "plain-again-1", "plain-2", "plain-3"]
    assert (plain.title, hot.title) == ("LCGE (plain)", "LCGE (hot)")
    said = differences(plain).split("; ")
    assert said[:3] == ["runs `plain`", "rank 200, 20–30 epochs", "still rising (+0.010 in its last quarter)"]
    assert said[3:5] == ["3 seeds", "1 more not finished"]
    other = [*rows[:1], {**rows[2], "data_fingerprint": "another graph of this name"}]
    assert len(lines_of(other)) == 2


def test_variants_are_told_apart_and_shown_on_any_graph():
    rows = [
        result("a", 0.6, seedless_hash="a"),
        result("b", 0.5, seedless_hash="b", rank=100),
        result("c", 0.4, variant="-TIS"),
        result("d", 0.3, variant="-TIS", model="tntcomplex"),
        result("e", 0.3, variant="+more", data="mine", valid=None),
        result("f", 0.2, data="mine"),
    ]
    table4 = page(rows, "results.jsonl", {}).split("## Ablation")[1].split("## Cost")[0].splitlines()
    starts = [line.split(" | ")[:3] for line in table4 if line.startswith("| ") and not line.startswith("| ---")]
    assert [cells for cells in starts if cells[0] != "| model"] == [
        ["| LCGE", "0.667", "0.600"], ["| LCGE", "0.667", "0.500"], ["| -RGPR", "0.663", ""],
        ["| -TIS", "0.621", "0.400"],
        ["| TNTComplEx -TIS", "–", "0.300"], ["| LCGE", "–", "0.200"], ["| +more", "–", "0.300"],
    ]  # fmt: skip
    assert "### mine, ablation" in table4
    assert any("rank 100" in line and "runs `b`" in line for line in table4)


def test_the_page_sets_results_beside_what_is_printed():
    rows = [result("a", 0.6), result("b", 0.5, variant="-TIS"), result("c", 0.61, model="tntcomplex")]
    text = page(rows, "results/bench.jsonl", {"icews14": "benchmarks-icews14.svg"})
    lines = text.splitlines()
    table3, table4 = (line for line in lines if line.startswith("| LCGE | 0.667"))
    assert table3 == table4
    assert table3.startswith("| LCGE | 0.667 | 0.600 | -0.067 | 0.588 | 0.500 | -0.088 | 0.714 | 0.600 | -0.114 |")
    assert any(line.startswith("| TransE | 0.280 |  |  | 0.094 |  |  | – |") and "not run |" in line for line in lines)
    assert any(line.startswith("| TNTComplEx | – | 0.610 |") for line in lines)
    assert any(line.startswith("| -TIS | 0.621 | 0.500 | -0.121 |") for line in lines)
    assert any(line.startswith("| -RGPR | 0.663 |  |") for line in lines)
    assert "| icews14 | LCGE -TIS | 0.5000 | 0.5000 | 1,000 | 2.0 | 512 | 30 |" in lines
    assert "- `a` (ab): finished; commit cccccccccccc; 2 thread(s)" in lines
    assert "](benchmarks-icews14.svg)" in text


def test_the_committed_page_says_what_the_committed_results_say():
    rows = read_rows(ROOT / "results" / "bench.jsonl")
    plots = {data: f"benchmarks-{data}.svg" for data in dict.fromkeys(row["data"] for row in rows if row["curve"])}
    made = page(rows, "results/bench.jsonl", plots)
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == made, (
        "run: python -m benchmarks.paper.page results/bench.jsonl"
    )


def test_the_plot_is_the_same_for_the_same_results(tmp_path: Path):
    pytest.importorskip("matplotlib")
    rows, contents = [result("a", 0.6), result("b", 0.5, data="wikidata12k"), result("c", 0.5, curve=[])], []
    for name in ("first", "second"):
        files = write_page(tmp_path / name / "page.md", rows, "results.jsonl")
        assert [file.name for file in files] == ["page.md", "page-icews14.svg", "page-wikidata12k.svg"]
        contents.append([file.read_text(encoding="utf-8") for file in files])
    assert contents[0] == contents[1]
    assert ">minutes of training<" in contents[0][1]
    assert write_page(tmp_path / "plain.md", rows, "results.jsonl", with_plot=False) == [tmp_path / "plain.md"]


def test_a_printed_model_is_not_said_to_be_missing_beside_variants_of_another():
    rows = [result("a", 0.6), result("b", 0.5, model="telm"), result("c", 0.4, variant="-warm", model="telm")]
    table4 = page(rows, "results.jsonl", {}).split("## Ablation")[1].split("## Cost")[0]
    assert re.search(r"\| LCGE \| 0\.667 \| 0\.600 ", table4)
    assert re.search(r"\| -TIS \|.* not run \|", table4)


def test_another_graph_of_a_printed_name_is_not_set_beside_the_paper(tmp_path: Path):
    rows = [result("mine", 0.37, data_fingerprint="another"), result("old", 0.5)]
    write_page(tmp_path / "page.md", rows, "results.jsonl", with_plot=False)
    sections = dict(part.split("\n", 1) for part in (tmp_path / "page.md").read_text(encoding="utf-8").split("### "))
    assert "| LCGE | 0.667 | 0.500 | -0.167 |" in sections["icews14"]
    assert "0.370" not in sections["icews14"]
    assert "| LCGE | – | 0.370 |  |" in sections["icews14-other"]


def test_the_committed_results_are_of_the_graphs_that_are_meant():
    rows = read_rows(ROOT / "results" / "bench.jsonl")
    assert {named_apart(row)["data"] for row in rows} == {"icews14", "icews05-15", "wikidata12k"}


def test_a_page_of_no_results_is_not_written(tmp_path: Path):
    with pytest.raises(DataError, match=r"empty\.jsonl: there are no results in it yet"):
        write_page(tmp_path / "page.md", [], "empty.jsonl")
    assert not (tmp_path / "page.md").exists()
    with pytest.raises(SystemExit, match=r"error: .*none\.jsonl: there are no results in it yet"):
        main([str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "page.md")])


def curve(*values: float) -> list[list[float]]:
    return [list(point) for point in points(*values)]


def test_a_seed_counts_once_and_a_line_tells_filter_and_patience():
    rows = [result("a-0", 0.4, seedless_hash="s"), result("b-0", 0.6, seedless_hash="s")]
    (line,) = lines_of(rows)
    assert line.values("mrr") == [0.6]
    assert "seeds" not in differences(line)
    assert "filter" not in differences(line)
    for changes, reported in (
        ({"filter": "points"}, "filter `points`"),
        ({"boundary_relations": "shared"}, "filter `exact`"),
        (
            {"epochs": 11, "curve": curve(*RISE, 0), "converged": False},
            "as valid had not become better in 1 evaluation;",
        ),
        ({"epochs": 13, "curve": curve(*RISE, 0, 0, 0)}, "in 3 evaluations, after a rise of 0.010 in its last quarter"),
        ({"status": "failed", "test": None, "earlier": ["aa"]}, "test not ranked; ranked on test in 1 earlier"),
        ({"status": "failed", "test": None, "tested_before": [9]}, "not ranked; ranked on test after 9 epochs too"),
        ({"tested_before": [10, 20]}, "ranked on test after 10 and 20 epochs too"),
        ({"earlier": ["aa"]}, "ranked on test in 1 earlier configuration too"),
        ({"earlier": ["aa", "bb"]}, "ranked on test in 2 earlier configurations too"),
        ({"earlier": ["aa", "bb"], "tested_before": [10]}, "ranked on test in 1 earlier configuration too"),
        ({"candidates": 2000}, "softmax over 2000 entities and the answers of the step"),
    ):
        (line,) = lines_of([result("a-0", 0.4, **changes)])
        assert reported in differences(line)


def test_an_ensemble_is_no_plain_model():
    alone, mean = lines_of(
        [result("one-0", 0.5, ensemble_size=1), result("two-0", 0.6, ensemble_size=2, seedless_hash="m")]
    )
    assert (alone.model, alone.plain) == ("LCGE", True)
    assert (mean.model, mean.plain) == ("LCGE × 2", False)
    assert differences(mean) == "2 models of rank 200, 30 epochs"
