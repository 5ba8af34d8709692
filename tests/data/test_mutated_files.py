"""Damaged files of every format: rows read = rows kept + rows reported, and nothing is read as something else.

`python -m benchmarks.mutated_files --files 20000` does it at length.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.mutated_files import WRITERS, check_file, check_files


def test_every_row_of_300_damaged_files_is_kept_or_reported() -> None:
    counts = check_files(300)
    assert counts["rows"] == counts["kept"] + counts["reported"]
    assert counts["read"] + counts["refused"] == 300
    assert counts["read"] > 200, "most damaged files have good rows left"
    assert min(counts["reported"], counts["refused"]) > 0, "the damage is real"
    assert all(counts[suffix] for suffix in WRITERS)


def test_a_row_that_is_lost_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from foretime.data.graph import Graph

    seed = next(seed for seed in range(50) if check_file(tmp_path, seed)["kept"] > 1)
    monkeypatch.setattr(Graph, "rows", lambda self, split=None: iter([("a", "b", "c", "d")]))
    with pytest.raises(AssertionError):
        check_file(tmp_path, seed)
