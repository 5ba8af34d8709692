"""What was tried for the agenda, by the end of valid: which counts, how strong a prior, which correction of windows.

    python -m benchmarks.agenda_choices RUN --name icews14-until-october

Valid is cut into thirds: the first fits the weights, the second the windows, and on the third each choice forecasts every
day and every week. Test is not looked at, and neither is an update.
Writes benchmarks/results/agenda_choices_NAME.json after each choice.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.agenda import reliability, remembering
from benchmarks.marks import DOCS, fill
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph
from foretime.files import write_json
from foretime.inference.agenda.counts import Floats
from foretime.inference.agenda.fitting import AgendaForm, FittingSteps, fit_on
from foretime.inference.agenda.history import COLUMNS, EventHistory, Triples
from foretime.inference.agenda.maker import before_valid
from foretime.inference.agenda.model import NONE, AgendaModel
from foretime.inference.agenda.outlook import Limits, outlook
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run, open_run
from foretime.runs.machine import machine

RESULTS = Path(__file__).parent / "results"
OFTEN = frozenset(name for name in COLUMNS if name.endswith(", often"))
BENT = frozenset({NONE})
CHOICES = {
    "one scale of counts": AgendaForm(1.0, without=OFTEN | BENT),
    "two scales": AgendaForm(1.0, without=BENT),
    "one scale, beta correction": AgendaForm(1.0, without=OFTEN),
    "two scales, beta correction": AgendaForm(1.0, without=frozenset()),
    "two scales, beta correction, prior 0.3": AgendaForm(without=frozenset(), deviation=0.3),
    "two scales, beta correction, prior 0.1": AgendaForm(without=frozenset(), deviation=0.1),
    "two scales, beta correction, window prior 2": AgendaForm(1.0, without=frozenset(), window_deviation=2.0),
    "two scales, no correction of windows": AgendaForm(1.0, window_deviation=1e-4, without=BENT),
}
WINDOWS, TOPS, LIKELY = (1, 7), (10, 20, 100), 0.5
UNLISTED = 1e-6
"""The probability of an event that came and was not on the list, for the logarithmic loss."""


class RememberingHistory(EventHistory):
    """A history that keeps its features: every choice looks at the same events."""

    def __init__(self, graph: Graph, facts: Facts) -> None:
        super().__init__(graph, facts)
        self._kept: dict[int, Floats] = {}

    def features(self, triples: Triples, start: int) -> Floats:
        """Return the features of events as of a step, (events, columns)."""
        return self._remember(
            (start, *map(bytes, triples)), lambda: super(RememberingHistory, self).features(triples, start)
        )

    def step_features(self, triples: Triples, start: int, step: int) -> Floats:
        """Return the features of events at a step, (events, columns)."""
        key = (start, step, *map(bytes, triples))
        return self._remember(key, lambda: super(RememberingHistory, self).step_features(triples, start, step))

    def _remember(self, key: tuple[object, ...], make: Callable[[], Floats]) -> Floats:
        digest = hash(key)  # the events themselves would fill the memory
        if digest not in self._kept:
            self._kept[digest] = make()
        return self._kept[digest]


def main() -> None:
    """Measure every choice, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="the folder of a run that forecasts")
    parser.add_argument("--name", required=True, help="of the results file")
    parser.add_argument("--page", action="store_true", help="write the table into docs/forecasting.md")
    arguments = parser.parse_args()
    file = RESULTS / f"agenda_choices_{arguments.name}.json"
    found = measure(open_run(arguments.run), file)
    if arguments.page:
        fill(DOCS / "forecasting.md", {"agenda choices": table(found)})
    print(f"written to {file}")


def measure(run: Run, file: Path) -> dict[str, Any]:
    """Return the figures of every choice on the last third of valid; the file has those that are done."""
    graph, predictor = run.graph, remembering(before_valid(run._folder, run._living.trained))
    history = RememberingHistory(graph, concatenate([graph.train, graph.valid]))
    first, second, last = np.array_split(np.unique(graph.valid.known_ends()[0]), 3)
    days = {
        name: [graph.timeline.label(int(part[end])) for end in (0, -1)]
        for name, part in (("fitted", np.append(first, second)), ("asked", last))
    }
    found: dict[str, Any] = {"data": graph.name, "fingerprint": graph.fingerprint(), **days, "machine": machine()}
    for name, form in CHOICES.items():
        model = fit_on(predictor, history, FittingSteps(first, second), form)
        own = {f"next {window}": measure_window(predictor, history, model, last, window) for window in WINDOWS}
        found.setdefault("choices", {})[name] = own
        write_json(file, found)
        print(name, json.dumps(own), flush=True)
    return found


def measure_window(
    predictor: Predictor, history: EventHistory, model: AgendaModel, days: Any, window: int
) -> dict[str, Any]:
    """Return precision, losses of a start, and what became of the likely events."""
    starts = [int(day) for day in days if day + window - 1 <= days[-1]]
    said, true, precision, losses = [], [], [], []
    for start in starts:
        found = outlook(predictor, history, model, start, window, Limits())
        truth = history.between(start, start + window)
        came = np.isin(history.key("spo", found.triples), truth)
        chance = np.clip(found.probability, UNLISTED, 1 - UNLISTED)
        missed = len(truth) - int(came.sum())
        losses.append((
            float(-np.log(np.where(came, chance, 1 - chance)).sum() - missed * np.log(UNLISTED)),
            float(((found.probability - came) ** 2).sum() + missed),
        ))  # fmt: skip
        precision.append([came[:top].mean() for top in TOPS])
        said.append(found.probability)
        true.append(came)
    chances, outcomes = np.concatenate(said), np.concatenate(true)
    likely = chances >= LIKELY
    return {
        "starts": len(starts),
        "precision": dict(zip(map(str, TOPS), np.mean(precision, axis=0).round(4).tolist(), strict=True)),
        "log loss": round(float(np.mean([loss for loss, _ in losses])), 2),
        "squared errors": round(float(np.mean([error for _, error in losses])), 3),
        "ece of likely": round(reliability(chances, outcomes)["ece_of_likely"], 4),
        f"said {LIKELY:.0%} or more": {
            "events": int(likely.sum()), "said": round(float(chances[likely].mean()), 3) if likely.any() else None,
            "came": round(float(outcomes[likely].mean()), 3) if likely.any() else None,
        },
    }  # fmt: skip


def table(found: dict[str, Any]) -> list[str]:
    """Return the lines of the table in docs/forecasting.md."""
    head = f"said {LIKELY:.0%} or more"
    lines = [
        f"| {found['asked'][0]} to {found['asked'][1]} | window | @10 | @20 | @100 | log loss | squared errors | "
        f"ECE from 5 % | {head}: events | said | came |",
        "| --- | --- |" + " ---: |" * 9,
    ]
    for name, own in found["choices"].items():
        for window, one in own.items():
            cells = [f"{value:.3f}" for value in one["precision"].values()]
            cells += [f"{one['log loss']:.1f}", f"{one['squared errors']:.2f}", f"{one['ece of likely']:.3f}"]
            said, came = (one[head][key] for key in ("said", "came"))
            cells += [str(one[head]["events"]), *("–" if rate is None else f"{rate:.1%}" for rate in (said, came))]
            lines.append(f"| {name} | {window} | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
