"""A run that is served. Only this module asks the library for answers and explanations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.evaluation.metrics import METRICS
from foretime.evaluation.slots import Slot
from foretime.inference.answers import AlreadyKnown, Question
from foretime.inference.explainer import Explainer
from foretime.inference.predictor import Predictor
from foretime.reranker.folds import fits_on_valid
from foretime.rules.grounding import GroundingIndex
from foretime.rules.mining import facts_of
from foretime.rules.table import Rules
from foretime.runs.folder import RunFolder
from foretime.service.history import History
from foretime.service.models import SPLITS, FactOut, GivenSlots, ResponseBody, Split, given_slots

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


@dataclass(frozen=True)
class ServedRun:
    """A loaded run: everything that questions about it need."""

    name: str
    config: Config
    predictor: Predictor
    explainer: Explainer
    history: History
    rules: Rules | None
    report: dict[str, Any] | None
    trace: list[dict[str, Any]]
    loaded: str
    """When it was loaded: a later moment means that it was loaded again, even under the same name."""

    @classmethod
    def load(cls, name: str, path: Path) -> ServedRun:
        """Return the run in a folder."""
        folder = RunFolder.open(path)
        predictor = Predictor.open(folder)
        report = folder.report() if folder.report_file.exists() else None
        found = cls(
            name, folder.config(), predictor, Explainer(predictor), History(predictor.graph),
            folder.rules(predictor.graph), report, folder.trace(), datetime.now(UTC).isoformat(timespec="microseconds"),
        )  # fmt: skip
        found.details.model_dump_json()  # a report that cannot be shown is a run that cannot be loaded
        return found

    @property
    def graph(self) -> Graph:
        """The graph of the run."""
        return self.predictor.graph

    @cached_property
    def summary(self) -> RunSummaryOut:
        """The run at a glance."""
        graph, timeline, report = self.graph, self.graph.timeline, self.report or {}
        valid_mrr, test_mrr = (report.get(split, {}).get("all", {}).get("mrr") for split in ("valid", "test"))
        return RunSummaryOut(
            name=self.name,
            data=graph.name,
            model=self.config.model.name,
            entities=len(graph.entities),
            predicates=len(graph.predicates),
            facts={split: len(graph.facts(split)) for split in SPLITS},
            first=timeline.label(0),
            last=timeline.label(len(timeline) - 1),
            granularity=timeline.granularity,
            steps=len(timeline),
            rules=0 if self.rules is None else len(self.rules),
            evidence=self.explainer.note is None,
            reranker=self.predictor.scorer.reranked is not None,
            forecasts=self.predictor.forecasts,
            intervals=graph.has_intervals,
            valid_mrr=valid_mrr,
            test_mrr=test_mrr,
            valid_fitted=fits_on_valid(self.config.reranker),
            loaded=self.loaded,
        )

    @cached_property
    def details(self) -> RunOut:
        """The run with its settings, its report, its training curve and an example."""
        settings = self.config.model_dump(exclude_none=True, exclude=HIDDEN)
        metrics = [metric.to_dict() for metric in METRICS.values()]
        own = dict(self.summary, config=settings, report=self.report, metrics=metrics, trace=self.trace)
        return RunOut(**own, example=self.example)

    @cached_property
    def events(self) -> GroundingIndex:
        """The events that the rules were mined from, indexed when groundings are first asked for."""
        return GroundingIndex(facts_of(self.graph, self.config.rules), self.graph)

    @cached_property
    def example(self) -> FactOut | None:
        """A fact for a first try: the middle one by time of the last split that has any."""
        rows = np.flatnonzero(self.history.split == self.history.split.max(initial=0))
        return FactOut(**self.history.labels(int(rows[len(rows) // 2]))) if len(rows) else None

    @property
    def uses_time(self) -> bool:
        """Whether the scores of its model depend on time."""
        return self.predictor.model.uses_time

    def check(self, slots: GivenSlots) -> None:
        """Raise `QuestionError` if a question cannot be answered."""
        self.predictor.check(Question(**slots))

    def check_time(self, time: str) -> None:
        """Raise `QuestionError` if a time cannot be asked about."""
        self.predictor.step(time)

    def complete(
        self, questions: Sequence[GivenSlots], top: int, already_known: AlreadyKnown
    ) -> list[list[dict[str, Any]]]:
        """Return the best answers to each question as plain values."""
        found = self.predictor.predict_many([Question(**slots) for slots in questions], top, already_known)
        return [[answer.to_dict() for answer in answers] for answers in found]

    def explain(self, top: int, already_known: AlreadyKnown, **asked: Any) -> dict[str, Any]:
        """Return the explanation of an answer as plain values, with the first `top` reasons."""
        return self.explainer.explain(top=top, already_known=already_known, **asked).to_dict(top)

    def warm_ups(self) -> Iterator[Callable[[], object]]:
        """Yield jobs that ask for each slot of a fact, so that what is compiled or indexed at first use is there."""
        if self.example is None:
            return
        slots = given_slots(self.example)
        for left_out in ({"subject"}, {"predicate"}, {"object"}, {"time", "start", "end"}):
            question: GivenSlots = {name: value for name, value in slots.items() if name not in left_out}
            yield partial(self.complete, [question], 1, "mark")
        yield partial(self.explain, 1, "mark", **slots)


def target(slots: GivenSlots) -> Slot:
    """Return the slot that a question leaves open; `QuestionError` if it is not exactly one."""
    return Question(**slots).target
