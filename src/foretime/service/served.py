"""A run that is served. All use of the library's models is here: answers, explanations, rules, the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic_core import to_json

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.inference.explainer import Explainer
from foretime.inference.predictor import Answer, Known, Predictor, Question
from foretime.rules.grounding import EventIndex
from foretime.rules.mining import facts_of
from foretime.rules.rule import RuleTable
from foretime.runs.folder import RunFolder
from foretime.runs.reranking import fits_on_valid
from foretime.service.history import History
from foretime.service.models import FactOut
from foretime.service.renames import renamed


@dataclass(frozen=True)
class ServedRun:
    """A loaded run: everything that questions about it need."""

    name: str
    config: Config
    predictor: Predictor
    explainer: Explainer
    history: History
    rules: RuleTable | None
    report: dict[str, Any] | None
    trace: list[dict[str, Any]]
    loaded: str
    """When it was loaded: a later moment means that it was loaded again, even under the same name."""

    @classmethod
    def load(cls, name: str, path: Path) -> ServedRun:
        """Return the run in a folder."""
        folder = RunFolder.open(path)
        predictor = Predictor.open(folder)
        report = renamed(folder.report()) if folder.report_file.exists() else None
        trace = folder.trace()
        to_json([report, trace])  # what JSON cannot hold makes a run that cannot be loaded, not an error per request
        return cls(
            name, folder.config(), predictor, Explainer(predictor), History(predictor.graph),
            folder.rules(predictor.graph), report, trace, datetime.now(UTC).isoformat(timespec="microseconds"),
        )  # fmt: skip

    @property
    def graph(self) -> Graph:
        """The graph of the run."""
        return self.predictor.graph

    @property
    def has_evidence(self) -> bool:
        """Whether its answers can be explained by rules."""
        return self.explainer.note is None

    @property
    def has_reranker(self) -> bool:
        """Whether a re-ranker orders its best answers."""
        return self.predictor.scorer.stages is not None

    @property
    def valid_fitted(self) -> bool:
        """Whether its re-ranker was fitted on valid."""
        return fits_on_valid(self.config.reranker)

    @cached_property
    def events(self) -> EventIndex:
        """The events that the rules were mined from, indexed when groundings are first asked for."""
        return EventIndex(facts_of(self.graph, self.config.rules), self.graph)

    @cached_property
    def example(self) -> FactOut | None:
        """A fact for a first try: the middle one by time of the last split that has any."""
        rows = np.flatnonzero(self.history.split == self.history.split.max(initial=0))
        return FactOut(**self.history.labels(int(rows[len(rows) // 2]))) if len(rows) else None

    def complete(self, questions: Sequence[Question], top: int, already_known: Known) -> list[list[Answer]]:
        """Return the best answers to each question."""
        return self.predictor.complete_many(questions, top, already_known)

    def explain(self, top: int, already_known: Known, **asked: Any) -> dict[str, Any]:
        """Return the explanation of an answer as plain values, with the first `top` reasons."""
        found: dict[str, Any] = renamed(self.explainer.explain(top=top, known=already_known, **asked).to_dict(top))
        return found

    def warm_ups(self) -> Iterator[Callable[[], object]]:
        """Yield jobs that ask for each slot of a fact, so that what is compiled or indexed at first use is there."""
        if self.example is None:
            return
        slots = self.example.model_dump(exclude_none=True)
        for left_out in ({"subject"}, {"predicate"}, {"object"}, {"time", "start", "end"}):
            question = Question(**{name: slots[name] for name in slots.keys() - left_out})
            yield partial(self.complete, [question], 1, "mark")
        yield partial(self.explain, 1, "mark", **slots)
