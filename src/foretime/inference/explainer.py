"""Explanations: why an answer has its score, down to the events and the learned weights, and why not another one."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import cast

import torch

from foretime.data.facts import UNKNOWN, Facts
from foretime.errors import QuestionError
from foretime.evaluation.slots import SLOTS, Slot, inverted
from foretime.evidence.counting import count_pair_rule
from foretime.evidence.module import evidence_of
from foretime.evidence.reasons import ReasonFinder
from foretime.inference.answers import TIMES, AlreadyKnown, Answer, Question, Time
from foretime.inference.explanation.events import SharedNeighbours
from foretime.inference.explanation.explanation import (
    EVIDENCE,
    BasePlace,
    Contribution,
    Explanation,
    ReasonPart,
    RerankerScore,
    ShownReason,
)
from foretime.inference.explanation.wording import FactIds, Wording
from foretime.inference.predictor import Predictor
from foretime.reranker.features.extractor import FeatureExtractor
from foretime.reranker.features.shared_neighbours import SpanFact, shared_neighbour_paths
from foretime.reranker.quantising import SHARED_NEIGHBOURS

NO_EVIDENCE = (
    "no reasons: this run was trained without evidence; train with evidence.use=true (--evidence), and rules and "
    "events explain a term of the score"
)
RERANKER = "reranker"
"""The term of an answer by which the re-ranker has changed the base score: here it is taken apart instead."""
_TOLERANCE = 1e-4
"""How far the sum of the reasons may be from the model's, which adds up in single precision, for each unit of size."""


