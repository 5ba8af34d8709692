"""MRR against training time, as an SVG for each data set (needs the extra `benchmarks`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.paper.grouping import lines_of
from foretime.errors import ConfigError
from foretime.experiments.bench.rows import Row

LEGEND_COLUMNS = 2
STYLES = ("-", "--", ":", "-.")


def write_plots(page: Path, rows: list[Row]) -> dict[str, Path]:
    """Write one plot for each data set beside the page, and return them by data set."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            "matplotlib is not installed; pip install 'foretime[benchmarks]', or write the page with --no-plot"
        ) from None
    written = {}
    # the same results give the same file: no dates, no random names; text stays text
    with matplotlib.rc_context({"svg.hashsalt": "foretime", "svg.fonttype": "none"}):
        for data in dict.fromkeys(row["data"] for row in rows if row["curve"]):
            own = [row for row in rows if row["data"] == data]
            legend_rows = -(-len(lines_of(own)) // LEGEND_COLUMNS)
            figure = Figure(figsize=(9, 5 + 0.2 * legend_rows), layout="constrained")
            _draw(figure.subplots(), data, own)
            written[data] = page.with_name(f"{page.stem}-{data}.svg")
            figure.savefig(written[data], format="svg", metadata={"Date": None, "Creator": None})
    return written


def _draw(axes: Any, data: str, rows: list[Row]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    for number, line in enumerate(lines_of(rows)):
        colour, style = f"C{number % 10}", STYLES[number // 10 % len(STYLES)]
        for place, row in enumerate(line.rows):
            minutes = [point[1] / 60 for point in row["curve"]]
            label = line.title if place == 0 else None
            axes.plot(minutes, [point[2] for point in row["curve"]], style, marker=".", color=colour, label=label)
            if row["test"] and minutes:
                whole = max(minutes[-1], row["training_seconds"] / 60)  # other base models may have followed
                axes.plot([whole], [row["test"]["mrr"]], "*", color=colour, markersize=10)
    axes.set(title=data, xlabel="minutes of training", ylabel="MRR", xscale="log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")  # minutes, not powers of ten
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)
    axes.figure.legend(loc="outside lower center", ncols=LEGEND_COLUMNS, frameon=False, fontsize="x-small")
