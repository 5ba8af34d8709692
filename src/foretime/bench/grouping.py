"""Results put together: the runs of one model with several seeds are one line of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from foretime.bench.published import published
from foretime.bench.rows import Row

METRICS = ("mrr", "hits@1", "hits@3", "hits@10")


@dataclass(frozen=True)
class Line:
    """The results of one configuration, one for each seed."""

    data: str
    model: str
    """As it is printed, with its variant and what is beside it."""
    plain: bool
    """Whether it is the model alone, as the paper has it: without evidence and without a second stage."""
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """The name where it does not stand among those of its model."""
        return f"{published().name(self.rows[0]['model'])} {self.model}" if self.rows[0]["variant"] else self.model

    @property
    def finished(self) -> tuple[Row, ...]:
        """The results with figures on test."""
        return tuple(row for row in self.rows if row["status"] == "finished" and row["test"])

    def values(self, metric: str, split: str = "test") -> list[float]:
        """Return a metric of each finished seed."""
        name, _, k = metric.partition("@")
        return [row[split]["hits"][k] if k else row[split][name] for row in self.finished]

    def mean(self, metric: str, split: str = "test") -> float | None:
        """Return the mean of a metric over the seeds."""
        values = self.values(metric, split)
        return float(np.mean(values)) if values else None

    def spread(self, metric: str) -> str:
        """Return the mean with the standard deviation, where there are several seeds."""
        values = self.values(metric)
        if not values:
            return ""
        return f"{np.mean(values):.3f}" + (f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else "")


def lines_of(rows: list[Row]) -> list[Line]:
    """Return the results by configuration, in the order of their first ones."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        # runs whose folder was never made have no rank, and stand for themselves
        key = (row["data"], _label(row), row.get("rank"), row.get("planned_epochs"), row.get("filter"))
        groups.setdefault(key, []).append(row)
    return [Line(found[0]["data"], _label(found[0]), _is_plain(found[0]), tuple(found)) for found in groups.values()]


def differences(line: Line) -> str:
    """Return what is to be known when a line is read beside a printed one: by its rows, and by the printed source."""
    row = (line.finished or line.rows)[0]
    if not line.finished:
        return f"{row['status']} after {row['epochs']} epochs, test not ranked"
    rank = "" if row["model"] == "rules" else f"rank {row['rank']}, "  # rules have no embeddings
    facts = {
        f"{rank}{row['epochs']} epochs": True,
        f"still rising (+{row['last_gain'] or 0:.3f} in its last quarter)": row["converged"] is False,
        "too few evaluations to tell whether it has converged": row["converged"] is None,
        f"{len(line.finished)} seeds": len(line.finished) > 1,
        f"filter `{row['filter']}`": line.data == "wikidata12k",
        "second stage fitted on valid": "valid" in (row["combiner"] or ""),
    }
    remark = published().protocol.get(line.data, {}).get(line.model, "") if line.plain else ""
    return "; ".join([*(text for text, holds in facts.items() if holds), *([remark] if remark else [])])


def _label(row: Row) -> str:
    beside = [name for name in ("evidence", "combiner") if row.get(name)]
    fitted = f" ({row['combiner']})" if row.get("combiner") else ""
    name = row["variant"] or published().name(row["model"])
    return " + ".join([name, *beside]) + fitted


def _is_plain(row: Row) -> bool:
    return not row.get("evidence") and not row.get("combiner")
