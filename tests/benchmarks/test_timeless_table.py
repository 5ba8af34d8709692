"""The table of facts without a time is written from the figures, and nothing else of the page."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import marks, timeless_facts


def figures(mrr: float, background: int) -> dict[str, object]:
    found = {"mrr": mrr, "hits@1": 0.25, "hits@10": 0.5}
    return {"train": 2_000, "background": background, "valid": found, "test": found, "training_seconds": 1.0}


def test_the_page_gets_a_line_for_each_run_that_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, out = tmp_path / timeless_facts.PAGE, tmp_path / "figures.json"
    page.write_text("before\n<!-- timeless:begin -->\nold\n<!-- timeless:end -->\nbehind\n", encoding="utf-8")
    runs = {"background": figures(0.26125, 1_000), "dropped": figures(0.25, 0)}
    made = {"graph": "world", "preset": "quick", "share": 1 / 3, "seed": 0, "settings": {"reranker.slots": False}}
    out.write_text(json.dumps(made | {"runs": runs}), encoding="utf-8")
    monkeypatch.setattr(marks, "DOCS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["timeless_facts", "--page", "--out", str(out)])
    timeless_facts.main()
    lines = page.read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("before", "behind")
    assert "old" not in lines
    assert [line for line in lines if line.startswith("| `")] == [
        "| `dropped` | 2,000 | 0 | 0.2500 | 0.2500 | 0.2500 | 0.5000 |",
        "| `background` | 2,000 | 1,000 | 0.2612 | 0.2612 | 0.2500 | 0.5000 |",
    ]
    assert any("world, preset `quick`, 33% of train, seed 0, `reranker.slots = false`" in line for line in lines)


def test_the_page_has_the_block() -> None:
    text = (marks.DOCS / timeless_facts.PAGE).read_text(encoding="utf-8")
    assert "<!-- timeless:begin -->" in text
    assert "<!-- timeless:end -->" in text


def test_a_page_without_figures_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["timeless_facts", "--page"])
    with pytest.raises(SystemExit):
        timeless_facts.main()
    assert "--page needs the figures" in capsys.readouterr().err
