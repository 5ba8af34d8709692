"""Explanations of answers to two open slots: why the first, then why the second given the first."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foretime.errors import QuestionError
from foretime.evaluation.slots import SLOTS
from foretime.inference.answers import AND, Answer, Question
from foretime.inference.explanation.details import FullDetails
from foretime.inference.explanation.explanation import Explanation, in_topics
from foretime.inference.explanation.first_reasons import FirstReasons, HalfFact
from foretime.inference.explanation.sentences import first_sentences
from foretime.inference.explanation.vocabulary import GraphWords
from foretime.inference.first_slot import FirstSlot, first_slot
from foretime.inference.two_slots import first_chances

if TYPE_CHECKING:
    from foretime.inference.explainer import Explainer

FADING_COUNTS = (
    "the score is the probability itself, by counting alone: an event counts less the farther it is in time, and what "
    "is usual in general counts as much as one event at that time"
)
HALF_LEARNED = (
    "the score is the probability itself: half by counting events, which count less the farther they are in time, half "
    "by a softmax that has learned what goes with what"
)


def explain_two(explainer: Explainer, question: Question, answer: Answer, top: int) -> Explanation:
    """Return why a pair is the answer to two open slots: the two steps of the chain rule one after the other."""
    slots, names = question.targets, answer.names
    first = explain_first(explainer, question, names[slots[0]], top)
    given = replace(question, **{slots[0]: names[slots[0]]})
    second = explainer.explain_answer(given, explainer.predictor.place(given, names[slots[1]]), top)
    return Explanation(
        question=replace(question, **names).to_dict(),
        slot=AND.join(slots),
        answer=answer.name,
        rank=answer.rank,
        probability=answer.probability,
        already_known=answer.already_known,
        sentences=_sentences(GraphWords(explainer.predictor.graph), (first, second), answer.probability),
        full=FullDetails(dict(answer.terms)),
        steps=(first, second),
        top=top,
    )


def explain_first(explainer: Explainer, question: Question, name: str, top: int) -> Explanation:
    """Return why a name stands in the first of two open slots, whoever or whatever is in the second."""
    predictor, slot = explainer.predictor, question.targets[0]
    asked = predictor.facts_of([question], question.targets)
    judged, (chances, _) = first_slot(predictor, question, asked), first_chances(predictor, question, asked)
    candidate = predictor.understanding.finder(slot).id(name)
    name = predictor._names(slot).name(candidate)
    filled = replace(question, **{slot: name})
    given = {one: getattr(filled, one) for one in SLOTS[:3] if getattr(filled, one) is not None}
    fact = HalfFact(**{one: predictor._names(one).id(text) for one, text in given.items()})
    reasons = FirstReasons(GraphWords(predictor.graph), judged, fact)
    found, chance = reasons.find(candidate), float(chances[candidate])
    rank = 1 + int((chances > chance).sum()) + int((chances[:candidate] == chance).sum())
    return Explanation(
        question=filled.to_dict(),
        slot=slot,
        answer=name,
        rank=rank,
        probability=chance,
        already_known=None,
        sentences=first_sentences(found, rank, chance, None, judged.past_only),
        topics=in_topics(found),
        note=_note(judged, question),
        full=FullDetails(reasons.terms(candidate)),
        top=top,
        explain_other=partial(_other_first, explainer, question, name, top),
    )


def _note(judged: FirstSlot, question: Question) -> str:
    """Return what a reader should know of the score of a first slot."""
    how = FADING_COUNTS if judged.learned is None else HALF_LEARNED
    if not question.restriction:
        return how
    return f"{how}; this is among all answers, and the probability that among those with {question.restriction.words}"


def _other_first(explainer: Explainer, question: Question, name: str, top: int, competitor: str) -> Explanation:
    if competitor == name:
        raise QuestionError(f"{competitor!r} is the answer itself; name another one to compare it with")
    return explain_first(explainer, question, competitor, top)


def _sentences(words: GraphWords, steps: tuple[Explanation, Explanation], both: float | None) -> tuple[str, ...]:
    """Return the first sentence of each step, and the product that the probability of both is."""
    said = [
        f"{opening}, that it is {words.in_slot(step.slot, step.answer)}{_in_brackets(step.probability)}: "
        f"{step.sentences[0][:1].lower()}{step.sentences[0][1:]}"
        for opening, step in zip(("First", "Then"), steps, strict=True)
    ]
    if both is None:
        return tuple(said)
    product = " · ".join(_percent(step.probability or 0.0) for step in steps)
    return (*said, f"Both together: {product} = {_percent(both)}.")


def _in_brackets(probability: float | None) -> str:
    return "" if probability is None else f" ({_percent(probability)})"


def _percent(probability: float) -> str:
    """Return a probability in three significant digits, so that a reader can check a product of small ones."""
    return f"{100 * probability:.3g}%"
