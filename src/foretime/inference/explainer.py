"""Explanations: why an answer has its score, down to the events and the learned weights, and why not another one."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

import torch

from foretime.data.facts import Facts, inverse
from foretime.errors import QuestionError
from foretime.evaluation.slots import SLOTS, Slot, turn
from foretime.evidence.counting import count_pair_rule
from foretime.evidence.module import evidence_of
from foretime.evidence.reasons import ReasonFinder
from foretime.inference.explanation.company import Company
from foretime.inference.explanation.explanation import (
    EVIDENCE,
    Contribution,
    Explanation,
    FirstStage,
    ReasonPart,
    ShownReason,
)
from foretime.inference.explanation.wording import Asked, Wording
from foretime.inference.predictor import Answer, Known, Predictor, Question
from foretime.reranker.features.extractor import Describer
from foretime.reranker.features.shared_neighbours import SpanFact, shared_neighbour_paths
from foretime.runs.folder import RunFolder

__all__ = ["Contribution", "Explainer", "Explanation", "ShownReason"]

NO_EVIDENCE = (
    "no reasons: this run was trained without evidence; train with --evidence, and grounded rules are a "
    "term of the score that can be taken apart"
)
COMPANY = "shared_neighbours"
"""The column of the second stage that all paths of the company add up to."""
RERANKER = "reranker"
"""The term of an answer by which the second stage has changed the sum of the first: here it is taken apart instead."""
TIMES = ("time", "start", "end")
_TOLERANCE = 1e-4
"""How far the sum of the reasons may be from the model's, which adds up in single precision, for each unit of size."""


class _Stages(NamedTuple):
    """Where the first of two stages has put an answer, and of the second the columns, the base and the company."""

    first: FirstStage | None = None
    columns: tuple[Contribution, ...] | None = None
    base: float = 0.0
    company: Company | None = None


