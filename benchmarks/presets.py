"""The table of presets in the README: what each reaches on the public data sets, and how long it trains.

    python -m benchmarks.presets

writes it between its markers from `results/*/report.json` alone. The last row has the best published figures under a
time-aware filter in both directions, as read in the literature and recorded in `docs/protocol.md`.
"""

from __future__ import annotations

import json
from pathlib import Path

from foretime.files import write_text
from foretime.tables import Table

ROOT = Path(__file__).parents[1]
MARKS = "<!-- presets:begin -->", "<!-- presets:end -->"
BEST_RUNS = {
    "icews14": "lcge-evidence-oof-mean",
    "icews05-15": "lcge-evidence-mean",
    "wikidata12k": "lcge-evidence-oof",
}
PUBLISHED = {"icews14": 0.651, "icews05-15": 0.694, "wikidata12k": 0.349}
RUNS = {
    "quick": {data: f"{data}-rules" for data in BEST_RUNS},
    "balanced": {data: f"{data}-lcge-evidence" for data in BEST_RUNS},
    "best": {data: f"{data}-{run}" for data, run in BEST_RUNS.items()},
}
"""The run whose configuration a preset of completion is, by data set; `tests/runs/test_presets.py` compares them."""
NOTE = """\
Each cell: the MRR on test of one seed, linked to its run, and minutes of training on at most two CPU cores (¹ one thread,
² two), without mining and re-ranking. Best published: under a time-aware filter in both directions
([docs/protocol.md](docs/protocol.md#why-published-figures-differ))."""


def presets_table() -> str:
    """Return the table in Markdown, and the note below it."""
    records = [
        {"preset": f"`{preset}`"} | {data: _cell(run) for data, run in runs.items()} for preset, runs in RUNS.items()
    ]
    records.append({"preset": "best published"} | {data: f"{mrr:.3f}" for data, mrr in PUBLISHED.items()})
    return f"{Table.of(records).to_markdown()}\n{NOTE}"


def _cell(run: str) -> str:
    report = json.loads((ROOT / "results" / run / "report.json").read_text(encoding="utf-8"))
    threads, minutes = report["machine"]["threads"], report["training_seconds"] / 60
    return f"[{report['test']['all']['mrr']:.3f}](results/{run}/report.json), {minutes:.0f} min {'¹²'[threads - 1]}"


def main() -> None:
    """Write the table into the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    before, after = readme.split(MARKS[0])[0], readme.split(MARKS[1])[1]
    write_text(ROOT / "README.md", f"{before}{MARKS[0]}\n\n{presets_table()}\n\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
