"""Explanations measured: the events that reasons name are hidden, or kept alone, and the question is ranked again.

Every rank comes from the scorer of the run, through all its stages, over other evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from foretime.data.facts import UNKNOWN, Facts, Ids
from foretime.data.graph import Graph
from foretime.devices import fetch
from foretime.evaluation.explanations import (
    KS,
    Chosen,
    ExplanationMeasures,
    MeasureKey,
    QuestionMeasures,
    discounted_gain,
    precision_at_first,
    reasons_needed,
    summarise_measures,
)
from foretime.evaluation.filters import AnswerIndex, FilterName
from foretime.evaluation.ranks import rank
from foretime.evaluation.slots import Slot, inverted
from foretime.inference.explanation.explanation import Explanation
from foretime.inference.explanation.reasons import ShownReason
from foretime.inference.named_events import EventLabels, EventRows, events_of, read_planted, supporting
from foretime.inference.predictor import Predictor
from foretime.reranker.other_evidence import EvidenceFilter
from foretime.reranker.scorer import Scorer

Progress = Callable[[int, int], None]
CONTRAST = 3
"""How many reasons are hidden to see whether answer and runner-up change places."""


class Asked(NamedTuple):
    """A question of a fact: which slot is open, and the question as it is scored, for its object; one row each."""

    row: int
    slot: Slot
    fact: Facts
    question: Facts


@dataclass(frozen=True)
class FirstAnswers:
    """The first answer to a question and the runner-up, by id, and the rank of the true answer."""

    first: int
    second: int
    rank: float


class ExplanationMeter:
    """Measures the explanations of a predictor on questions of facts."""

    def __init__(self, predictor: Predictor, evidence: EvidenceFilter, filter_name: FilterName, seed: int = 0) -> None:
        self.predictor, self.graph = predictor, predictor.graph
        self._evidence, self._generator = evidence, np.random.default_rng(seed)
        self._answers = AnswerIndex.of(self.graph, "valid-at" if filter_name == "points" else filter_name)
        self._rows = EventRows(evidence.facts, self.graph)

    def measure(self, asked: Asked) -> QuestionMeasures:
        """Return what can be measured of one question."""
        found = self._first_answers(asked)
        explanation = self._explain(asked, found.first)
        reasons = supporting(explanation.reasons)
        values = {MeasureKey("coverage"): float(bool(reasons))}
        if found.rank == 1:  # what the model gets wrong has no rank to lose
            explanation = explanation.against(self.graph.entities.name(found.second))
            values |= self._necessity(asked, reasons) | self._sufficiency(asked, reasons)
            values |= self._contrast(asked, explanation, found) | _size(explanation)
        return QuestionMeasures(asked.row, values)

    def measure_truth(self, asked: Asked, true: set[EventLabels]) -> QuestionMeasures:
        """Return how well the reasons of a true answer name the events that made its fact."""
        explanation = self._explain(asked, int(asked.question.object[0]))
        named = events_of(supporting(explanation.reasons))
        values = {MeasureKey("precision@1"): precision_at_first(named, true)}
        return QuestionMeasures(asked.row, values | {MeasureKey("ndcg@5"): discounted_gain(named, true)})

    def read_planted(self, path: Path) -> dict[EventLabels, set[EventLabels]]:
        """Return for each planted event those that made it, of groundings that the evidence has whole."""
        return read_planted(path, self._rows)

    @torch.inference_mode()
    def _first_answers(self, asked: Asked) -> FirstAnswers:
        scores = fetch(self.predictor.scorer.score(asked.question))[0].clone()
        _, others = self._answers.filtered(asked.question)
        scores[torch.from_numpy(others)] = -torch.inf
        first, second = scores.topk(2).indices.tolist()
        return FirstAnswers(first, second, self._rank(self.predictor.scorer, asked))

    def _rank(self, scorer: Scorer, asked: Asked) -> float:
        return float(rank(scorer.score, asked.question, self._answers).realistic[0])

    def _explain(self, asked: Asked, candidate: int) -> Explanation:
        names = dict(zip(("subject", "predicate", "object"), self._labels(asked.fact), strict=True))
        start, end = (int(column[0]) for column in (asked.fact.start, asked.fact.end))
        label = self.graph.timeline.label
        times = {"time": label(start)} if start == end else {}
        for name, step in (("start", start), ("end", end)):
            if start != end and step != UNKNOWN:
                times[name] = label(step)
        slots: dict[str, Any] = names | {asked.slot: self.graph.entities.name(candidate)} | times
        return self.predictor.explainer.explain(slot=asked.slot, **slots)

    def _labels(self, fact: Facts) -> tuple[str, str, str]:
        entity, predicate = self.graph.entities.name, self.graph.predicates.name
        return entity(int(fact.subject[0])), predicate(int(fact.predicate[0])), entity(int(fact.object[0]))

    def _necessity(self, asked: Asked, reasons: Sequence[ShownReason]) -> dict[MeasureKey, float]:
        values: dict[MeasureKey, float] = {}
        for k in KS:
            own = self._rows.find(events_of(reasons[:k]))
            for name, rows in self._chosen(asked, own, with_others=True).items():
                values[MeasureKey("hidden", k, name)] = len(rows)
                after = self._rank(self._evidence.without(rows), asked) if rows else 1.0
                values[MeasureKey("necessity_mrr", k, name)] = 1 - 1 / after
                values[MeasureKey("necessity_hits@1", k, name)] = float(after > 1)
        return values

    def _sufficiency(self, asked: Asked, reasons: Sequence[ShownReason]) -> dict[MeasureKey, float]:
        facts, values = self._evidence.facts, {}
        x, y = int(asked.question.subject[0]), int(asked.question.object[0])
        around = np.isin(facts.subject, (x, y)) | np.isin(facts.object, (x, y))
        for k in KS:
            for name, rows in self._chosen(asked, self._rows.find(events_of(reasons[:k]))).items():
                hidden = around.copy()
                hidden[rows] = False
                after = self._rank(self._evidence.without(np.flatnonzero(hidden)), asked)
                values[MeasureKey("sufficiency", k, name)] = float(after == 1)
        return values

    def _contrast(self, asked: Asked, explanation: Explanation, found: FirstAnswers) -> dict[MeasureKey, float]:
        """Return whether answer and runner-up change places without what supports the one against the other."""
        if explanation.competitor is None:
            return {}
        theirs = {reason.key: reason.contribution for reason in explanation.competitor.reasons}
        more = {id(one): one.contribution - theirs.get(one.key, 0.0) for one in explanation.reasons}
        reasons = sorted(supporting(explanation.reasons), key=lambda one: -more[id(one)])
        own = self._rows.find(events_of(one for one in reasons[:CONTRAST] if more[id(one)] > 0))
        values = {}
        for name, rows in self._chosen(asked, own).items():
            with torch.inference_mode():
                scores = self._evidence.without(rows).score(asked.question)[0]
            values[MeasureKey("contrast", CONTRAST, name)] = float(scores[found.second] > scores[found.first])
        return values

    def _chosen(self, asked: Asked, own: list[int], with_others: bool = False) -> dict[Chosen, list[int]]:
        """Return rows of events: the reasons' own, and as many of the subject's, at random and nearest in time.

        With the others there are two more of each: as many that are not the reasons' own, or all of them.
        """
        facts, x = self._evidence.facts, int(asked.question.subject[0])
        pool = self._generator.permutation(np.flatnonzero((facts.subject == x) | (facts.object == x)))
        start, end = (ends[pool] for ends in facts.known_ends())
        step = int(asked.question.known_ends()[0][0])
        far = np.minimum(np.abs(start - step), np.abs(end - step))
        nearest = pool[np.argsort(far, kind="stable")]
        found: dict[Chosen, list[int]] = {
            "reasons": own,
            "random": pool[: len(own)].tolist(),
            "nearest": nearest[: len(own)].tolist(),
        }
        if with_others:
            found["random others"] = pool[~np.isin(pool, own)][: len(own)].tolist()
            found["nearest others"] = nearest[~np.isin(nearest, own)][: len(own)].tolist()
        return found


def _size(explanation: Explanation) -> dict[MeasureKey, float]:
    """Return whether reasons make up most of the lead over the runner-up, and how many of them."""
    if explanation.competitor is None:
        return {}
    theirs = {reason.key: reason.contribution for reason in explanation.competitor.reasons}
    own = {reason.key: reason.contribution for reason in explanation.reasons}
    differences = [own.get(key, 0.0) - theirs.get(key, 0.0) for key in {*own, *theirs}]
    needed = reasons_needed(differences, explanation.score - explanation.competitor.score)
    values = {MeasureKey("lead_explained"): float(needed is not None)}
    return values if needed is None else values | {MeasureKey("reasons_needed"): needed}


def questions_about(facts: Facts, rows: Iterable[int], graph: Graph) -> Iterator[Asked]:
    """Yield both questions of each fact at some rows: for its object and for its subject."""
    for row in rows:
        fact = facts.take(np.array([row]))
        yield Asked(row, "object", fact, fact)
        yield Asked(row, "subject", fact, inverted(fact, graph))


def measure_explanations(
    meter: ExplanationMeter,
    facts: Facts,
    planted: Mapping[EventLabels, set[EventLabels]],
    settings: dict[str, Any],
    progress: Progress | None = None,
) -> ExplanationMeasures:
    """Return the measures of as many questions as the settings say, drawn from some facts by their seed.

    Both questions of a fact are drawn together. As many are drawn from the planted facts, for truth.
    """
    graph, generator = meter.graph, np.random.default_rng(settings["seed"])
    labelled = enumerate(_labelled(facts, graph))
    true = {row: planted[labels] for row, labels in labelled if labels in planted} if planted else {}
    drawn, made = (
        list(questions_about(facts, _draw(rows, settings["questions"], generator), graph))
        for rows in (np.arange(len(facts)), np.array(list(true), dtype=np.int64))
    )
    measured: list[QuestionMeasures] = []
    for asked in (*drawn, *made):
        own = len(measured) < len(drawn)
        measured.append(meter.measure(asked) if own else meter.measure_truth(asked, true[asked.row]))
        if progress is not None:
            progress(len(measured), len(drawn) + len(made))
    return summarise_measures(measured, settings)


def _draw(rows: Ids, questions: int, generator: np.random.Generator) -> list[int]:
    """Return rows of facts that ask so many questions together, sorted."""
    return sorted(generator.permutation(rows)[: max(1, questions // 2)].tolist())


def _labelled(facts: Facts, graph: Graph) -> Iterator[EventLabels]:
    for s, p, o, t in zip(*(column.tolist() for column in facts.columns()[:4]), strict=True):
        time = "?" if t == UNKNOWN else graph.timeline.label(t)
        yield graph.entities.name(s), graph.predicates.name(p), graph.entities.name(o), time
