"""The reliability plot: how often best answers are right against the probability that they are given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from foretime.errors import ConfigError, ForetimeError
from foretime.evaluation.reliability import Reliability
from foretime.files import make_folder

ENDINGS = (".svg", ".png")


def check_plot_file(file: Path) -> None:
    """Raise an error if a plot cannot be written to a file: its ending, or matplotlib is not installed."""
    if file.suffix not in ENDINGS:
        raise ConfigError(f"{file}: a plot is written as {' or '.join(ENDINGS)}; name such a file")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ForetimeError("matplotlib is not installed; pip install matplotlib") from None


def plot_reliability(found: Mapping[str, Reliability], file: Path) -> None:
    """Draw one panel for each slot; the area of a dot is the number of its questions."""
    check_plot_file(file)
    if not found:
        raise ForetimeError("nothing to plot: this evaluation has no probabilities; foretime evaluate makes it anew")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.2 * len(found), 3.4), layout="constrained")
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for panel, (slot, one) in zip(panels, found.items(), strict=True):
        panel.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        said, right = [each.probability for each in one.bins], [each.right for each in one.bins]
        areas = [400 * each.questions / max(1, one.questions) for each in one.bins]
        panel.plot(said, right, color="C0", linewidth=1)
        panel.scatter(said, right, s=areas, color="C0", alpha=0.6)
        panel.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="probability of the best answer")
        panel.set_title(f"{slot}: ECE {one.ece:.3f}, {one.questions:,} questions", fontsize=9)
    panels[0].set_ylabel("share that is right")
    make_folder(file.parent)
    figure.savefig(file)
