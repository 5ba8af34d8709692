"""The tables of `docs/probabilities.md`: what finished runs reach for each slot, and how reliable they are.

    python -m benchmarks.slot_tables [RUN ...]

What the report of each run says of its slots is kept in `benchmarks/results/slots_RUN.json`; the page is written from
all files of that name. Nothing is ranked.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from foretime.evaluation import Evaluation
from foretime.files import write_json
from foretime.runs.folder import RunFolder

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "probabilities.md"
MARKS = "<!-- slots:begin -->", "<!-- slots:end -->"
KEPT = ("data", "model", "reranker", "slot_models", "choice", "test_note", "test")


def main() -> None:
    """Keep what the reports say, and write the page with new tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*")
    for path in parser.parse_args().runs:
        report: Any = RunFolder.open(path).report()
        write_json(RESULTS / f"slots_{Path(path).name}.json", {name: report[name] for name in KEPT})
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    lines = [line for file in sorted(RESULTS.glob("slots_*.json")) for line in section(file)]
    PAGE.write_text(before + "\n".join([MARKS[0], "", *lines, MARKS[1]]) + after, encoding="utf-8")


def section(file: Path) -> list[str]:
    """Return the heading and the tables of one run."""
    kept = json.loads(file.read_text(encoding="utf-8"))
    found = Evaluation.from_dict(kept["test"])
    tables = (found.by_slot.to_markdown(), found.calibration.to_markdown())
    return [
        f"### {kept['data']}, {file.stem.removeprefix('slots_')}",
        "",
        *(line for table in tables for line in (*table.strip().splitlines(), "")),
    ]


if __name__ == "__main__":
    main()
