"""A run that is served: that of the library, with its facts indexed and what the list of runs says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from foretime.data.attributes import TYPE
from foretime.evaluation.metrics import METRICS
from foretime.inference.answers import Time
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run
from foretime.inference.views import By, RunView
from foretime.reranker.folds import fits_on_valid
from foretime.rules.grounding import GroundingIndex
from foretime.rules.mining import facts_of
from foretime.service.folders import REPORT
from foretime.service.history import History
from foretime.service.models import SPLITS, FactOut, ResponseBody, Split
from foretime.service.settings import VIEWS_KEPT

TYPES_LISTED = 100
HIDDEN = {"data": {"path"}, "rules": {"file"}}
"""Settings that name files on the machine that trained."""


class RunSummaryOut(ResponseBody):
    """A run at a glance."""

    name: str
    data: str
    model: str
    entities: int
    predicates: int
    facts: dict[Split, int]
    first: str
    last: str
    granularity: str
    steps: int
    rules: int
    evidence: bool = Field(description="Whether answers can be explained by rules.")
    reranker: bool = Field(description="Whether a re-ranker orders the best answers of the base model.")
    forecasts: bool = Field(description="Whether times after the last one can be asked about.")
    intervals: bool = Field(description="Whether facts have a start and an end.")
    types: list[str] = Field(description="The types of its entities, the most frequent first; empty if they have none.")
    added_events: int = Field(description="Events that updates have added since the training.")
    added_until: str | None = Field(description="The last time of these events.")
    valid_mrr: float | None
    test_mrr: float | None
    valid_fitted: bool = Field(
        description="Whether the re-ranker was fitted on valid, so that valid_mrr is not measured on unseen facts."
    )
    loaded: str = Field(description="When the run was loaded; it changes whenever the run is loaded again.")


class RunOut(RunSummaryOut):
    """A run with its settings, its report and its training curve."""

    config: dict[str, dict[str, Any]]
    report: dict[str, Any] | None
    metrics: list[dict[str, Any]] = Field(description="The metrics of a report, in the order in which they are shown.")
    trace: list[dict[str, Any]]
    example: FactOut | None


class ServedRun(Run):
    """A run that is loaded whole, because its folder may change while it is served."""

    def __init__(self, name: str, path: Path, device: str | None = None) -> None:
        super().__init__(path, device)
        self.name = name
        self._views: dict[tuple[str, By], tuple[Predictor, RunView]] = {}
        report = self.report if (self.path / REPORT).exists() else None
        index = History(self.predictor.graph)
        overview = self._overview(report or {})
        self.details = RunOut(
            **dict(overview),
            config=self.config.model_dump(exclude_none=True, exclude=HIDDEN),
            report=report,
            metrics=[metric.to_dict() for metric in METRICS.values()],
            trace=list(self.history),
            example=_example(index),
        )
        self.details.model_dump_json()  # a report that cannot be shown is a run that cannot be loaded
        self.index, self.overview = index, overview

    def take_updates(self) -> None:
        """Let in what updates have added, or taken back, since the run was loaded."""
        self.refresh()
        if self.index.graph is self.predictor.graph:
            return
        index, overview = History(self.predictor.graph), self._overview(self.details.report or {})
        self.details = self.details.model_copy(update={**dict(overview), "example": _example(index)})
        self.index, self.overview = index, overview

    def as_of(self, day: Time, *, by: By = "happened") -> RunView:
        """Return the run as of a day, kept for the next question."""
        key, predictor = (str(day), by), self.predictor
        found = self._views.get(key)
        if found is None or found[0] is not predictor:
            view = super().as_of(day, by=by)
            kept = [one for one in self._views.items() if one[1][0] is predictor and one[0] != key]
            self._views = dict([*kept[1 - VIEWS_KEPT :], (key, (predictor, view))])
            return view
        return found[1]

    def _overview(self, report: dict[str, Any]) -> RunSummaryOut:
        graph = self.predictor.graph
        timeline, updates = graph.timeline, self.updates
        valid_mrr, test_mrr = (report.get(split, {}).get("all", {}).get("mrr") for split in ("valid", "test"))
        return RunSummaryOut(
            name=self.name,
            data=graph.name,
            model=self.config.model.name,
            entities=len(graph.entities),
            predicates=len(graph.predicates),
            facts={split: len(graph.facts(split)) for split in SPLITS[: len(graph.splits)]},
            first=timeline.label(0),
            last=timeline.label(len(timeline) - 1),
            granularity=timeline.granularity,
            steps=len(timeline),
            rules=0 if self.rules is None else len(self.rules),
            evidence=self.explanation_note is None,
            reranker=self.predictor.scorer.reranked is not None,
            forecasts=self.predictor.forecasts,
            intervals=graph.has_intervals,
            types=list(graph.attributes.counts(TYPE, graph.entities))[:TYPES_LISTED],
            added_events=sum(update.events for update in updates),
            added_until=self.added_until,
            valid_mrr=valid_mrr,
            test_mrr=test_mrr,
            valid_fitted=fits_on_valid(self.config.reranker),
            loaded=datetime.now(UTC).isoformat(timespec="microseconds"),
        )

    @cached_property
    def events(self) -> GroundingIndex:
        """The events that the rules were mined from, indexed when groundings are first asked for."""
        return GroundingIndex(facts_of(self.graph, self.config.rules), self.graph)

    def warm_ups(self) -> Iterator[Callable[[], object]]:
        """Yield jobs that ask for each slot of a fact, so that what is compiled or indexed at first use is there."""
        if self.details.example is None:
            return
        fact = self.details.example.model_dump()
        for left_out in (("subject",), ("predicate",), ("object",), ("time", "start", "end")):
            yield partial(self.predict, **fact | dict.fromkeys(left_out), top=1)
        yield partial(self.explain, **fact, top=1)


def _example(index: History) -> FactOut | None:
    """Return a fact for a first try: the middle one by time of the last split that has any."""
    rows = np.flatnonzero(index.split == index.split.max(initial=0))
    return FactOut(**index.labels(int(rows[len(rows) // 2]))) if len(rows) else None
