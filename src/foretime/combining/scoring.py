"""Both stages together as one scorer, for ranking, calibration and answers alike."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from foretime.combining.columns import Describer, score_each_term, shortlist_of
from foretime.combining.combiner import Combiner, describe
from foretime.data.facts import Facts
from foretime.evaluation.filters import KnownAnswers
from foretime.evaluation.ranking import score_questions
from foretime.models import Model


@dataclass(frozen=True)
class TwoStages:
    """A model and the combiner that re-orders its best candidates."""

    model: Model
    combiner: Combiner
    describer: Describer
    known: KnownAnswers
    """What the first stage has trained on: known answers do not take the place of others on the shortlist."""

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities, (questions, entities).

        Those of the shortlist are the combiner's. The others keep the order of the first stage behind the last of them,
        by as much as the first stage puts them behind the last of the shortlist.
        """
        terms = score_each_term(self.model, questions)
        total = torch.stack(list(terms.values())).sum(0)
        shortlist = shortlist_of(total, questions, self.known, self.combiner.top)
        _, columns = describe(self.describer, terms, questions, shortlist)
        scores = torch.from_numpy(self.combiner.score(columns))
        question, object_ = torch.from_numpy(shortlist.question), torch.from_numpy(shortlist.object)
        far = torch.full((len(questions),), torch.inf, dtype=torch.float64)
        lowest = far.scatter_reduce(0, question, scores, "amin")
        last = far.float().scatter_reduce(0, question, total[question, object_], "amin")
        below = (total - last[:, None]).clamp(max=0.0) - 1e-3
        result = lowest[:, None] + below
        result[question, object_] = scores
        return result.float()


@dataclass(frozen=True)
class Judge:
    """Scores questions by a model, and by the second stage where there is one: every rank and answer comes from it."""

    model: Model
    stages: TwoStages | None = None

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities as objects of the questions, (questions, entities)."""
        return score_questions(self.model, questions) if self.stages is None else self.stages.score(questions)
