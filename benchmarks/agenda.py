"""How good the agenda of a run is on test, day by day, against rankings by recency and by counts.

python -m benchmarks.agenda RUN --every 1 --subjects 3 --name icews14-a --page

Each start sees every event before it (single-step). Precision and recall at k of the events of the next step and of the
next seven, of the whole graph and of the subjects with the most events in train; and how far the probabilities can be
believed.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.marks import DOCS, fill
from foretime.data.facts import Facts
from foretime.errors import ConfigError
from foretime.evaluation.metrics import Floats
from foretime.evaluation.reliability import expected_calibration_error
from foretime.evaluation.slots import Slot
from foretime.files import write_json
from foretime.inference.agenda.history import MONTH, SEASON, WEEK, Triples
from foretime.inference.agenda.maker import ForecastMaker
from foretime.inference.agenda.outlook import Limits, candidates
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run, open_run
from foretime.reranker.scorer import Scorer
from foretime.runs.machine import machine

RESULTS = Path(__file__).parent / "results"
WINDOWS = (1, 7)
TOPS = (10, 20, 100)
EDGES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Borders of the bins of probabilities: most events are very unlikely."""


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="the folder of a run that forecasts")
    parser.add_argument("--every", type=int, default=1, help="take every so many days of test as a start")
    parser.add_argument("--subjects", type=int, default=10, help="how many subjects are measured by themselves")
    parser.add_argument("--name", help="of the results file; the name of the graph by default")
    parser.add_argument("--page", action="store_true", help="write the tables into docs/forecasting.md")
    arguments = parser.parse_args()
    run = open_run(arguments.run)
    result = measure(run, arguments.every, arguments.subjects)
    file = RESULTS / f"agenda_{arguments.name or run.graph.name}.json"
    write_json(file, result)
    if arguments.page:
        fill(DOCS / "forecasting.md", {"agenda": page_lines(result)})
    print(f"written to {file}")


def measure(run: Run, every: int, subjects: int) -> dict[str, Any]:
    """Return all figures of a run."""
    if "test" not in run.config.evidence.splits:
        raise ConfigError("single-step needs test among evidence.splits; train with --forecast")
    began = time.perf_counter()
    maker, steps = run._forecasts, run.facts("test").known_ends()[0]
    maker.source.predictor = remembering(maker.source.predictor)
    fitted = round(time.perf_counter() - began, 1)
    chosen = np.argsort(-np.bincount(run.graph.train.subject), kind="stable")[:subjects]
    result: dict[str, Any] = {
        "data": run.graph.name, "fingerprint": run.graph.fingerprint(), "every": every, "fitted_on": maker.model.days,
        "opened_and_fitted_seconds": fitted, "machine": machine(),
        "subjects": [run.graph.entities.name(int(one)) for one in chosen],
    }  # fmt: skip
    scopes = {"whole graph": [Limits()], "subjects": [Limits(subject=int(one)) for one in chosen]}
    for window in WINDOWS:
        starts = range(int(steps.min()), int(steps.max()) - window + 2, every)
        for scope, limits in scopes.items():
            found = measure_window(maker, starts, window, limits)
            result.setdefault(f"next {window}", {"starts": len(starts)})[scope] = found
            print(window, scope, found["rankings"], found["reliability"]["ece"], flush=True)
    return result | {"seconds": round(time.perf_counter() - began, 1)}


def page_lines(found: dict[str, Any]) -> list[str]:
    """Return the tables of docs/forecasting.md: every ranking, and how far high probabilities can be believed."""
    windows = {"next 1": "next day", "next 7": "next week"}
    columns = [(window, scope) for scope in ("whole graph", "subjects") for window in windows]
    count = len(found["subjects"])
    heads = [windows[window] + (f", {count} subjects" if scope == "subjects" else "") for window, scope in columns]
    lines = ["| precision at 10 / 20 / 100 | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for name in found["next 1"]["whole graph"]["rankings"]:
        own = [found[window][scope]["rankings"][name] for window, scope in columns]
        cells = [" / ".join(f"{one[f'precision@{top}']:.2f}" for top in TOPS) for one in own]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "| said | " + " | ".join(f"{head}: events | said | came" for head in heads[:2]) + " |"]
    lines.append("| --- |" + " ---: |" * 6)
    tables = [{row["from"]: row for row in found[window]["whole graph"]["reliability"]["table"]} for window in windows]
    for edge, end in pairwise(EDGES):
        rows = [table.get(edge) for table in tables]
        cells = [f"{row['events']:,} | {row['said']:.1%} | {row['came']:.1%}" if row else "– | – | –" for row in rows]
        lines.append(f"| {edge:.0%} to {end:.0%} | " + " | ".join(cells) + " |")
    return lines


