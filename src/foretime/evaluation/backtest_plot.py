"""The plot of a backtest: MRR, calibration error and coverage over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foretime.evaluation.reliability_plot import check_plot_file
from foretime.files import make_folder

_PANELS = {
    "MRR": {"mrr": "MRR"},
    "calibration error": {"ece": "ECE"},
    "share of answers": {"pairs_seen": "seen with the subject before", "entities_known": "entity known before"},
}


def plot_backtest(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Draw the rows of a backtest's table: one panel below the other, retrained weights as dashed lines."""
    check_plot_file(file)
    from matplotlib.figure import Figure

    days = list(dict.fromkeys(row["first"] for row in rows))
    figure = Figure(figsize=(max(6.0, 0.3 * len(days)), 6.5), layout="constrained")
    panels = figure.subplots(len(_PANELS), 1, sharex=True)
    for panel, (title, lines) in zip(panels, _PANELS.items(), strict=True):
        for color, (column, label) in enumerate(lines.items()):
            for weights, style in (("fixed", "-"), ("retrained", "--")):
                values = _values(rows, days, column, weights)
                if column in ("mrr", "ece") and any(value is not None for value in values):
                    panel.plot(days, _gaps(values), f"{style}o", color=f"C{color}", markersize=3, label=weights)
                elif weights == "fixed" and column not in ("mrr", "ece"):
                    panel.plot(days, _gaps(values), "-o", color=f"C{color}", markersize=3, label=label)
        panel.set_ylabel(title)
        panel.set_ylim(bottom=0)
        panel.legend(fontsize=7)
    panels[-1].tick_params(axis="x", rotation=90)
    make_folder(file.parent)
    figure.savefig(file)


def _values(rows: Sequence[Mapping[str, Any]], days: list[str], column: str, weights: str) -> list[float | None]:
    """Return a value for each day; None where nothing happened."""
    found = {row["first"]: row.get(column) for row in rows if row.get("weights", "fixed") == weights}
    return [found.get(day) for day in days]


def _gaps(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]