class Explainer:
    """Explains the answers of a run."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self._evidence = evidence_of(predictor.model)
        self._wording = Wording(predictor.graph)
        if self._evidence is not None:
            self._finder = ReasonFinder(self._evidence.index, self._evidence.weights.detach().numpy())

    @classmethod
    def open(cls, run: RunFolder | Path | str) -> Explainer:
        """Return the explainer of a run folder."""
        return cls(Predictor.open(run))

    def explain(
        self, *, competitor: str | None = None, slot: Slot = "object", known: Known = "mark", top: int = 10,
        **slots: str | None,
    ) -> Explanation:  # fmt: skip
        """Return why a fact has its score, and with a `competitor`, why its answer and not that one.

        `slots` are those of a `Question`. If one is left out, the best answer for it is explained; with `known`
        `hide`, the best that train and valid do not know. If all are given, `slot` is the answer, whose rank is told
        and which `competitor` competes with. The rules of the first `top` reasons are counted; all reasons are there.
        """
        question, name = self._asked(Question(**slots), slot)
        self.predictor.check(question)
        answer = self._best(question, known) if name is None else self.predictor.place(question, name)
        explanation = self.explain_answer(question, answer, top)
        if competitor is None:
            return explanation
        if self._same(question.target(), competitor, answer.name):
            raise QuestionError(f"{competitor!r} is the answer itself; name another one to compare it with")
        return replace(
            explanation, competitor=self.explain_answer(question, self.predictor.place(question, competitor), top)
        )

    def explain_answer(self, question: Question, answer: Answer, top: int = 10) -> Explanation:
        """Return why an answer of the predictor has its score; the rules of the first `top` reasons are counted."""
        slot = question.target()
        reasons = self._reasons(question, answer, top)
        stages = self._stages(question, answer)
        terms = {name: term for name, term in answer.terms.items() if stages.first is None or name != RERANKER}
        if self._evidence is not None:
            terms[EVIDENCE] = math.fsum(reason.contribution for reason in reasons)
        return Explanation(
            question=_filled(question, slot, answer.name),
            slot=slot,
            answer=answer.name,
            rank=answer.rank,
            confidence=answer.confidence,
            known=answer.known,
            terms=terms,
            reasons=tuple(reasons),
            note=self.note,
            second_stage=stages.columns,
            second_stage_base=stages.base,
            first_stage=stages.first,
            company=stages.company,
        )

    def reasons_for(self, question: Question, answer: Answer, count: int) -> list[ShownReason]:
        """Return the first reasons of an answer of the predictor, with rules that are not counted."""
        return self._reasons(question, answer, top=0)[:count]

    @property
    def note(self) -> str | None:
        """What a reader should know of all explanations of the run."""
        return NO_EVIDENCE if self._evidence is None else None

    def _asked(self, question: Question, slot: Slot) -> tuple[Question, str | None]:
        """Return a question with one open slot, and what was given for that slot if everything was."""
        if slot not in SLOTS:
            raise QuestionError(f"slot is {slot!r}; it may be {', '.join(SLOTS[:-1])} or {SLOTS[-1]}")
        times = any(getattr(question, name) is not None for name in TIMES)
        if not times or None in (question.subject, question.predicate, question.object):
            return question, None
        if slot == "time" and question.time is None:
            raise QuestionError("only one time can be the answer, not a start and an end; give it as the time")
        given = cast(str, getattr(question, slot))
        if slot == "time" and (question.start is not None or question.end is not None):
            raise QuestionError("give either a time, or a start and an end, not both")
        return replace(question, **{slot: None}), str(given)

    def _best(self, question: Question, known: Known) -> Answer:
        answers = self.predictor.complete_many([question], top=1, known=known)[0]
        if not answers:
            raise QuestionError("train and valid know every answer to this question; do not hide them")
        return answers[0]

    def _same(self, slot: Slot, competitor: str, name: str) -> bool:
        timeline = self.predictor.graph.timeline
        return timeline.step(competitor) == timeline.step(name) if slot == "time" else competitor == name

    @torch.inference_mode()
    def _stages(self, question: Question, answer: Answer) -> _Stages:
        slot, graph = question.target(), self.predictor.graph
        stages = self.predictor.scorer.stages
        if stages is None or slot not in ("subject", "object"):
            return _Stages()
        asked = self.predictor._facts([question], slot)
        asked = turn(asked, graph) if slot == "subject" else asked
        candidate = graph.entities.id(answer.name)
        found, top = stages.describe(asked, candidate), stages.reranker.top
        if found is None:
            return _Stages(FirstStage(top, listed=False))
        *values, base = stages.reranker.contributions(found.columns)[0].tolist()
        columns = zip(found.names, found.columns[0].tolist(), values, strict=True)
        contributions = tuple(Contribution(*column) for column in columns)
        # the question is scored anew: among other questions the last digits, and so the way through a tree, may differ
        _check_second_stage([base, *values], float(stages.score(asked)[0, candidate]), answer)
        first = FirstStage(top, True, found.place)
        told = {column.column: column.value for column in contributions}.get(COMPANY, 0.0)
        return _Stages(first, contributions, base, self._company(stages.describer, asked, candidate, told))

    def _company(self, describer: Describer, asked: Facts, candidate: int, told: float) -> Company | None:
        """Return who speaks for a candidate of one question; nobody where facts have no intervals."""
        if describer.spans is None:
            return None
        x, p, start, end = (int(column[0]) for column in (asked.subject, asked.predicate, asked.start, asked.end))
        fact = SpanFact(x, p, candidate, start, end)
        paths = shared_neighbour_paths(describer.spans, describer.index.reach.past_only, fact)
        return self._wording.company(fact, paths, told)

    def _reasons(self, question: Question, answer: Answer, top: int) -> list[ShownReason]:
        if self._evidence is None:
            return []
        asked = self._ids(question, answer.name)
        times = list(asked.times.values())
        found = self._finder.find(asked.subject, asked.predicate, asked.object, times[0], times[-1])
        reasons = self._wording.show(asked, found)
        _check_sum(answer, reasons)
        return [*(self._counted(asked, reason) for reason in reasons[:top]), *reasons[top:]]

    def _ids(self, question: Question, name: str) -> Asked:
        """Return the ids of a whole fact, as the question for its object that the model scores it by."""
        slot, graph = question.target(), self.predictor.graph
        fact = replace(question, **{slot: name})
        steps = [None if (time := getattr(fact, end)) is None else self.predictor.step(time) for end in TIMES]
        known = {end: step for end, step in zip(TIMES, steps, strict=True) if step is not None}
        times = known if len(set(known.values())) == 2 else {"": next(iter(known.values()))}
        subject, object_ = (graph.entities.id(cast(str, label)) for label in (fact.subject, fact.object))
        predicate = graph.predicates.id(cast(str, fact.predicate))
        if slot == "subject":
            subject, predicate, object_ = object_, inverse(predicate, len(graph.predicates)), subject
        return Asked(subject, predicate, object_, times, self._finder.reach.past_only)

    def _counted(self, asked: Asked, reason: ShownReason) -> ShownReason:
        """Return a reason of a pair rule with the rule counted at each distance."""
        if reason.kind != "pair":
            return reason
        body = cast(int, reason.key[1])

        def counted(part: ReasonPart) -> ReasonPart:
            if part.family != "pair_offset":
                return part
            count = count_pair_rule(self._finder.events, asked.predicate, body, int(part.value))
            return replace(part, support=count.support, body_count=count.body_count)

        return replace(reason, parts=tuple(counted(part) for part in reason.parts))


def _filled(question: Question, slot: Slot, name: str) -> dict[str, str]:
    """Return the whole fact on labels."""
    values = {field: getattr(question, field) for field in ("subject", "predicate", "object", *TIMES)}
    return {field: str(value) for field, value in {**values, slot: name}.items() if value is not None}


def _check_second_stage(parts: list[float], score: float, answer: Answer) -> None:
    """Raise if the columns of the second stage do not add up to its score."""
    total = math.fsum(parts)
    if abs(total - score) > _TOLERANCE * (1 + math.fsum(map(abs, parts))):
        raise RuntimeError(f"the columns of {answer.name!r} add up to {total}, but its second stage is {score}")


def _check_sum(answer: Answer, reasons: list[ShownReason]) -> None:
    """Raise if the reasons do not add up to what the model says: an explanation of another score is none."""
    total = math.fsum(reason.contribution for reason in reasons)
    size = 1 + math.fsum(abs(part.contribution) for reason in reasons for part in reason.parts)
    if abs(total - answer.terms[EVIDENCE]) > _TOLERANCE * size:
        raise RuntimeError(
            f"the reasons of {answer.name!r} add up to {total}, but its evidence is {answer.terms[EVIDENCE]}"
        )
