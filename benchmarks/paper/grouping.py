"""Results put together: the runs of one model with several seeds are one line of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.paper.published import published
from foretime.experiments.bench.curve import Point, evaluations_since_best, is_flat, last_gain
from foretime.experiments.bench.rows import Row


@dataclass(frozen=True)
class Line:
    """The results of one configuration, one for each seed."""

    data: str
    model: str
    """As it is printed, with its variant and what is beside it."""
    runs: str
    """What its runs are called, if there is another line of this model and graph; else empty."""
    plain: bool
    """Whether it is the model alone, as in the paper: no ensemble, no evidence, no re-ranker."""
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """The name where it does not stand among those of its model."""
        variant = self.rows[0]["variant"]
        whole = f"{published().name(self.rows[0]['model'])} {self.model}" if variant else self.model
        return f"{whole} ({self.runs})" if self.runs else whole

    @property
    def finished(self) -> tuple[Row, ...]:
        """The results with figures on test."""
        return tuple(row for row in self.rows if row["status"] == "finished" and row["test"])

    def values(self, metric: str, split: str = "test") -> list[float]:
        """Return a metric of each finished seed that has figures on the split."""
        return [row[split][metric] for row in self.finished if row[split] and metric in row[split]]

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
    """Return the results by configuration, in the order of their first ones: only seeds may differ in a line."""
    hashes = {_base(row): row["seedless_hash"] for row in rows if row.get("seedless_hash")}
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        # results of earlier versions have no such hash; the runs of an entry of a list have one name
        configuration = row.get("seedless_hash") or hashes.get(_base(row), _base(row))
        # runs whose folder was never made have no fingerprint, and stand for themselves
        key = (row["data"], row.get("data_fingerprint"), _label(row), row.get("rank"), configuration)
        group = groups.setdefault(key, [])
        group[:] = [other for other in group if other["seed"] != row["seed"]] + [row]  # a seed counts once
    alike = Counter((found[0]["data"], found[0]["model"], _label(found[0])) for found in groups.values())
    return [_line(found, alike) for found in groups.values()]


def _line(rows: list[Row], alike: Counter[tuple[str, str, str]]) -> Line:
    data, label = rows[0]["data"], _label(rows[0])
    runs = _base(rows[0]) if alike[data, rows[0]["model"], label] > 1 else ""
    return Line(data, label, runs, _is_plain(rows[0]), tuple(rows))


def _base(row: Row) -> str:
    """Return the name of a run without its seed."""
    return str(row["name"]).removesuffix(f"-{row['seed']}")


def differences(line: Line) -> str:
    """Return what a reader must know to compare a line with a printed one, from its rows and the printed source."""
    named = [f"runs `{line.runs}`"] if line.runs else []
    rows = line.finished
    if not rows:
        row = line.rows[0]
        ranked = _ranked_before(line.rows)
        return "; ".join([*named, f"{row['status']} after {row['epochs']} epochs, test not ranked", *ranked])
    row, left = rows[0], len(line.rows) - len(rows)
    size = row.get("ensemble_size", 1)
    ranks = f"{size} models of rank {row['rank']}" if size > 1 else f"rank {row['rank']}"
    rank = "" if row["model"] == "rules" else f"{ranks}, "  # rules have no embeddings
    rising = [other["last_gain"] or 0.0 for other in rows if other["converged"] is False]
    stopped = [other for other in rows if other["epochs"] < other.get("planned_epochs", 0)]
    facts = {
        f"{rank}{span([other['epochs'] for other in rows])} epochs": True,
        f"still rising (+{max(rising, default=0.0):.3f} in its last quarter)": bool(rising),
        "too few evaluations to tell whether it has converged": any(other["converged"] is None for other in rows),
        **dict.fromkeys(_ranked_before(rows), True),
        f"{len(rows)} seeds": len(rows) > 1,
        f"{left} more not finished": left > 0,
        _stop(stopped): bool(stopped),
        f"filter `{row['filter']}`": row["filter"] != "exact"
        or row.get("boundary_relations", "unknown" if line.data == "wikidata12k" else None) is not None,
        "starts and ends under relations of their own": row.get("boundary_relations") == "separate",
        "no rules guide it": row["model"] == "lcge" and row.get("guided") is False,
        "trained in bfloat16": row.get("precision") == "bfloat16",
        f"softmax over {row.get('candidates')} entities and the answers of the step": bool(row.get("candidates")),
        "re-ranker fitted on valid": "valid" in (row["reranker"] or ""),
    }
    remark = published().protocol.get(line.data, {}).get(line.model, "") if line.plain else ""
    return "; ".join([*named, *(text for text, holds in facts.items() if holds), *([remark] if remark else [])])


def _stop(rows: list[Row]) -> str:
    """Return how runs that were out of patience have stopped: a few evaluations say less than many."""
    curves = {row["name"]: [Point(*point) for point in row["curve"]] for row in rows if row["curve"]}
    if not curves:
        return "stopped as valid had not become better"
    fewest = min(map(evaluations_since_best, curves.values()))
    converged = [curves[row["name"]] for row in rows if row["curve"] and row["converged"]]  # others are still rising
    gains = [last_gain(curve) or 0.0 for curve in converged if is_flat(curve) is False]
    rise = f", after a rise of {max(gains):.3f} in its last quarter" if gains else ""
    return f"stopped as valid had not become better in {fewest} evaluation{'s' if fewest > 1 else ''}{rise}"


def _ranked_before(rows: Sequence[Row]) -> list[str]:
    """Return how else test was ranked under the names of these results."""
    shorter = rows[0].get("tested_before") or []
    # shorter runs that it has continued are named by their epochs
    earlier = max(len(row.get("earlier", [])) - len(row.get("tested_before") or []) for row in rows)
    more = f"ranked on test in {earlier} earlier configuration{'s' if earlier > 1 else ''} too"
    after = f"ranked on test after {' and '.join(map(str, shorter))} epochs too"
    return [text for text, holds in ((after, bool(shorter)), (more, earlier > 0)) if holds]


def span(values: list[int]) -> str:
    """Return a number, or the least and the greatest of several."""
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)}–{max(values)}"


def _label(row: Row) -> str:
    beside = [words for name, words in (("evidence", "evidence"), ("reranker", "re-ranker")) if row.get(name)]
    fitted = f" ({row['reranker']})" if row.get("reranker") else ""
    name = row["variant"] or published().name(row["model"])
    name += f" × {row['ensemble_size']}" if row.get("ensemble_size", 1) > 1 else ""
    return " + ".join([name, *beside]) + fitted


def _is_plain(row: Row) -> bool:
    return not row.get("evidence") and not row.get("reranker") and row.get("ensemble_size", 1) == 1
