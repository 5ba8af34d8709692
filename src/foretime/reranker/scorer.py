"""Both stages together as one scorer, for ranking, calibration and answers alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import Facts
from foretime.evaluation.filters import AnswerIndex
from foretime.evaluation.ranks import score_questions
from foretime.models import Model
from foretime.reranker.features.extractor import Columns, Describer, Shortlist, score_each_term, shortlist_of
from foretime.reranker.trees import Reranker, describe


class Described(NamedTuple):
    """A candidate on the shortlist: its columns, (1, columns), and its place there, from 1; a known one has none."""

    names: list[str]
    columns: Columns
    place: int | None


@dataclass(frozen=True)
class RerankedModel:
    """A model and the reranker that re-orders its best candidates."""

    model: Model
    reranker: Reranker
    describer: Describer
    known: AnswerIndex
    """What the first stage has trained on: known answers do not take the place of others on the shortlist."""

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities, (questions, entities).

        Those of the shortlist are the reranker's. The others keep the order of the first stage behind the last of them,
        by as much as the first stage puts them behind the last of the shortlist.
        """
        total, shortlist, _, columns = self._shortlist(questions)
        scores = torch.from_numpy(self.reranker.score(columns))
        question, object_ = torch.from_numpy(shortlist.question), torch.from_numpy(shortlist.object)
        ranked = torch.from_numpy(shortlist.is_ranked)  # a known answer may stand anywhere in the first stage
        far = torch.full((len(questions),), torch.inf, dtype=torch.float64)
        lowest = far.scatter_reduce(0, question, scores, "amin")
        last = far.float().scatter_reduce(0, question[ranked], total[question, object_][ranked], "amin")
        below = (total - last[:, None]).clamp(max=0.0) - 1e-3
        result = lowest[:, None] + below
        result[question, object_] = scores
        return result.float()

    def describe(self, question: Facts, candidate: int) -> Described | None:
        """Return what the reranker knows of a candidate of one question, nothing if it is behind the shortlist."""
        _, shortlist, names, columns = self._shortlist(question)
        rows = np.flatnonzero(shortlist.object == candidate)
        if len(rows) == 0:
            return None
        row = int(rows[0])
        return Described(names, columns[row : row + 1], row + 1 if shortlist.is_ranked[row] else None)

    def _shortlist(self, questions: Facts) -> tuple[Tensor, Shortlist, list[str], Columns]:
        """Return the scores of the first stage, its best candidates, and the names and values of their columns."""
        terms = score_each_term(self.model, questions)
        total = torch.stack(list(terms.values())).sum(0)
        shortlist = shortlist_of(total, questions, self.known, self.reranker.top)
        return total, shortlist, *describe(self.describer, terms, questions, shortlist)


@dataclass(frozen=True)
class Scorer:
    """Scores questions by a model, and by the second stage where there is one: every rank and answer comes from it."""

    model: Model
    stages: RerankedModel | None = None

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities as objects of the questions, (questions, entities)."""
        return score_questions(self.model, questions) if self.stages is None else self.stages.score(questions)
