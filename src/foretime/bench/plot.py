"""MRR against training time, as an SVG for each data set (needs the extra `benchmarks`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foretime.bench.grouping import lines_of
from foretime.bench.rows import Row
from foretime.errors import ConfigError


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
            figure = Figure(figsize=(8, 5), layout="constrained")
            _draw(figure.subplots(), data, [row for row in rows if row["data"] == data])
            written[data] = page.with_name(f"{page.stem}-{data}.svg")
            figure.savefig(written[data], format="svg", metadata={"Date": None, "Creator": None})
    return written


def _draw(axes: Any, data: str, rows: list[Row]) -> None:
    for number, line in enumerate(lines_of(rows)):
        colour = f"C{number % 10}"
        for place, row in enumerate(line.rows):
            minutes = [point[1] / 60 for point in row["curve"]]
            label = line.title if place == 0 else None
            style = "-" if number < 10 else "--"
            axes.plot(minutes, [point[2] for point in row["curve"]], style, marker=".", color=colour, label=label)
            if row["test"] and minutes:
                whole = max(minutes[-1], row["training_seconds"] / 60)  # other first stages may have followed
                axes.plot([whole], [row["test"]["mrr"]], "*", color=colour, markersize=10)
    axes.set(title=data, xlabel="minutes of training", ylabel="MRR", xscale="log")
    for formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        formatter("{x:g}")  # minutes, not powers of ten
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
