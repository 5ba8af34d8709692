"""Questions in the words of a graph: the names that are meant, and the entities that may be answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.graph import Graph
from foretime.data.name_finder import NameFinder, TakenName
from foretime.data.restrictions import Restriction
from foretime.errors import QuestionError
from foretime.evaluation.slots import SLOTS, Slot
from foretime.inference.answers import Answers, Question

ENTITIES: tuple[Slot, ...] = ("subject", "object")
KEPT = 64
"""Restrictions whose entities are kept for the next question."""


class Understood(NamedTuple):
    """A question in names of the graph, and those of its slots for which others were given."""

    question: Question
    taken: dict[str, TakenName]

    @property
    def note(self) -> str | None:
        """Which names were taken for which; None if all were there."""
        return "; ".join(f"{slot} {one}" for slot, one in self.taken.items()) or None


class Understanding:
    """Understands questions to a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._allowed: dict[Restriction, Tensor] = {}

    def finder(self, slot: Slot) -> NameFinder:
        """Return what finds the names of a slot."""
        return self.graph.predicate_finder if slot == "predicate" else self.graph.entity_finder

    def read(self, question: Question) -> Understood:
        """Return a question in names of the graph; raise `QuestionError` for a name or a type that it does not have."""
        given = {slot: name for slot in SLOTS[:3] if (name := getattr(question, slot)) is not None}
        taken = {slot: found for slot, name in given.items() if (found := self.finder(slot).resolve(name)) is not None}
        names = {slot: found.name for slot, found in taken.items()}
        wanted = question.restriction
        where = wanted.resolved(self.graph.attributes) if wanted else wanted
        return Understood(replace(question, **names, where=where), taken)  # type: ignore[arg-type]

    def allowed(self, question: Question) -> Tensor | None:
        """Return which entities may stand in the open slots of a question, (entities,); None if all may."""
        if not question.restriction:
            return None
        if not set(question.targets) & set(ENTITIES):
            raise QuestionError(
                f"only entities have attributes, and the {question.targets[0]} is asked for; leave subject or object "
                "open, or ask without a type"
            )
        found = self._allowed.get(question.restriction)
        if found is None:
            found = torch.from_numpy(question.restriction.allowed(self.graph.attributes, self.graph.entities))
            self._allowed = dict([*list(self._allowed.items())[1 - KEPT :], (question.restriction, found)])
        return found

    def allowed_rows(self, questions: Sequence[Question]) -> Tensor | None:
        """Return which entities each question allows, (questions, entities); None if all allow all."""
        masks = [self.allowed(question) for question in questions]
        if all(mask is None for mask in masks):
            return None
        every = torch.ones(len(self.graph.entities), dtype=torch.bool)
        return torch.stack([every if mask is None else mask for mask in masks])

    def noted(self, answers: Answers, taken: dict[str, TakenName]) -> Answers:
        """Return answers that say which names were taken for others, and to which entities they are restricted."""
        notes = [answers.note, Understood(answers.question, taken).note, self._restricted(answers)]
        given = {slot: one.given for slot, one in taken.items()}
        return replace(answers, note="; ".join(filter(None, notes)) or None, taken=given)

    def _restricted(self, answers: Answers) -> str | None:
        allowed, chance = self.allowed(answers.question), answers.allowed_probability
        if allowed is None or chance is None:
            return None
        count = f"{int(np.count_nonzero(allowed.numpy())):,} of {len(self.graph.entities):,} entities"
        return (
            f"only answers with {answers.question.restriction.words} ({count}): the probabilities are given that the "
            f"answer is one of these, which has a probability of {chance:.1%} itself"
        )
