"""What has no embedding: names that came after the training, or a whole graph that was never trained on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from foretime.data.graph import Graph
from foretime.inference.answers import Question

SHOWN = 3
"""How many names a note has."""
NO_EMBEDDINGS = "embeddings are absent on this graph: rules, events and trees score alone"


class MissingEmbeddings(NamedTuple):
    """The names of `trained` have embeddings, unless nothing is `shared` with it."""

    trained: Graph
    shared: bool = True

    def note(self, question: Question, answers: Iterable[str] = ()) -> str | None:
        """Return what a reader of answers should know, if a name among them has no embedding."""
        if not self.shared:
            return NO_EMBEDDINGS
        who, what = self.trained.entities, self.trained.predicates
        given = [name for name in (question.subject, question.object) if name is not None]
        given += [] if question.predicate is None else [question.predicate]
        listed = list(answers) if question.target_is_named else []
        new = [name for name in dict.fromkeys([*given, *listed]) if name not in who and name not in what]
        if not new:
            return None
        shown = ", ".join(new[:SHOWN]) + (f" and {len(new) - SHOWN} more" if len(new) > SHOWN else "")
        return f"no embedding for {shown}: added after the training; its terms of the score are neutral"
