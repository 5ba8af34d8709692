"""The README says what the presets reach, as the kept reports have it."""

from pathlib import Path

from benchmarks.presets import MARKS, RUNS, presets_table

from foretime.runs.presets import PRESETS

ROOT = Path(__file__).parents[2]


def test_the_readme_has_the_table_of_the_presets():
    table = presets_table()
    assert f"{MARKS[0]}\n\n{table}\n\n{MARKS[1]}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert [*RUNS, "forecast"] == list(PRESETS)
    assert "| best published | 0.651 | 0.694 | 0.349 |" in table
    assert "[0.668](results/icews14-lcge-evidence-oof-mean/report.json), 221 min ²" in table
