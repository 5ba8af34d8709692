"""Explanations of answers to two open slots: why the first, then why the second given the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foretime.errors import QuestionError
from foretime.evaluation.slots import SLOTS, Slot
from foretime.inference.answers import AND, Answer, Question
from foretime.inference.chain import Chain, chain_of, first_chances
from foretime.inference.explanation.details import FullDetails
from foretime.inference.explanation.entity_reasons import EntityReasons
from foretime.inference.explanation.explanation import Explanation, in_topics
from foretime.inference.explanation.first_reasons import FirstReasons, HalfFact
from foretime.inference.explanation.sentences import first_sentences
from foretime.inference.explanation.vocabulary import GraphWords
from foretime.inference.first_slot import FirstSlot, first_slot

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

SUM_OF_PREDICATES = (
    "the score is the probability itself, summed over the predicates that may be meant: how likely each is, times how "
    "likely this is the other one then"
)


def explain_two(explainer: Explainer, question: Question, answer: Answer, top: int) -> Explanation:
    """Return why a pair is the answer to two open slots: the two steps of the chain rule one after the other."""
    names = answer.names
    first, second = _steps(explainer, question, names, top)
    return Explanation(
        question=replace(question, **names).to_dict(),
        slot=AND.join(question.targets),
        answer=answer.name,
        rank=answer.rank,
        probability=answer.probability,
        already_known=answer.already_known,
        sentences=_sentences(GraphWords(explainer.predictor.graph), (first, second), answer.probability),
        full=FullDetails(dict(answer.terms)),
        steps=(first, second),
        top=top,
    )


def _steps(
    explainer: Explainer, question: Question, names: Mapping[Slot, str], top: int
) -> tuple[Explanation, Explanation]:
    """Return why the first, and why the second given the first."""
    predictor = explainer.predictor
    chain = chain_of(predictor, question, predictor.facts_of([question], question.targets))
    first, second = chain.slots
    given = replace(question, **{first: names[first]})
    if chain.shares is None:
        of_first = explain_first(explainer, question, names[first], top)
    else:
        of_first = explain_entity(explainer, question, chain, names[first], top)
        given = replace(given, where=None)  # the entity is an allowed one, and predicates are not restricted
    return of_first, explainer.explain_answer(given, predictor.place(given, names[second]), top)


def explain_entity(explainer: Explainer, question: Question, chain: Chain, name: str, top: int) -> Explanation:
    """Return why a name stands in the first slot of a chain that sums over predicates."""
    predictor, slot = explainer.predictor, chain.slots[0]
    candidate = predictor.understanding.finder(slot).id(name)
    name = predictor._names(slot).name(candidate)
    words = GraphWords(predictor.graph)
    reasons = EntityReasons(words, question, chain)
    likeliest = predictor.graph.predicates.name(reasons.likeliest(candidate))
    given = replace(question, predicate=likeliest)
    why = explainer.explain_answer(given, predictor.place(given, name), top)
    found, chance = reasons.find(candidate), float(chain.chances[candidate])
    rank = 1 + int((chain.chances > chance).sum()) + int((chain.chances[:candidate] == chance).sum())
    of_predicate, meant = explain_first(explainer, question, likeliest, top), words.in_slot("predicate", likeliest)
    said = (
        f"That it is {meant}{_in_brackets(of_predicate.probability)}: {_lower(of_predicate.sentences[0])}",
        f"If it is {meant}: {_lower(why.sentences[0])}",
    )
    return Explanation(
        question=replace(question, **{slot: name}).to_dict(),
        slot=slot,
        answer=name,
        rank=rank,
        probability=chance,
        already_known=None,
        sentences=(*first_sentences(found, rank, chance, None), *said),
        topics=in_topics(found),
        note=SUM_OF_PREDICATES,
        full=FullDetails({"predicates": chance}),
        top=top,
        explain_other=partial(_other_entity, explainer, question, chain, name, top),
    )


def _other_entity(
    explainer: Explainer, question: Question, chain: Chain, name: str, top: int, competitor: str
) -> Explanation:
    if competitor == name:
        raise QuestionError(f"{competitor!r} is the answer itself; name another one to compare it with")
    return explain_entity(explainer, question, chain, competitor, top)


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
        f"{_lower(step.sentences[0])}"
        for opening, step in zip(("First", "Then"), steps, strict=True)
    ]
    if both is None:
        return tuple(said)
    product = " · ".join(_percent(step.probability or 0.0) for step in steps)
    return (*said, f"Both together: {product} = {_percent(both)}.")


def _lower(sentence: str) -> str:
    """Return a sentence as it stands behind a colon."""
    return f"{sentence[:1].lower()}{sentence[1:]}"


def _in_brackets(probability: float | None) -> str:
    return "" if probability is None else f" ({_percent(probability)})"


def _percent(probability: float) -> str:
    """Return a probability in three significant digits, so that a reader can check a product of small ones."""
    return f"{100 * probability:.3g}%"
