"""The tables of `docs/probabilities.md`: what finished runs reach for each slot, and how reliable they are.

    python -m benchmarks.slot_tables [RUN ...]

What the report of each run says of its slots is kept in `benchmarks/results/slots_RUN.json`; the page is written from
all files of that name, and from what `benchmarks.two_slots`, `benchmarks.slot_choices` and
`benchmarks.calibration_covariates` have written. Nothing is ranked.
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
TRIED = "<!-- tried:begin -->", "<!-- tried:end -->"
COVARIATES = "<!-- covariates:begin -->", "<!-- covariates:end -->"
TWO = "<!-- two slots:begin -->", "<!-- two slots:end -->"
KEPT = ("data", "model", "reranker", "slot_models", "choice", "test_note", "test")


def main() -> None:
    """Keep what the reports say, and write the page with new tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*")
    for path in parser.parse_args().runs:
        report: Any = RunFolder.open(path).report()
        write_json(RESULTS / f"slots_{Path(path).name}.json", {name: report[name] for name in KEPT})
    tables = [line for file in sorted(RESULTS.glob("slots_*.json")) for line in section(file)]
    page = PAGE.read_text(encoding="utf-8")
    page = _between(TWO, _between(MARKS, page, ["", *tables]), two_slots())
    for marks, name in ((TRIED, "slot_choices"), (COVARIATES, "calibration_covariates")):
        page = _between(marks, page, ways_by_slot(RESULTS / f"{name}.json"))
    PAGE.write_text(page, encoding="utf-8")


def _between(marks: tuple[str, str], page: str, lines: list[str]) -> str:
    """Return the page with other lines between two marks."""
    before, rest = page.split(marks[0])
    return before + "\n".join([marks[0], *lines, marks[1]]) + rest.split(marks[1])[1]


def two_slots() -> list[str]:
    """Return the table of what is found of two open slots among the first ten pairs."""
    lines = [
        "| run | given, beside the day | questions | true events | run | counting | times counting |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for file in sorted(RESULTS.glob("two_slots*_test.json")):
        found = json.loads(file.read_text(encoding="utf-8"))
        recall = found["recall@10"]
        counting = max(value for way, value in recall.items() if way != "model")
        given = "predicate" if "of_predicate" in file.stem else "subject"
        lines.append(
            f"| {found['run']} | {given} | {found['questions']:,} | {found['events']:,} "
            f"| {recall['model']:.3f} | {counting:.3f} | {found['times counting']:.2f} |"
        )
    return lines


def ways_by_slot(file: Path) -> list[str]:
    """Return the table of the ways that were compared, slot by slot."""
    kept = json.loads(file.read_text(encoding="utf-8"))
    slots = {slot: ways for slot, ways in kept.items() if isinstance(ways, dict)}
    names = list(next(iter(next(iter(slots.values())).values())))
    lines = [f"| slot | way | {' | '.join(names)} |", f"| --- | --- | {' | '.join(['---:'] * len(names))} |"]
    for slot, ways in slots.items():
        lines += [
            f"| {slot} | {way} | {' | '.join(f'{found[name]:.5f}' for name in names)} |" for way, found in ways.items()
        ]
    return lines


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
