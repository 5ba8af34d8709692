"""Keep what finished runs have shown: their configuration, trace and report, and the pages that quote them.

    python -m benchmarks.collect_results runs/icews14-tntcomplex runs/icews14-lcge …

Copies the small files of each run into `results/NAME`, then writes `docs/results.md`, the figures of the README, and the
line "reached" at the top of `configs/NAME.toml`, all from everything in `results`. Without runs it only writes the pages.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from benchmarks.reached import valid_mrr, write_reached
from benchmarks.sections import benchmark_lines, sections
from benchmarks.summary import summary_table
from foretime.evaluation.metrics import METRICS
from foretime.files import write_json, write_text
from foretime.runs.finish import training_seconds
from foretime.runs.folder import RunFolder

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
MARKS = "<!-- figures:begin -->", "<!-- figures:end -->"


def collect(run: Path) -> None:
    """Copy a run's configuration, trace and report, the report without its long table by predicate."""
    folder = RESULTS / run.name
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.toml", "trace.jsonl"):
        shutil.copyfile(run / name, folder / name)
    report = json.loads((run / "report.json").read_text(encoding="utf-8"))
    report["training_seconds"] = round(training_seconds(RunFolder(run)), 1)
    for split in ("valid", "test"):
        for found in (report.get(split, {}), report.get(split, {}).get("base_model", {})):
            found.pop("predicates", None)
    write_json(folder / "report.json", report)


def reports() -> dict[str, dict[str, Any]]:
    """Return every kept report by the name of its run."""
    found = sorted(RESULTS.glob("*/report.json"))
    return {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in found}


def results_table(kept: dict[str, dict[str, Any]]) -> str:
    """Return the kept runs as a Markdown table."""
    others = " | ".join(metric.label for metric in list(METRICS.values())[1:])
    lines = [
        f"| run | filter | valid MRR | test MRR | 95 % | {others} | ECE | epochs | parameters | minutes | memory, MB |",
        "| --- |" + " --- |" * (len(METRICS) + 8),
    ]
    for name, report in kept.items():
        valid, test = report["valid"], report.get("test")
        tested = "not ranked |" + " |" * (len(METRICS) + 1)
        if test is not None:
            low, high = test["mrr_interval"]
            rest = " | ".join(metric.text(test["all"].get(metric.name)) for metric in list(METRICS.values())[1:])
            error = test["calibration_error"]["object"]
            tested = f"{test['all']['mrr']:.4f} | {low:.3f}–{high:.3f} | {rest} | {error:.3f} |"
        lines.append(
            f"| [{name}](../results/{name}/config.toml) | {valid['filter']} | {valid_mrr(report)} | {tested} "
            f"{report['best_epoch']} of {report['epochs']} | {report['parameters']:,} "
            f"| {report['training_seconds'] / 60:.0f} | {report['peak_memory_mb']:,.0f} |"
        )
    return "\n".join(lines)


def write_pages(kept: dict[str, dict[str, Any]]) -> None:
    """Write `docs/results.md` and the figures of the README."""
    table, lines = results_table(kept), benchmark_lines()
    page = [
        "# Results",
        "",
        "Written by `python -m benchmarks.collect_results` from the files in `results/` and `benchmarks/results/`. Every",
        "run was chosen on valid, none on test, though some configurations were ranked on test before a later one took their",
        "place ([evidence.md](evidence.md) has what was tried). Protocol: [protocol.md](protocol.md).",
        "A row is made anew by `foretime data get icews14`, `foretime train --config configs/NAME.toml --out runs/NAME` and",
        "`python -m benchmarks.collect_results runs/NAME`; the tables of models are made by",
        "[`foretime bench`](benchmarking.md).",
        "Minutes are those of all base models on two cores, often with other work on them; memory is the whole process's.",
        "",
        table,
        "",
        "## Speed and memory",
        "",
        *lines,
        "",
        *sections(kept),
    ]
    write_text(ROOT / "docs" / "results.md", "\n".join(page).rstrip() + "\n")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    before, after = readme.split(MARKS[0])[0], readme.split(MARKS[1])[1]
    figures = "\n".join([MARKS[0], "", summary_table(kept, RESULTS), "", *lines, "", MARKS[1]])
    write_text(ROOT / "README.md", before + figures + after)


def main() -> None:
    """Collect the runs and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="*")
    for run in parser.parse_args().runs:
        collect(run)
    kept = reports()
    write_reached(ROOT / "configs", RESULTS, kept)
    write_pages(kept)


if __name__ == "__main__":
    main()
