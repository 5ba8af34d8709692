"""Which entities may be answers: those with some values of some attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foretime.data.attributes import TYPE, Attributes
from foretime.data.vocabulary import Vocabulary
from foretime.errors import QuestionError

BETWEEN = ";"
"""What stands between the values of a list, in files and in a restriction as text."""
OneOrMore = str | Iterable[str]
Where = Mapping[str, OneOrMore] | str
"""The values that are allowed by attribute, or `attribute=value;attribute=value`."""


@dataclass(frozen=True)
class Restriction:
    """For each attribute the values of which an answer must have one; without any, every entity may be an answer.

    >>> allowed = Restriction.of(["city", "state"], {"country": "Norway"})
    >>> str(allowed), allowed.words
    ('type=city;type=state;country=Norway', 'type city or state, country Norway')
    >>> Restriction.of(None, str(allowed)) == allowed
    True
    """

    wanted: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, type: OneOrMore | None = None, where: Where | None = None) -> Restriction:
        """Return the restriction to some types, and to values of other attributes."""
        pairs = [(TYPE, value) for value in _several(type or ())]
        if isinstance(where, str):
            pairs += [_pair(text) for text in where.split(BETWEEN) if text.strip()]
        elif where is not None:
            pairs += [(str(attribute), value) for attribute, values in where.items() for value in _several(values)]
        wanted: dict[str, dict[str, None]] = {}
        for attribute, value in pairs:
            wanted.setdefault(attribute, {})[value] = None
        return cls(tuple((attribute, tuple(values)) for attribute, values in wanted.items()))

    def __bool__(self) -> bool:
        return bool(self.wanted)

    def __str__(self) -> str:
        return BETWEEN.join(f"{attribute}={value}" for attribute, values in self.wanted for value in values)

    @property
    def words(self) -> str:
        """What is allowed, in words."""
        return ", ".join(f"{attribute} {' or '.join(values)}" for attribute, values in self.wanted)

    def resolved(self, attributes: Attributes) -> Restriction:
        """Return it in the words of a graph; raise `QuestionError` for what no entity of the graph has."""
        named = ((attributes.attribute(word), values) for word, values in self.wanted)
        found = {word: [attributes.value(word, value) for value in values] for word, values in named}
        return Restriction.of(None, found)

    def allowed(self, attributes: Attributes, entities: Vocabulary) -> NDArray[np.bool_]:
        """Return which entities have one of the values of every attribute, (entities,); there is at least one."""
        own = self.resolved(attributes)
        masks = [attributes.having(word, values, entities) for word, values in own.wanted]
        mask = np.ones(len(entities), dtype=bool)
        for one in masks:
            mask &= one
        if not mask.any():
            raise QuestionError(f"no entity of the graph has {own.words}; ask for less")
        return mask


def _several(given: OneOrMore) -> list[str]:
    return [given] if isinstance(given, str) else [str(one) for one in given]


def _pair(text: str) -> tuple[str, str]:
    attribute, equals, value = (part.strip() for part in text.partition("="))
    if not (attribute and equals and value):
        raise QuestionError(f"{text!r} is no restriction; write attribute=value, as in country=Norway")
    return attribute, value
