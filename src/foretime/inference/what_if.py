"""What if: a run asked as if some events had not happened, others had, or a rule were not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from foretime.data.facts import Facts, concatenate, empty_facts
from foretime.data.graph import Graph
from foretime.errors import QuestionError
from foretime.inference.answers import AND, AlreadyKnown, Answer, Answers, Question
from foretime.inference.changes import Addition, EventIds, Removal, event_text, read_event, read_removal
from foretime.inference.evidence_source import EvidenceSource, without_rules
from foretime.inference.explanation.explanation import Explanation
from foretime.inference.predictor import Predictor
from foretime.reranker.other_evidence import Mask
from foretime.rules.rule import RuleIds
from foretime.tables import Table, Tabular


class AnswerChange(NamedTuple):
    """An answer before and after the evidence was changed; one that is already known has no probability."""

    name: str
    rank_before: int
    rank: int
    probability_before: float | None
    probability: float | None

    @property
    def words(self) -> str:
        """The ranks and the probabilities before and after in one line."""
        chances = (self.probability_before, self.probability)
        shown = " → ".join("already known" if one is None else f"{one:.1%}" for one in chances)
        return f"{self.name}: rank {self.rank_before} → {self.rank}, probability {shown}"


class ComparedAnswer(NamedTuple):
    """What other evidence makes of one answer, and what was changed in the evidence."""

    change: AnswerChange
    evidence: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"change": self.change._asdict(), "evidence": list(self.evidence)}

    def __str__(self) -> str:
        return "\n".join([*self.evidence, self.change.words])


@dataclass(frozen=True, repr=False)
class Changes(Tabular):
    """What other evidence makes of the answers to a question: those that are first now, then those that were."""

    answers: Answers
    """The answers with the changed evidence."""
    changes: tuple[AnswerChange, ...]
    evidence: tuple[str, ...]
    """What was changed, in words."""

    def table(self) -> Table:
        """Return one row for each answer: its rank and its probability before and after."""
        formats = {"probability_before": ".1%", "probability": ".1%"}
        return Table.of([one._asdict() for one in self.changes], str(self.answers.question), formats)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        changes = [one._asdict() for one in self.changes]
        return {**self.answers.to_dict(), "changes": changes, "evidence": list(self.evidence)}


class WhatIf:
    """A run with other evidence: it predicts and explains like the run, which stays as it is.

    >>> asked = {"subject": "state 0", "predicate": "visits", "time": "2020-05-05"}
    >>> what_if = ft.open_run("runs/small").what_if(past_only=True)
    Traceback (most recent call last):
    foretime.errors.QuestionError: this run looks up no events, so none can be left out or added; train with ...
    """

    def __init__(
        self,
        source: EvidenceSource,
        without: Sequence[Removal] = (),
        with_: Sequence[Addition] = (),
        past_only: bool = False,
    ) -> None:
        self.before = source.predictor
        graph, facts = self.before.graph, source.facts
        removals = [(given, read_removal(given, graph)) for given in without]
        additions = [read_event(given, graph) for given in with_]
        kept, said = np.ones(len(facts), dtype=bool), []
        for given, meant in removals:
            gone = source.rows_of(meant)
            kept &= ~gone
            said.append(f"without {_removed_text(given, meant, gone, source)}")
        said += [f"with {event_text(event.fact(), 0, graph)}" for event in additions]
        self._said, self._past_only = said, past_only
        added = concatenate([empty_facts(), *(_new(event, facts.take(kept), graph) for event in additions)])
        weights = without_rules(self.before, [meant for _, meant in removals if isinstance(meant, RuleIds)])
        self._facts = concatenate([facts.take(kept), added])
        self.predictor = source.changed(kept, added, True if past_only else None, weights)

    def evidence(self, question: Question) -> tuple[str, ...]:
        """Return what was changed, in words; with the past alone, also how many events a question has left."""
        if not self._past_only:
            return tuple(self._said)
        time = next((time for time in (question.time, question.start, question.end) if time is not None), None)
        if time is None:
            return (*self._said, "only events before each time")
        facts, step = self._facts, self.predictor.step(time)
        left = int((np.minimum(*facts.known_ends()) < step).sum())
        return (*self._said, f"only events before {time}: {left:,} of {len(facts):,}")

    def predict(self, *, top: int = 10, already_known: AlreadyKnown = "mark", **slots: Any) -> Answers:
        """Return the best answers to a question; the parameters are those of `Run.predict`."""
        return self.predictor.predict(top=top, already_known=already_known, **slots)

    def explain(self, **question: Any) -> Explanation:
        """Return why a fact has its score now; the parameters are those of `Run.explain`."""
        return self.predictor.explainer.explain(**question)

    def changes(self, question: Question, *, top: int = 10, already_known: AlreadyKnown = "mark") -> Changes:
        """Return the new ranking of the answers to a question, and what has changed."""
        before, after = (one.predict_many([question], top, already_known)[0] for one in (self.before, self.predictor))
        names = dict.fromkeys(answer.filled for answer in (*after, *before))
        changes = tuple(
            _change(_placed(self.before, before, one), _placed(self.predictor, after, one)) for one in names
        )
        return Changes(after, changes, self.evidence(question))

    def compare(self, explanation: Explanation) -> ComparedAnswer:
        """Return how the answer of one of its explanations stood before, and how it stands now."""
        asked = Question(**explanation.question)
        slots = explanation.slot.split(AND)
        names = [explanation.question[slot] for slot in slots]
        found = self.before.place(replace(asked, **dict.fromkeys(slots)), *names)
        rank, probability = explanation.rank, explanation.probability
        change = AnswerChange(found.name, found.rank, rank, found.probability, probability)
        return ComparedAnswer(change, self.evidence(asked))


def _change(before: Answer, after: Answer) -> AnswerChange:
    return AnswerChange(after.name, before.rank, after.rank, before.probability, after.probability)


def _placed(predictor: Predictor, answers: Answers, names: tuple[str, ...]) -> Answer:
    found = next((answer for answer in answers if answer.filled == names), None)
    return predictor.place(answers.question, *names) if found is None else found


def _removed_text(given: Removal, meant: EventIds | RuleIds | int, gone: Mask, source: EvidenceSource) -> str:
    if isinstance(meant, RuleIds):
        return f"the rule {given}"
    if isinstance(meant, int):
        return f"the {int(gone.sum()):,} events of {given}"
    return " and ".join(event_text(source.facts, int(row), source.predictor.graph) for row in np.flatnonzero(gone))


def _new(event: EventIds, facts: Facts, graph: Graph) -> Facts:
    """Return an event as a fact; raise `QuestionError` if it is there already."""
    if event._replace(whole=True).matches(facts).any():
        raise QuestionError(f"{event_text(event.fact(), 0, graph)} has happened already; add an event that has not")
    return event.fact()
