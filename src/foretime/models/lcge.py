"""LCGE."""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from foretime.models.base import Component, Model, ModelOptions, Queries, ScoreTerm, Sizes
from foretime.models.complex import ComplEx
from foretime.models.guidance import Norm, RuleGuide
from foretime.models.tntcomplex import TNTComplEx
from foretime.rules.table import Rules


class LCGEOptions(ModelOptions):
    """The options of LCGE: `rank` is the paper's d."""

    commonsense_rank: int = Field(default=0, ge=0, le=10_000)
    """The paper's k, the rank of the concept embeddings; 0 for half of `rank`."""
    commonsense_weight: float = Field(default=0.5, ge=0.0)
    """The paper's λ, the weight of commonsense in the loss and in the prediction; 0 leaves commonsense out (−TIS)."""
    rule_norm: Norm = "cubed"
    """The norm of a rule's residual: the cubed modulus, as in N3, or the squared one."""


class EventComponent(TNTComplEx):
    """E1 (Eq. 10): TNTComplEx, its lasting predicates guided by temporal rules (Eqs. 5–9)."""

    takes_rules: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {**TNTComplEx.default_penalties, "rules": 0.0}

    def __init__(self, sizes: Sizes, options: LCGEOptions, generator: torch.Generator) -> None:
        super().__init__(sizes, options, generator)
        self.guide = RuleGuide(options.rank, sizes.predicates // sizes.ends, options.rule_norm)

    def take_rules(self, rules: Rules | None) -> None:
        """Take the rules that guide the predicates."""
        self.guide.take_rules(rules)

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return the penalties of TNTComplEx, and `rules`: how far the lasting predicates are from the rules."""
        return {**super().penalties(queries, objects), "rules": self.guide(self._guided())}

    def _guided(self) -> Tensor:
        """Return the lasting predicates without those of ends: rules know no ends."""
        return self.lasting_predicates[: self.guide.predicates]


class CommonsenseComponent(ComplEx):
    """E2 (Eq. 11): ComplEx with concepts for entities. The time is masked, and so is which end of a fact is asked."""

    def __init__(self, sizes: Sizes, options: ModelOptions, generator: torch.Generator) -> None:
        one_end = sizes._replace(predicates=sizes.predicates // sizes.ends, ends=1)
        super().__init__(one_end, options, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the term of ComplEx, the same at both ends."""
        return super().score_terms(self._masked(queries), objects)

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return the penalties of ComplEx."""
        return super().penalties(self._masked(queries), objects)

    def _masked(self, queries: Queries) -> Queries:
        return queries._replace(predicate=queries.predicate % len(self.predicates))


class LCGE(Model):
    """LCGE: «Logic and Commonsense-Guided Temporal Knowledge Graph Completion», Niu and Li, AAAI 2023.

    An event is judged twice: as an event of its time (Eq. 10), and as something that such subjects do to such objects
    at all (Eq. 11), by smaller concept embeddings of its own that know no time (Eq. 15). Temporal rules pull the
    predicates pᵣ that they connect towards each other (Eqs. 5–9).

        score(s, p, o, t) = Re⟨s, p ∘ t + pᵣ, ō⟩ + λ Re⟨s_c, p_c, ō_c⟩
    """

    Options: ClassVar[type[ModelOptions]] = LCGEOptions
    uses_time: ClassVar[bool] = True
    scores_are_products: ClassVar[bool] = True
    takes_rules: ClassVar[bool] = True
    default_penalties: ClassVar[dict[str, float]] = {
        "event_n3": 0.01,
        "event_smoothness": 0.01,
        "event_rules": 0.0,
        "commonsense_n3": 0.1,
    }

    def __init__(self, sizes: Sizes, options: LCGEOptions, generator: torch.Generator) -> None:
        super().__init__(sizes, options, generator)
        small = options.model_copy(update={"rank": options.commonsense_rank or max(1, options.rank // 2)})
        self.commonsense_weight = options.commonsense_weight
        self.event = EventComponent(sizes, options, generator)
        self.commonsense = CommonsenseComponent(sizes, small, generator)

    def score_terms(self, queries: Queries, objects: Tensor | None = None) -> list[ScoreTerm]:
        """Return the terms `event` (E1) and, unless its weight is zero, `commonsense` (E2)."""
        return [
            ScoreTerm(part.name, part.weight, term.scores)
            for part in self.components()
            for term in part.model.score_terms(queries, objects)
        ]

    def penalties(self, queries: Queries, objects: Tensor) -> dict[str, Tensor]:
        """Return the penalties of both parts: `event_n3`, `event_smoothness`, `event_rules`, `commonsense_n3`."""
        return {
            f"{part.name}_{name}": penalty
            for part in self._all_components()
            for name, penalty in part.model.penalties(queries, objects).items()
        }

    def take_rules(self, rules: Rules | None) -> None:
        """Take the rules that guide the event part."""
        self.event.take_rules(rules)

    def components(self) -> list[Component]:
        """Return the event part and, unless its weight is zero, the commonsense part."""
        return [part for part in self._all_components() if part.weight > 0.0]

    def _all_components(self) -> list[Component]:
        return [
            Component("event", 1.0, self.event),
            Component("commonsense", self.commonsense_weight, self.commonsense),
        ]
