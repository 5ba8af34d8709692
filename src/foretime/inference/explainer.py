"""Explanations: why an answer has its score, down to the events and the learned weights, and why not another one."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from foretime.data.facts import UNKNOWN, inverse
from foretime.errors import QuestionError
from foretime.evaluation.slots import SLOTS, inverted
from foretime.evidence.counting import RuleCounter
from foretime.evidence.module import evidence_of
from foretime.evidence.reasons import Event, ReasonFinder
from foretime.inference.answers import AND, TARGETS, TIMES, AlreadyKnown, Answer, Question, Target
from foretime.inference.chained import explain_two
from foretime.inference.explanation.attribution import (
    BEHIND,
    Amounts,
    FeatureScore,
    Key,
    attribute_features,
    attribute_terms,
    homes_of,
)
from foretime.inference.explanation.details import Contribution, FullDetails
from foretime.inference.explanation.explanation import Explanation, in_topics
from foretime.inference.explanation.reasons import ShownReason
from foretime.inference.explanation.rule_words import with_counts
from foretime.inference.explanation.sentences import first_sentences
from foretime.inference.explanation.statements import GraphFeature, Statements
from foretime.inference.explanation.vocabulary import FactIds, GraphWords
from foretime.inference.explanation.wording import Groups, Wording, by_body
from foretime.inference.predictor import Predictor
from foretime.inference.timeless import NOTE as TIMELESS_NOTE
from foretime.inference.timeless import beyond, timeless_index
from foretime.inference.tree_scores import TreeScore, TreeScores, check_sum

EVIDENCE = "evidence"
"""The term of the base score that rules add up to."""
NO_EVIDENCE = (
    "no rules: this run was trained without evidence; train with evidence.use=true (--evidence), and rules and "
    "events explain a term of the score"
)
RERANKER = "reranker"
"""The term of an answer by which the re-ranker has changed the base score: here it is taken apart instead."""
TOP = 5
"""How many reasons are shown, and their rules counted."""


class Explainer:
    """Explains the answers of a predictor."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self._evidence, reranked = evidence_of(predictor.model), predictor.scorer.reranked
        self._words = GraphWords(predictor.graph)
        self._wording, self._statements = Wording(self._words), Statements(self._words)
        self._tree_scores = TreeScores(predictor)
        self._finder: ReasonFinder | None = None
        if self._evidence is not None:
            self._finder = ReasonFinder(self._evidence.index, self._evidence.weights.detach().numpy())
        elif reranked is not None:
            self._finder = ReasonFinder(reranked.extractor.index, torch.empty(0).numpy())  # only for its events
        self._counter = None if self._finder is None else RuleCounter(self._finder.events)

    def explain(
        self, *, competitor: str | None = None, slot: Target = "object", already_known: AlreadyKnown = "mark",
        top: int = TOP, **slots: Any,
    ) -> Explanation:  # fmt: skip
        """Return why a fact has its score, and with a `competitor`, why its answer and not that one.

        `slots` are those of a `Question`, with its `type` and `where`. If one or two are left out, the best answer for
        them is explained; with `already_known` `hide`, the best that train and valid do not have. If all are given,
        `slot` is the answer, whose rank is reported and which `competitor` competes with. The rules of the first `top`
        reasons are counted; all reasons are there.
        """
        understood = self.predictor.understanding.read(Question(**slots))
        question, names = self._asked(understood.question, slot)
        self.predictor.check(question)
        answer = self.predictor.place(question, *names) if names else self._best(question, already_known)
        explanation = self.explain_answer(question, answer, top)
        if understood.note:
            explanation = replace(explanation, note="; ".join(filter(None, [explanation.note, understood.note])))
        return explanation if competitor is None else explanation.against(competitor)

    @torch.inference_mode()
    def explain_answer(self, question: Question, answer: Answer, top: int = TOP) -> Explanation:
        """Return why an answer of the predictor has its score; the rules of the first `top` reasons are counted."""
        if len(question.targets) > 1:
            return explain_two(self, question, answer, top)
        asked = self._ids(question, answer.name)
        groups = self._groups(asked, question)
        sizes = {key: math.fsum(reason.contribution for reason in group) for key, group in groups.items()}
        terms = _base_terms(answer, question.is_timeless and self._evidence is not None)
        if self._evidence is not None:
            check_sum(f"the reasons of {answer.name!r}", list(sizes.values()), terms[EVIDENCE], "evidence")
            terms[EVIDENCE] = math.fsum(sizes.values())
        scored = TreeScore() if question.is_timeless else self._tree_scores.find(question, answer)
        amounts = self._amounts(asked, answer, terms, sizes, scored)
        reasons = self._reasons(asked, groups, amounts, scored)
        kept = sorted(reasons, key=lambda reason: -abs(reason.contribution))
        shown = {reason.key for reason in [one for one in kept if one.is_of_answer][:top]}
        counted = [self._counted(asked, reason) if reason.key in shown else reason for reason in kept]
        return Explanation(
            question=replace(question, **{question.target: answer.name}).to_dict(),
            slot=question.target,
            answer=answer.name,
            rank=answer.rank,
            probability=answer.probability,
            already_known=answer.already_known,
            sentences=first_sentences(counted, answer.rank, answer.probability, answer.already_known, asked.past_only),
            topics=in_topics(counted),
            note=self._note(question, answer),
            full=self._details(terms, scored),
            top=top,
            explain_other=partial(self._other, question, answer, top),
        )

    def reasons(self, question: Question, answer: Answer) -> list[ShownReason]:
        """Return the reasons of an answer of the predictor, the largest first, with rules that are not counted."""
        return list(self.explain_answer(question, answer, top=0).shown(None))

    def _other(self, question: Question, answer: Answer, top: int, competitor: str) -> Explanation:
        """Return the explanation of a competitor of an answer."""
        other = self.predictor.place(question, competitor)  # by the name that is meant
        if other.name == answer.name:
            raise QuestionError(f"{competitor!r} is the answer itself; name another one to compare it with")
        return self.explain_answer(question, other, top)

    @property
    def note(self) -> str | None:
        """What a reader should know of all explanations of the run."""
        return NO_EVIDENCE if self._evidence is None else None

    def _note(self, question: Question, answer: Answer) -> str | None:
        given = f"among the answers with {words}" if (words := question.restriction.words) else None
        found = [self.note, self.predictor.note(question, [answer.name]), given]
        found.append(TIMELESS_NOTE if question.is_timeless else None)
        return "; ".join(filter(None, found)) or None

    def _asked(self, question: Question, slot: Target) -> tuple[Question, list[str]]:
        """Return a question with open slots, and what was given for those of the answer if everything was."""
        if slot not in TARGETS:
            one, two = ", ".join(SLOTS[:-1]), "; ".join(TARGETS[len(SLOTS) :])
            raise QuestionError(f"slot is {slot!r}; it may be {one} or {SLOTS[-1]}, or two of them: {two}")
        if question.open_slots:
            return question, []
        if slot == "time" and question.time is None:
            raise QuestionError("only one time can be the answer, not a start and an end; give it as the time")
        if slot == "time" and (question.start, question.end) != (None, None):
            raise QuestionError("give either a time, or a start and an end, not both")
        slots = slot.split(AND)
        return replace(question, **dict.fromkeys(slots)), [str(getattr(question, one)) for one in slots]

    def _best(self, question: Question, already_known: AlreadyKnown) -> Answer:
        answers = self.predictor.predict_many([question], 1, already_known)[0]
        if not answers:
            raise QuestionError("train and valid have every answer to this question; do not hide them")
        return answers[0]

    def _ids(self, question: Question, name: str) -> FactIds:
        """Return the ids of a whole fact, as the question for its object that the model scores it by.

        Its times are those as of which it is looked at: distances are counted from there.
        """
        fact = self.predictor.facts_of([replace(question, **{question.target: name})])
        moved = self.predictor.as_of(question)
        fact = fact if moved is None else replace(fact, start=moved.start, end=moved.end)
        fact = inverted(fact, self.predictor.graph) if question.target == "subject" else fact
        if question.is_timeless:
            step = 0 if self._finder is None else beyond(self._finder.index)
            return FactIds(int(fact.subject[0]), int(fact.predicate[0]), int(fact.object[0]), {"": step})
        subject, predicate, object_, *ends = (int(column[0]) for column in fact.columns())
        known = {end: step for end, step in zip(TIMES[1:], ends, strict=True) if step != UNKNOWN}
        times = known if len(set(known.values())) == 2 else {"": next(iter(known.values()))}
        past_only = self._finder is not None and self._finder.reach.past_only
        return FactIds(subject, predicate, object_, times, past_only)

    def _groups(self, asked: FactIds, question: Question) -> Groups:
        """Return the grounded features of the evidence by rule body; without a time, those that need none."""
        if self._evidence is None:
            return {}
        times, index = list(asked.times.values()), self._evidence.index
        if question.is_timeless:
            index = timeless_index(index)
        elif question.target == "time":
            index = replace(index, max_gap=None)
        finder = ReasonFinder(index, self._evidence.weights.detach().numpy())
        return by_body(finder.find(asked.subject, asked.predicate, asked.object, times[0], times[-1]))

    def _amounts(
        self, asked: FactIds, answer: Answer, terms: dict[str, float], sizes: dict[Key, float], scored: TreeScore
    ) -> Amounts:
        """Return what each reason adds to the score."""
        if scored.features is not None:
            mirror = inverse(asked.predicate, len(self.predictor.graph.predicates))
            return attribute_features(scored.features, sizes, homes_of(asked.predicate, mirror))
        amounts = attribute_terms(terms, sizes, EVIDENCE)
        if scored.place is not None:
            amounts[BEHIND] = [answer.score - math.fsum(terms.values())]
        return amounts

    def _reasons(self, asked: FactIds, groups: Groups, amounts: Amounts, scored: TreeScore) -> list[ShownReason]:
        """Return every rule body and every statement that adds something, in words."""
        features = _by_group(scored.features)
        between = self._between(asked, groups) if ("met",) in amounts else []
        found = []
        for key, summands in amounts.items():
            amount = math.fsum(summands)
            if key in groups:
                found.append(self._wording.show(asked, key, groups[key], amount))
            else:
                own = features.get(str(key[0]), [])
                found.append(self._statements.show(asked, key, amount, own, between, scored.shared))
        return found

    def _between(self, asked: FactIds, groups: Groups) -> list[Event]:
        """Return the events between the two that the question may see: the nearest first, then by their rules."""
        if self._finder is None:
            return []
        first, predicates = asked.first, len(self.predictor.graph.predicates)

        def weight(event: Event) -> float:
            body = event.predicate if event.subject == asked.subject else inverse(event.predicate, predicates)
            return math.fsum(reason.contribution for reason in groups.get(("pair", body), []))

        found = self._finder.between(asked.subject, asked.predicate, asked.object, first)
        near = [event for event in found if abs(event.time - first) == abs(found[0].time - first)]
        return sorted(near, key=lambda event: -weight(event)) + found[len(near) :]

    def _details(self, terms: dict[str, float], scored: TreeScore) -> FullDetails:
        if scored.features is None:
            return FullDetails(terms, base_place=scored.place)
        given = scored.features
        rows = zip(given.names, given.values, given.contributions, strict=True)
        found = (Contribution(*row, given.group_of(row[0])[0], given.words_of(row[0])) for row in rows)
        features = sorted(found, key=lambda one: -abs(one.contribution))
        return FullDetails(terms, given.expected, tuple(features), scored.place, scored.shared)

    def _counted(self, asked: FactIds, reason: ShownReason) -> ShownReason:
        """Return a reason with its rule, if it is of one, counted."""
        if not reason.parts or self._counter is None:
            return reason
        return with_counts(self._words, asked, reason, self._counter.count)


def _base_terms(answer: Answer, timeless: bool) -> dict[str, float]:
    """Return the terms of the base score; those of single families, as a question without a time has them, as one."""
    terms = {name: term for name, term in answer.terms.items() if name != RERANKER}
    if not timeless:
        return terms
    families = {name: term for name, term in terms.items() if name.startswith(f"{EVIDENCE}_")}
    others = {name: term for name, term in terms.items() if name not in families}
    return {**others, EVIDENCE: math.fsum(families.values())}


def _by_group(scored: FeatureScore | None) -> dict[str, list[GraphFeature]]:
    """Return the features of each statement."""
    groups: dict[str, list[GraphFeature]] = {}
    if scored is not None:
        for row in zip(scored.names, scored.values, scored.contributions, strict=True):
            groups.setdefault(scored.group_of(row[0])[1], []).append(GraphFeature(*row))
    return groups
