"""Rows damaged in twelve ways are skipped, and the report accounts for every row."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks.damaged_rows import WAYS, account, damage


def write_graph(folder: Path, facts: int) -> Path:
    """Ids with names behind them, and intervals of years: the layout of Wikidata12k."""
    rng = random.Random(1)
    folder.mkdir()
    (folder / "entity2id.txt").write_text("".join(f"Q{i}\t{i}\n" for i in range(50)))
    (folder / "relation2id.txt").write_text("".join(f"P{i}\t{i}\n" for i in range(5)))
    for split, count in {"train": facts, "valid": facts // 10, "test": facts // 10}.items():
        rows = (
            f"{rng.randrange(50)}\t{rng.randrange(5)}\t{rng.randrange(50)}\t{1900 + i % 90}-##-##\t####-##-##\n"
            for i in range(count)
        )
        (folder / f"{split}.txt").write_text("".join(rows))
    return folder


def check(source: Path, target: Path, share: float, rows: int) -> None:
    target.mkdir()
    done = damage(source, target, share, seed=0)
    graph, counts = account(target, done, rows)
    assert counts["rows"] == counts["kept"] + counts["reported"]
    assert counts["reported"] == counts["damaged"] == counts["damaged_and_reported"]
    assert counts["reported_and_whole"] == 0
    assert set(counts["ways"]) == set(WAYS)
    assert all(way["reported_as"] for way in counts["ways"].values())
    assert len(graph.bad_rows.kinds) <= len(WAYS), "one line for each kind"


def test_every_damaged_row_is_reported_and_no_other(tmp_path: Path) -> None:
    check(write_graph(tmp_path / "whole", 2_000), tmp_path / "damaged", 0.05, 2_400)


@pytest.mark.real
def test_wikidata12k_with_a_hundredth_of_its_rows_damaged(real_data: Path, tmp_path: Path) -> None:
    check(real_data / "wikidata12k", tmp_path / "damaged", 0.01, 40_621)