def measure_window(maker: ForecastMaker, starts: range, window: int, limits: list[Limits]) -> dict[str, Any]:
    """Return precision and recall of every ranking, and the reliability of the probabilities, over all starts."""
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    said, true = [], []
    for start, limit in ((start, limit) for start in starts for limit in limits):
        found = maker.outlook(start, window, limit)
        truth = true_keys(maker, start, window, limit)
        came = np.isin(maker.history.key("spo", found.triples), truth)
        said.append(found.probability)
        true.append(came)
        if len(truth) == 0:
            continue
        add_figures(figures["agenda"], came, len(truth))
        known = candidates(maker.history, start, limit)
        happened = np.isin(maker.history.key("spo", known), truth)
        for name, score in baselines(maker, known, start).items():
            add_figures(figures[name], happened[np.argsort(-score, kind="stable")], len(truth))
    means = {name: {key: round(float(np.mean(one)), 4) for key, one in own.items()} for name, own in figures.items()}
    return {"rankings": means, "reliability": reliability(np.concatenate(said), np.concatenate(true))}


@dataclass(frozen=True)
class RememberingScorer(Scorer):
    """Scores that are kept: several forecasts with one start ask for the same subjects and predicates."""

    kept: dict[tuple[int, int, int], Tensor] = field(default_factory=dict, compare=False, repr=False)

    def score_slot(self, slot: Slot, facts: Facts) -> Tensor:
        """Return the score of every object of each fact, (facts, entities)."""
        asked = list(zip(facts.subject.tolist(), facts.predicate.tolist(), facts.start.tolist(), strict=True))
        new = [row for row, key in enumerate(asked) if key not in self.kept]
        if new:
            scores = super().score_slot(slot, facts.take(np.array(new)))
            self.kept.update({asked[row]: one.clone() for row, one in zip(new, scores, strict=True)})
        return torch.stack([self.kept[key] for key in asked])


def remembering(predictor: Predictor) -> Predictor:
    """Return a predictor that keeps what it has scored; it must be asked for objects alone."""
    scorer = predictor.scorer
    return predictor.on(RememberingScorer(scorer.model, scorer.graph, scorer.reranked, scorer.slots), predictor.graph)


def true_keys(maker: ForecastMaker, start: int, window: int, limit: Limits) -> Any:
    """Return the keys of the events that came in the window, new ones too."""
    rows = (maker.history.time >= start) & (maker.history.time < start + window)
    return np.unique(maker.history.key("spo", limit.allow(maker.history.events.take(rows))))


def baselines(maker: ForecastMaker, known: Triples, start: int) -> dict[str, Floats]:
    """Return the scores that the agenda is held against; the season breaks ties of recency."""
    history = maker.history
    season = history.rate(known, start, SEASON)
    return {
        "recency": history.recency(known, start) + season / (season.max(initial=0.0) + 1),
        "frequency": history.frequency(known, start).astype(float),
        "fading, a week": history.rate(known, start, WEEK),
        "fading, a month": history.rate(known, start, MONTH),
        "fading, a season": season,
    }


def add_figures(figures: dict[str, list[float]], came: Any, wanted: int) -> None:
    """Add precision and recall at each k of one ranking."""
    for top in TOPS:
        right = int(came[:top].sum())
        figures[f"precision@{top}"].append(right / top)
        figures[f"recall@{top}"].append(right / wanted)


def reliability(said: Floats, came: Any) -> dict[str, Any]:
    """Return ECE and Brier score of all candidates, ECE of those above 5 %, and the table of reliability."""
    place = np.clip(np.searchsorted(EDGES, said, side="right") - 1, 0, len(EDGES) - 2)
    rows = [
        {"from": EDGES[i], "events": int(own.sum()), "said": float(said[own].mean()), "came": float(came[own].mean())}
        for i in range(len(EDGES) - 1)
        if (own := place == i).any()
    ]
    likely = said >= 0.05
    return {
        "events": len(said), "ece": expected_calibration_error(said, came), "brier": float(np.mean((said - came) ** 2)),
        "brier_of_the_mean": float(came.mean() * (1 - came.mean())), "likely_events": int(likely.sum()),
        "ece_of_likely": expected_calibration_error(said[likely], came[likely]), "table": rows,
    }  # fmt: skip


if __name__ == "__main__":
    main()
