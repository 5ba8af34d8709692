"""The mean of models that differ by nothing but their seed."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from foretime.models.base import Model, Queries, ScoreTerm
from foretime.models.past_events import PastEvents


class Ensemble(Model):
    """Every term of its score is the mean of that term in its members, which have been trained each alone."""

    def __init__(self, members: Sequence[Model]) -> None:
        nn.Module.__init__(self)
        self._members = tuple(members)
        self.members = nn.ModuleList(members)
        self.uses_time = members[0].uses_time  # type: ignore[misc]  # that of whatever it is the mean of
        self.reads_events = members[0].reads_events  # type: ignore[misc]
        self.end_offset = members[0].end_offset

    def reading(self, events: PastEvents) -> Ensemble:
        """Return the mean of the same members, reading other events."""
        return Ensemble([member.reading(events) for member in self._members]).train(self.training)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the terms of the members, which all have the same names and weights."""
        first, *others = self._members
        means = first.score_terms(queries, objects)
        for member in others:
            for mean, term in zip(means, member.score_terms(queries, objects), strict=True):
                mean.scores.add_(term.scores)
        for mean in means:
            mean.scores.div_(len(self._members))
        return means
