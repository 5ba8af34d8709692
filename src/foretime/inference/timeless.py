"""Questions without a time: answered by what knows no time, and by nothing that depends on when.

These are the terms of the model that know no time (the commonsense of LCGE, a static model), the common neighbours of
the evidence, and the facts without a time. Nothing was calibrated for such questions, so their answers have a score and
no probability.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from foretime.data.background import BACKGROUND
from foretime.data.facts import Facts, Ids, inverse
from foretime.devices import fetch
from foretime.errors import QuestionError
from foretime.evaluation.slots import inverted
from foretime.evidence.families import FAMILY_NAMES
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import WithEvidence, evidence_of
from foretime.inference.answers import AlreadyKnown, Answer, Answers, Question
from foretime.models import Model, Queries
from foretime.reranker.features.words import TERM_TOPICS

if TYPE_CHECKING:
    from foretime.inference.predictor import Predictor

NOTE = "asked without a time: ranked by what knows no time, and scores are no probabilities"
_TIMELESS = ("affinity", BACKGROUND)
"""The families of evidence that need no time."""


def beyond(index: EvidenceIndex) -> int:
    """Return a step that no event is at, nor near: all events are seen, and none by when it was."""
    return index.events.steps + index.reach.path_window + 1


def timeless_index(index: EvidenceIndex) -> EvidenceIndex:
    """Return the index with the families that need no time, looked at from beyond all events."""
    used = {name: name in _TIMELESS and getattr(index.reach, name) for name in FAMILY_NAMES}
    return replace(index, reach=index.reach._replace(**used), max_gap=None)


def answer_timeless(predictor: Predictor, question: Question, top: int, already_known: AlreadyKnown) -> Answers:
    """Return the best answers to a question without a time, best first."""
    terms, scores, known = _score(predictor, question)
    if (allowed := predictor.understanding.allowed(question)) is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    shown = scores.masked_fill(torch.tensor([name is not None for name in known]), -torch.inf)
    order = (shown if already_known == "hide" else scores).sort(descending=True, stable=True)
    places = [place for place in range(min(top, len(scores))) if order.values[place] > -torch.inf]
    columns = [int(order.indices[place]) for place in places]
    found = [
        _answer(predictor, question, place + 1, at, terms, known) for place, at in zip(places, columns, strict=True)
    ]
    return Answers(question, tuple(found), 0.0, NOTE)


def place_timeless(predictor: Predictor, question: Question, name: str) -> Answer:
    """Return the answer of a name, wherever it stands among all."""
    terms, scores, known = _score(predictor, question)
    at = predictor.graph.entities.id(name)
    rank = 1 + int((scores > scores[at]).sum()) + int((scores[:at] == scores[at]).sum())
    return _answer(predictor, question, rank, at, terms, known)


def _answer(
    predictor: Predictor, question: Question, rank: int, at: int, terms: dict[str, Tensor], known: list[str | None]
) -> Answer:
    own = {name: float(values[at]) for name, values in terms.items()}
    name, score = predictor.graph.entities.name(at), sum(own.values())
    return Answer(rank, name, score, None, known[at], own, source=(predictor, question))


@torch.inference_mode()
def _score(predictor: Predictor, question: Question) -> tuple[dict[str, Tensor], Tensor, list[str | None]]:
    """Return the terms of every entity, their sum, and where each is known already; (entities,) each."""
    slot = question.target
    if slot not in ("object", "subject"):
        raise QuestionError(f"without a time only a subject or an object can be asked for, not a {slot}; give a time")
    fact = predictor.facts_of([question], slot)
    asked = inverted(fact, predictor.graph) if slot == "subject" else fact
    terms = _terms(predictor.model, asked)
    if not terms:
        raise QuestionError(
            "this run has nothing that answers without a time: its model knows only events, and it has no evidence; "
            "give a time, or train with evidence or with a model such as lcge"
        )
    return terms, torch.stack(list(terms.values())).sum(0), _known(predictor, asked)


def _terms(model: Model, asked: Facts) -> dict[str, Tensor]:
    columns = (asked.subject, asked.predicate)
    evidence = evidence_of(model)
    base = model.base if isinstance(model, WithEvidence) else model
    queries = Queries(*map(torch.from_numpy, (*columns, np.zeros(1, dtype=np.int64))))
    terms = {
        term.name: fetch(term.weight * term.scores)[0]
        for term in (base.score_terms(queries) if base is not evidence else [])
        if TERM_TOPICS.get(term.name) == "lasting"
    }
    if evidence is not None:
        step, weights = np.array([beyond(evidence.index)]), evidence.weights.detach().numpy()
        for name, index in timeless_index(evidence.index).by_family().items():
            terms[f"evidence_{name}"] = torch.from_numpy(index.score(weights, *columns, step))[0]
    return terms


def _known(predictor: Predictor, asked: Facts) -> list[str | None]:
    """Return for each entity what has it as an answer already, at any time or without one; test is not looked at."""
    graph = predictor.graph
    names = [name for name in (*graph.splits, BACKGROUND) if name != "test"]
    found: list[str | None] = [None] * len(graph.entities)
    for name in names:
        for entity in _objects(
            graph.facts(name), int(asked.subject[0]), int(asked.predicate[0]), len(graph.predicates)
        ):
            found[int(entity)] = name
    return found


def _objects(facts: Facts, subject: int, predicate: int, predicates: int) -> Ids:
    """Return the objects that facts have for a question, whose predicate may be an inverse."""
    if predicate < predicates:
        return facts.take((facts.subject == subject) & (facts.predicate == predicate)).object
    return facts.take((facts.object == subject) & (facts.predicate == inverse(predicate, predicates))).subject
