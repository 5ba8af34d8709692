"""LCGE."""

from __future__ import annotations

from typing import Annotated, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from foretime.config import MOST_WEIGHT
from foretime.models.base import Component, InitScale, Model, Queries, Rank, ScoreTerm
from foretime.models.complex import ComplEx
from foretime.models.guidance import Norm, RuleGuide
from foretime.models.tntcomplex import TNTComplEx
from foretime.rules.table import Rules

CommonsenseRank = Annotated[
    int, Field(ge=0, le=10_000, description="The paper's k, the rank of the concept embeddings; 0 for half of `rank`.")
]
CommonsenseWeight = Annotated[
    float,
    Field(
        ge=0.0,
        le=MOST_WEIGHT,
        description="The paper's λ, in the loss and in the prediction; 0 removes commonsense (−TIS).",
    ),
]
RuleNorm = Annotated[
    Norm, Field(description="The norm of a rule's residual: the cubed modulus, as in N3, or the squared one.")
]


class EventComponent(TNTComplEx):
    """E1 (Eq. 10): TNTComplEx, its lasting predicates guided by temporal rules (Eqs. 5–9)."""

    takes_rules: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {**TNTComplEx.default_penalties, "rules": 0.0}

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 rule_norm: RuleNorm = "cubed", boundaries: int = 1,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__(entities, predicates, times, rank=rank, init_scale=init_scale, generator=generator)
        self.guide = RuleGuide(rank, predicates // boundaries, rule_norm)

    def take_rules(self, rules: Rules | None) -> None:
        """Take the rules that guide the predicates."""
        self.guide.take_rules(rules)

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return the penalties of TNTComplEx, and `rules`: how far the lasting predicates are from the rules."""
        guided = self.lasting_predicates[: self.guide.predicates]  # without those of ends: rules know no ends
        return {**super().penalties(queries, objects), "rules": self.guide(guided)}


class CommonsenseComponent(ComplEx):
    """E2 (Eq. 11): ComplEx with concepts for entities. The time is masked, and so is which end of a fact is asked."""

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 boundaries: int = 1, generator: torch.Generator | None = None) -> None:  # fmt: skip
        one_end = predicates // boundaries
        super().__init__(entities, one_end, times, rank=rank, init_scale=init_scale, generator=generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the term of ComplEx, the same at both ends."""
        return super().score_terms(self._masked(queries), objects)

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return the penalties of ComplEx."""
        return super().penalties(self._masked(queries), objects)

    def _masked(self, queries: Queries) -> Queries:
        return queries._replace(predicate=queries.predicate % len(self.predicates))


class LCGE(Model):
    """LCGE: "Logic and Commonsense-Guided Temporal Knowledge Graph Completion", Niu and Li, AAAI 2023.

    An event is judged twice: as an event of its time (Eq. 10), and as something that such subjects do to such objects
    at all (Eq. 11), by smaller concept embeddings of its own that know no time (Eq. 15). Temporal rules pull the
    predicates pᵣ that they connect towards each other (Eqs. 5–9).

        score(s, p, o, t) = Re⟨s, p ∘ t + pᵣ, ō⟩ + λ Re⟨s_c, p_c, ō_c⟩
    """

    uses_time: ClassVar[bool] = True
    scores_are_products: ClassVar[bool] = True
    takes_rules: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {
        "event_n3": 0.01,
        "event_smoothness": 0.01,
        "event_rules": 0.0,
        "commonsense_n3": 0.1,
    }

    def __init__(self, entities: int, predicates: int, times: int, *, rank: Rank = 200, init_scale: InitScale = 0.01,
                 commonsense_rank: CommonsenseRank = 0, commonsense_weight: CommonsenseWeight = 0.5,
                 rule_norm: RuleNorm = "cubed", boundaries: int = 1,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__()
        self.commonsense_weight = commonsense_weight
        self.event = EventComponent(
            entities, predicates, times, rank=rank, init_scale=init_scale, rule_norm=rule_norm, boundaries=boundaries,
            generator=generator,
        )  # fmt: skip
        self.commonsense = CommonsenseComponent(
            entities, predicates, times, rank=commonsense_rank or max(1, rank // 2), init_scale=init_scale,
            boundaries=boundaries, generator=generator,
        )  # fmt: skip

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the terms `event` (E1) and, unless its weight is zero, `commonsense` (E2)."""
        return [
            ScoreTerm(component.name, component.weight, term.scores)
            for component in self.components()
            for term in component.model.score_terms(queries, objects)
        ]

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return the penalties of both components: `event_n3`, `event_smoothness`, `event_rules`, `commonsense_n3`."""
        return {
            f"{component.name}_{name}": penalty
            for component in self._all_components()
            for name, penalty in component.model.penalties(queries, objects).items()
        }

    def take_rules(self, rules: Rules | None) -> None:
        """Take the rules that guide the event component."""
        self.event.take_rules(rules)

    def components(self) -> list[Component]:
        """Return the event component and, unless its weight is zero, the commonsense component."""
        return [component for component in self._all_components() if component.weight > 0.0]

    def _all_components(self) -> list[Component]:
        return [
            Component("event", 1.0, self.event),
            Component("commonsense", self.commonsense_weight, self.commonsense),
        ]