class Explainer:
    """Explains the answers of a predictor."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self._evidence = evidence_of(predictor.model)
        self._wording = Wording(predictor.graph)
        if self._evidence is not None:
            self._finder = ReasonFinder(self._evidence.index, self._evidence.weights.detach().numpy())

    def explain(
        self, *, competitor: str | None = None, slot: Slot = "object", already_known: AlreadyKnown = "mark",
        top: int = 10, **slots: Time | None,
    ) -> Explanation:  # fmt: skip
        """Return why a fact has its score, and with a `competitor`, why its answer and not that one.

        `slots` are those of a `Question`. If one is left out, the best answer for it is explained; with `already_known`
        `hide`, the best that train and valid do not have. If all are given, `slot` is the answer, whose rank is
        reported and which `competitor` competes with. The rules of the first `top` reasons are counted; all reasons
        are there.
        """
        question, name = self._asked(Question(**slots), slot)  # type: ignore[arg-type]
        self.predictor.check(question)
        answer = self._best(question, already_known) if name is None else self.predictor.place(question, name)
        explanation = self.explain_answer(question, answer, top)
        return explanation if competitor is None else explanation.against(competitor)

    def explain_answer(self, question: Question, answer: Answer, top: int = 10) -> Explanation:
        """Return why an answer of the predictor has its score; the rules of the first `top` reasons are counted."""
        reasons = self.reasons(question, answer, top)
        place, reranker = self._reranker(question, answer)
        terms = {name: term for name, term in answer.terms.items() if place is None or name != RERANKER}
        if self._evidence is not None:
            terms[EVIDENCE] = math.fsum(reason.contribution for reason in reasons)
        return Explanation(
            question=replace(question, **{question.target: answer.name}).to_dict(),
            slot=question.target,
            answer=answer.name,
            rank=answer.rank,
            probability=answer.probability,
            already_known=answer.already_known,
            terms=terms,
            reasons=tuple(reasons),
            note=self.note,
            base_place=place,
            reranker=reranker,
            top=top,
            explain_other=partial(self._other, question, answer, top),
        )

    def _other(self, question: Question, answer: Answer, top: int, competitor: str) -> Explanation:
        """Return the explanation of a competitor of an answer."""
        other = self.predictor.place(question, competitor)
        if other.name == answer.name:
            raise QuestionError(f"{competitor!r} is the answer itself; name another one to compare it with")
        return self.explain_answer(question, other, top)

    @property
    def note(self) -> str | None:
        """What a reader should know of all explanations of the run."""
        return NO_EVIDENCE if self._evidence is None else None

    def _asked(self, question: Question, slot: Slot) -> tuple[Question, str | None]:
        """Return a question with one open slot, and what was given for that slot if everything was."""
        if slot not in SLOTS:
            raise QuestionError(f"slot is {slot!r}; it may be {', '.join(SLOTS[:-1])} or {SLOTS[-1]}")
        if question.open_slots:
            return question, None
        if slot == "time" and question.time is None:
            raise QuestionError("only one time can be the answer, not a start and an end; give it as the time")
        if slot == "time" and (question.start, question.end) != (None, None):
            raise QuestionError("give either a time, or a start and an end, not both")
        return replace(question, **{slot: None}), str(getattr(question, slot))

    def _best(self, question: Question, already_known: AlreadyKnown) -> Answer:
        answers = self.predictor.predict_many([question], 1, already_known)[0]
        if not answers:
            raise QuestionError("train and valid have every answer to this question; do not hide them")
        return answers[0]

    @torch.inference_mode()
    def _reranker(self, question: Question, answer: Answer) -> tuple[BasePlace | None, RerankerScore | None]:
        """Return where the base model has put an answer, and its score by the re-ranker."""
        slot, graph, reranked = question.target, self.predictor.graph, self.predictor.scorer.reranked
        if reranked is None or slot not in ("subject", "object"):
            return None, None
        asked = self.predictor.facts_of([question], slot)
        asked = inverted(asked, graph) if slot == "subject" else asked
        candidate = graph.entities.id(answer.name)
        found, shortlist = reranked.extract(asked, candidate), reranked.reranker.top
        if found is None:
            return BasePlace(shortlist, listed=False), None
        *values, base = reranked.reranker.contributions(found.values)[0].tolist()
        features = zip(found.names, found.values[0].tolist(), values, strict=True)
        contributions = sorted((Contribution(*one) for one in features), key=lambda one: -abs(one.contribution))
        # the question is scored anew: among other questions the last digits, and so the way through a tree, may differ
        score = float(reranked.score(asked)[0, candidate])
        _check_sum(f"the features of {answer.name!r}", [base, *values], score, "re-ranked score")
        reported = next((one.value for one in contributions if one.feature == SHARED_NEIGHBOURS), 0.0)
        shared = self._shared_neighbours(reranked.extractor, asked, candidate, reported)
        return BasePlace(shortlist, True, found.place), RerankerScore(base, tuple(contributions), shared)

    def _shared_neighbours(
        self, extractor: FeatureExtractor, asked: Facts, candidate: int, reported: float
    ) -> SharedNeighbours | None:
        """Return what supports a candidate of one question via shared neighbours; None where there are no intervals."""
        if extractor.spans is None:
            return None
        x, p, start, end = (int(column[0]) for column in (asked.subject, asked.predicate, asked.start, asked.end))
        fact = SpanFact(x, p, candidate, start, end)
        paths = shared_neighbour_paths(extractor.spans, extractor.index.reach.past_only, fact)
        return self._wording.shared_neighbours(fact, paths, reported)

    def reasons(self, question: Question, answer: Answer, top: int = 0) -> list[ShownReason]:
        """Return the reasons of an answer of the predictor, with the rules of the first `top` counted."""
        if self._evidence is None:
            return []
        asked = self._ids(question, answer.name)
        times = list(asked.times.values())
        found = self._finder.find(asked.subject, asked.predicate, asked.object, times[0], times[-1])
        reasons = self._wording.show(asked, found)
        parts = [part.contribution for reason in reasons for part in reason.parts]
        _check_sum(f"the reasons of {answer.name!r}", parts, answer.terms[EVIDENCE], "evidence")
        return [*(self._counted(asked, reason) for reason in reasons[:top]), *reasons[top:]]

    def _ids(self, question: Question, name: str) -> FactIds:
        """Return the ids of a whole fact, as the question for its object that the model scores it by."""
        fact = self.predictor.facts_of([replace(question, **{question.target: name})])
        fact = inverted(fact, self.predictor.graph) if question.target == "subject" else fact
        subject, predicate, object_, *ends = (int(column[0]) for column in fact.columns())
        known = {end: step for end, step in zip(TIMES[1:], ends, strict=True) if step != UNKNOWN}
        times = known if len(set(known.values())) == 2 else {"": next(iter(known.values()))}
        return FactIds(subject, predicate, object_, times, self._finder.reach.past_only)

    def _counted(self, asked: FactIds, reason: ShownReason) -> ShownReason:
        """Return a reason with its rule, if it is of a pair rule, counted at each distance."""

        def counted(part: ReasonPart) -> ReasonPart:
            if part.family != "pair_offset":
                return part
            body = cast(int, reason.key[1])
            count = count_pair_rule(self._finder.events, asked.predicate, body, int(part.value))
            return replace(part, support=count.support, body_count=count.body_count)

        return replace(reason, parts=tuple(map(counted, reason.parts)))


def _check_sum(what: str, summands: list[float], wanted: float, name: str) -> None:
    """Raise if summands do not add up to what the model says: an explanation of another score is none."""
    total = math.fsum(summands)
    if abs(total - wanted) > _TOLERANCE * (1 + math.fsum(map(abs, summands))):
        raise RuntimeError(f"{what} add up to {total}, but its {name} is {wanted}")
