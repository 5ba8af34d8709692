"""Makes forecasts for a run: its history, and its small model, fitted once and kept in the run folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from foretime.data.graph import Graph
from foretime.errors import QuestionError
from foretime.files import read_json, sha256_of, write_json
from foretime.inference.agenda.fitting import fit_agenda
from foretime.inference.agenda.history import EventHistory
from foretime.inference.agenda.model import AgendaModel
from foretime.inference.agenda.outlook import Limits, Outlook, outlook
from foretime.inference.answers import Question, Time
from foretime.inference.evidence_source import EvidenceSource
from foretime.inference.forecast import Forecast, ForecastEvent
from foretime.inference.predictor import Predictor
from foretime.reranker.trees import Reranker
from foretime.runs.folder import RunFolder

FILE = "agenda.json"
MOST_STEPS = 366
NO_FORECASTS = (
    "this run may look at what comes after the time asked about, so it cannot say what comes next; "
    "train one that forecasts: foretime train GRAPH --forecast, or --past-only"
)


class ForecastMaker:
    """What makes the forecasts of a run, over one state of its evidence."""

    def __init__(self, source: EvidenceSource, model: AgendaModel) -> None:
        self.source, self.model = source, model
        self.history = EventHistory(source.predictor.graph, source.facts)

    @property
    def graph(self) -> Graph:
        """The graph, with what updates have added."""
        return self.source.predictor.graph

    @property
    def next_step(self) -> int:
        """The step after the last event."""
        return int(self.history.time.max(initial=-1)) + 1

    def outlook(self, start: int, steps: int, limits: Limits) -> Outlook:
        """Return every event that may come, as ids."""
        return outlook(self.source.predictor, self.history, self.model, start, steps, limits)

    def forecast(
        self, slots: dict[str, str | None], start: Time | None, steps: int, top: int, as_of: Callable[[str], Predictor]
    ) -> Forecast:
        """Return the `top` most likely events of a window; `as_of` gives the run as it was before a day."""
        first = self._first_step(start, steps, top)
        graph, label = self.graph, self.graph.timeline.label
        names = {"subject": graph.entities, "predicate": graph.predicates, "object": graph.entities}
        asked = self.source.predictor.understanding.read(Question(**slots))
        given = {slot: name for slot in names if (name := getattr(asked.question, slot)) is not None}
        limits = Limits(**{slot: names[slot].id(name) for slot, name in given.items()})
        found = self.outlook(first, steps, limits)
        begin, seen = label(first), self.history.recency(found.triples, first)

        @cache
        def explaining() -> Predictor:
            return as_of(begin) if first < self.next_step else self.source.predictor

        def event(row: int) -> ForecastEvent:
            subject, predicate, object_ = (
                names[slot].name(int(column[row])) for slot, column in zip(names, found.triples, strict=True)
            )
            time, probability = label(first + int(np.argmax(found.by_step[row]))), float(found.probability[row])
            new = bool(seen[row] < 0)
            return ForecastEvent(row + 1, subject, predicate, object_, probability, time, new, explaining)

        events = tuple(event(row) for row in range(min(top, len(found.probability))))
        known_until = label(int(self.history.time[self.history.time < first].max()))
        notes = filter(None, [asked.note, self.source.predictor.note_of_gap(first)])
        return Forecast(begin, label(first + steps - 1), steps, known_until, events, "; ".join(notes) or None)

    def _first_step(self, start: Time | None, steps: int, top: int) -> int:
        """Return the step at which the window begins; raise `QuestionError` if there is no such window."""
        timeline = self.graph.timeline
        if not timeline.regular:
            raise QuestionError(
                "the timeline is irregular or made of bins: it does not say which steps are to come; "
                "train on a regular one, without --irregular and without bins"
            )
        if not 1 <= steps <= MOST_STEPS or top < 1:
            raise QuestionError(f"steps is {steps} and top {top}; ask for 1 to {MOST_STEPS} steps and at least 1 event")
        first = self.next_step if start is None else timeline.step(str(start), beyond=True)
        if not (self.history.time < first).any():
            raise QuestionError(f"nothing has happened before {start}; begin after {timeline.label(0)}")
        return first


def agenda_model(folder: RunFolder, trained: Predictor, splits: tuple[str, ...]) -> AgendaModel:
    """Return the model of the agenda that a run folder has, or fit it and keep it there.

    It is fitted when it is first asked for, not at the end of a training: most runs never need it, and those that were
    trained before can be asked too. One that was fitted for other weights is fitted anew.
    """
    if not trained.forecasts:
        raise QuestionError(NO_FORECASTS)
    file, report = folder.path / FILE, folder.report_file
    of = sha256_of(report) if report.exists() else ""
    if found := _kept(file, of):
        return found
    model = fit_agenda(before_valid(folder, trained), trained.graph, splits)
    if of:
        with suppress(OSError):  # a folder that may not be written: it is fitted again the next time
            write_json(file, model.to_dict() | {"report": of, "sha256": _digest(model)})
    return model


def before_valid(folder: RunFolder, trained: Predictor) -> Predictor:
    """Return a run as it was before its re-ranker learned from valid; the run itself if that has not.

    What it says of days that it has learned from is too sure, and an agenda that was fitted on them would believe it.
    """
    scorer, file = trained.scorer, folder.reranker_without_valid
    if scorer.reranked is None or not file.exists():
        return trained
    reranker = Reranker.load(file, scorer.reranked.extractor.graph_feature_names)
    return trained.on(replace(scorer, reranked=replace(scorer.reranked, reranker=reranker)), trained.graph)


def _kept(file: Path, of: str) -> AgendaModel | None:
    """Return the model in a file; none if it is missing, damaged, or of other weights."""
    try:
        values = read_json(file)
        found = AgendaModel.from_dict(values)
        return found if of and (values["report"], values["sha256"]) == (of, _digest(found)) else None
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None


def _digest(model: AgendaModel) -> str:
    """Return the sha256 of the weights: the manifest of the run, which is older, cannot list the file."""
    return hashlib.sha256(json.dumps(model.to_dict()).encode()).hexdigest()
