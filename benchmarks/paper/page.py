"""The page of the benchmarks: what the paper prints beside what the runs have reached, and what that cost.

    python -m benchmarks.paper.page results/bench.jsonl

writes `docs/benchmarks.md` (`--out`) and a plot for each graph beside it (`--no-plot` leaves them out).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from urllib.parse import quote

from benchmarks.paper.grouping import Line, differences, lines_of, span
from benchmarks.paper.published import Published, published
from foretime.errors import DataError, ForetimeError
from foretime.evaluation.metrics import METRICS
from foretime.experiments.bench.rows import Row, read_rows
from foretime.files import write_text


def write_page(path: Path, rows: list[Row], results: str, with_plot: bool = True) -> list[Path]:
    """Write the page, and a plot for each data set beside it; return the files."""
    if not rows:
        raise DataError(f"{results}: there are no results in it yet; foretime bench run makes some")
    rows = [named_apart(row) for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    plots: dict[str, Path] = {}
    if with_plot:
        from benchmarks.paper.plot import write_plots

        plots = write_plots(path, rows)
    write_text(path, page(rows, results, {data: plot.name for data, plot in plots.items()}))
    return [path, *plots.values()]


def named_apart(row: Row) -> Row:
    """Return a result under another name of its graph, if that has the name of a printed one and is another graph."""
    known = published().fingerprints.get(row["data"])
    if known is None or row.get("data_fingerprint", known[0]) in known:
        return row
    return {**row, "data": f"{row['data']}-other"}


def page(rows: list[Row], results: str, plots: dict[str, str]) -> str:
    """Return the page as Markdown; `plots` names the picture of each data set."""
    paper, lines = published(), lines_of(rows)
    parts = [
        "# Benchmarks",
        "",
        f"Written by `python -m benchmarks.paper.page {results}`; the runs are declared in a list, see",
        "[benchmarking.md](benchmarking.md). The printed figures are those of Tables 3 and 4 of",
        f"{paper.paper}.",
        f"The paper's rank is {paper.rank}. Ours follow",
        "[protocol.md](protocol.md): one ranking among all entities, in both directions, everything chosen on valid.",
        "",
        *_table3(lines, paper),
        *_table4(lines, paper),
        *_cost(lines),
        *_plots(plots),
        *_made_by(rows),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _table3(lines: list[Line], paper: Published) -> list[str]:
    parts = ["## Completion (the paper's Table 3)", ""]
    others = [line.data for line in lines if line.data not in paper.table3]
    for data in [*paper.table3, *dict.fromkeys(others)]:
        own = [line for line in lines if line.data == data and not _is_ablation(line)]
        printed = paper.table3.get(data, {})
        if not own:
            parts += [f"### {data}", "", "Nothing has been run on it yet.", ""]
            continue
        origin = [f"Printed figures: {paper.figures[data]}.", ""] if data in paper.figures else []
        parts += [f"### {data}", "", *origin, *_table(own, printed), ""]
    return parts


def _table4(lines: list[Line], paper: Published) -> list[str]:
    parts = ["## Ablation (the paper's Table 4)", ""]
    for data in dict.fromkeys([*paper.table4, *(line.data for line in lines)]):
        there = [line for line in lines if line.data == data]
        ablations = [line for line in there if _is_ablation(line)]
        printed, models = paper.table4.get(data, {}), {line.rows[0]["model"] for line in ablations}
        plain = [line for line in there if line.plain and not _is_ablation(line)]
        whole = [line for line in plain if line.rows[0]["model"] in models or line.model in printed]
        if ablations:
            parts += [f"### {data}, ablation", "", *_table([*whole, *ablations], printed), ""]
    return parts if len(parts) > 2 else [*parts, "Not run yet.", ""]


def _table(own: list[Line], printed: dict[str, dict[str, float]]) -> list[str]:
    """Return a table: the printed rows with the lines that belong to them, then the other lines."""
    rows = []
    for name in dict.fromkeys([*printed, *map(_cell, own)]):
        found: list[Line | None] = [line for line in own if _cell(line) == name]
        rows += [_row(name, printed.get(name), line) for line in found or [None]]
    return [*_head(), *rows]


def _cell(line: Line) -> str:
    """Return the name of a line in a table; the variants that are printed are those of LCGE."""
    model = line.rows[0]["model"]
    return f"{published().name(model)} {line.model}" if _is_ablation(line) and model != "lcge" else line.model


def _head() -> list[str]:
    columns = " | ".join(f"{metric.label} paper | ours | gap" for metric in METRICS.values())
    return [f"| model | {columns} | what differs |", "| --- |" + " --- |" * (3 * len(METRICS) + 1)]


def _row(name: str, printed: dict[str, float] | None, line: Line | None) -> str:
    cells = []
    for metric in METRICS:
        there, here = (printed or {}).get(metric), line.mean(metric) if line else None
        gap = f"{here - there:+.3f}" if here is not None and there is not None else ""
        cells += [f"{there:.3f}" if there is not None else "–", line.spread(metric) if line else "", gap]
    return f"| {name} | {' | '.join(cells)} | {differences(line) if line else 'not run'} |"


def _is_ablation(line: Line) -> bool:
    return bool(line.rows[0]["variant"])


def _cost(lines: list[Line]) -> list[str]:
    parts = [
        "## Cost beside quality",
        "",
        "Means over seeds. Time is that of training, without the fitting of a re-ranker and without ranking;",
        "memory is the peak of the whole process.",
        "",
        "| data | model | test MRR | valid MRR | parameters | training, min | peak memory, MB | epochs |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in sorted(lines, key=lambda line: (line.data, -(line.mean("mrr") or 0.0))):
        if not line.finished:
            continue
        row, count = line.finished[0], len(line.finished)
        minutes = sum(other["training_seconds"] for other in line.finished) / count / 60
        memory = sum(other["peak_memory_mb"] for other in line.finished) / count
        on_valid = line.mean("mrr", "valid")
        valid = (
            "(fitted on it)" if "valid" in (row["reranker"] or "") else "" if on_valid is None else f"{on_valid:.4f}"
        )
        parts.append(
            f"| {line.data} | {line.title} | {line.mean('mrr'):.4f} | {valid} | {row['parameters']:,} | {minutes:.1f} "
            f"| {memory:,.0f} | {span([other['epochs'] for other in line.finished])} |"
        )
    return [*parts, ""]


def _plots(plots: dict[str, str]) -> list[str]:
    parts = ["## MRR against training time", ""] if plots else []
    for data, name in plots.items():
        parts += [f"![MRR on valid against minutes of training, {data}]({quote(name)})", ""]
    if plots:
        parts += [
            "Lines: MRR on valid during training, of the base model; on as many facts as `valid_limit` says,",
            "where a configuration has it. Stars: MRR on test at the end.",
            "",
        ]
    return parts


def _made_by(rows: list[Row]) -> list[str]:
    """Return which machines and commits the results were made by."""
    if not rows:
        return []
    parts = ["## Made by", ""]
    for row in rows:
        machine = row.get("machine") or {}
        where = ", ".join(
            f"{machine[key]}{unit}" if key in ("processor", "threads") else f"{key} {machine[key]}"
            for key, unit in (("processor", ""), ("threads", " thread(s)"), ("torch", ""), ("python", ""))
            if key in machine
        )
        commit = f"commit {_short(row['commit'])}" if row.get("commit") else "commit not recorded"
        commit += f", finished by {_short(row['finished_by'])}" if row.get("finished_by") else ""
        parts.append(f"- `{row['name']}` ({row['config_hash']}): {row['status']}; {commit}; {where}")
    return parts


def _short(commit: str) -> str:
    return commit[:12] + (" with changes" if commit.endswith("+") else "")


def main(words: list[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks.md"))
    parser.add_argument("--no-plot", action="store_true")
    given = parser.parse_args(words)
    try:
        written = write_page(given.out, read_rows(given.results), str(given.results), not given.no_plot)
    except ForetimeError as error:
        sys.exit(f"error: {error}")
    print("\n".join(f"written to {file}" for file in written))


if __name__ == "__main__":
    main()
