"""The scores of answers by trees, taken apart: by the re-ranker, or by the model of an open predicate or time."""

from __future__ import annotations

import math
from typing import NamedTuple

from foretime.data.facts import Facts
from foretime.evaluation.slots import inverted
from foretime.inference.answers import Answer, Question
from foretime.inference.explanation.attribution import FeatureScore
from foretime.inference.explanation.co_neighbours import CoNeighbourWords
from foretime.inference.explanation.details import BasePlace
from foretime.inference.explanation.events import SharedNeighbours
from foretime.inference.explanation.slot_groups import SlotGroups
from foretime.inference.predictor import Predictor
from foretime.reranker.boosted_trees import BoostedTrees
from foretime.reranker.features.extractor import FeatureExtractor, Features
from foretime.reranker.features.shared_neighbours import SpanFact, shared_neighbour_paths
from foretime.reranker.quantising import SHARED_NEIGHBOURS
from foretime.reranker.slots.model import SlotModel

_TOLERANCE = 1e-4
"""How far the sum of the reasons may be from the model's, which adds up in single precision, for each unit of size."""


class TreeScore(NamedTuple):
    """The score of an answer by trees, if it has one, and where the base model has put it."""

    features: FeatureScore | None = None
    place: BasePlace | None = None
    shared: SharedNeighbours | None = None


class TreeScores:
    """Finds the scores of the answers of a predictor by trees."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        self._words = CoNeighbourWords(predictor.graph)

    def find(self, question: Question, answer: Answer) -> TreeScore:
        """Return the score of an answer by trees, taken apart; nothing if no trees score such answers."""
        slot, scorer = question.target, self._predictor.scorer
        asked = self._predictor.facts_of([question], slot)
        if slot in ("predicate", "time"):
            slots = scorer.for_slot(slot).slots
            model = None if slots is None else slots.models.get(slot)
            return TreeScore() if model is None else self._scored_slot(model, asked, answer)
        reranked, graph = scorer.reranked, self._predictor.graph
        if reranked is None:
            return TreeScore()
        asked = inverted(asked, graph) if slot == "subject" else asked
        candidate = graph.entities.id(answer.name)
        found, shortlist = reranked.extract(asked, candidate), reranked.reranker.top
        if found is None:
            return TreeScore(place=BasePlace(shortlist, listed=False))
        scored = _taken_apart(answer, reranked.reranker.trees, found.names, found.values, found.typical)
        at = dict(zip(scored.names, scored.values, strict=True))
        shared = self._shared_neighbours(reranked.extractor, asked, candidate, at.get(SHARED_NEIGHBOURS, 0.0))
        return TreeScore(scored, BasePlace(shortlist, True, found.place), shared)

    def _scored_slot(self, model: SlotModel, asked: Facts, answer: Answer) -> TreeScore:
        """Return the score of a predicate or a time by the model of its slot, taken apart."""
        slot, graph = model.extractor.slot, self._predictor.graph
        candidate = graph.timeline.step(answer.name) if slot == "time" else graph.predicates.id(answer.name)
        shortlist = model.extractor.extract(asked, hidden=False)
        chosen = shortlist.chosen[0].tolist()
        if candidate not in chosen:
            return TreeScore(place=BasePlace(len(chosen), listed=False))
        row, groups = chosen.index(candidate), SlotGroups(slot)
        names, values = list(model.extractor.names), shortlist.features[row : row + 1]
        scored = _taken_apart(answer, model.trees, names, values, shortlist.features.mean(0))
        own = scored._replace(group_of=groups.group_of, words_of=groups.words_of)
        return TreeScore(own, BasePlace(len(chosen), True, row + 1))

    def _shared_neighbours(
        self, extractor: FeatureExtractor, asked: Facts, candidate: int, reported: float
    ) -> SharedNeighbours | None:
        """Return what supports a candidate of one question via shared neighbours; None where there are no intervals."""
        if extractor.spans is None:
            return None
        x, p, start, end = (int(column[0]) for column in (asked.subject, asked.predicate, asked.start, asked.end))
        fact = SpanFact(x, p, candidate, start, end)
        paths = shared_neighbour_paths(extractor.spans, extractor.index.reach.past_only, fact)
        return self._words.show(fact, paths, reported)


def _taken_apart(
    answer: Answer, trees: BoostedTrees, names: list[str], values: Features, typical: Features
) -> FeatureScore:
    """Return what each feature adds to the score of an answer; the features are (1, features)."""
    *contributions, expected = trees.contributions(values)[0].tolist()
    # scored anew: among other questions the last digits, and so the way through a tree, may differ
    score = float(trees.score(values)[0])
    check_sum(f"the features of {answer.name!r}", [expected, *contributions], score, "score by trees")
    return FeatureScore(names, values[0].tolist(), contributions, expected, typical.tolist())


def check_sum(what: str, summands: list[float], wanted: float, name: str) -> None:
    """Raise if summands do not add up to what the model says: an explanation of another score is none."""
    total = math.fsum(summands)
    if abs(total - wanted) > _TOLERANCE * (1 + math.fsum(map(abs, summands))):
        raise RuntimeError(f"{what} add up to {total}, but its {name} is {wanted}")
