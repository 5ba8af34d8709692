"""What is known of entities beside the facts: types, countries, aliases, and whatever else a file says of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foretime.data.spelling import fold
from foretime.data.vocabulary import Vocabulary
from foretime.errors import QuestionError, suggestion
from foretime.tables import FrameLibrary, frame_of

NAME, TYPE, ALIASES = "name", "type", "aliases"
SHOWN = 12
"""Values that an error lists."""
Values = tuple[str, ...]
"""The values that an entity has of one attribute; most have one, and none is no value."""


@dataclass(frozen=True)
class Attributes:
    """The attributes of entities, by their names: each is a list of values for every entity in `names`.

    Entities are kept by name, not by id, so that they hold in every split of a graph, and for entities that come later.

    >>> attributes = Attributes.of({"Iran": {"type": ("state",)}, "Oslo": {"type": ("city",), "in": ("Norway",)}})
    >>> attributes["Oslo"], attributes["Rome"], list(attributes)
    ({'type': ('city',), 'in': ('Norway',)}, {}, ['type', 'in'])
    """

    names: Values = ()
    columns: Mapping[str, tuple[Values, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, entities: Mapping[str, Mapping[str, Values]]) -> Attributes:
        """Return the attributes of some entities; those that are without any value are left out."""
        kept = {name: own for name, own in entities.items() if any(own.values())}
        words = dict.fromkeys(word for own in kept.values() for word, values in own.items() if values)
        same: dict[Values, Values] = {}  # equal lists are one in memory
        columns = {
            word: tuple(same.setdefault(values, values) for values in (own.get(word, ()) for own in kept.values()))
            for word in words
        }
        return cls(tuple(kept), columns)

    def __bool__(self) -> bool:
        return bool(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, entity: str) -> dict[str, Values]:
        """Return what is known of an entity; nothing of one that is not there."""
        row = self._rows.get(entity)
        return {} if row is None else {word: lists[row] for word, lists in self.columns.items() if lists[row]}

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    @property
    def aliases(self) -> dict[str, Values]:
        """The other names of each entity that has some."""
        lists = self.columns.get(ALIASES, ())
        return {name: values for name, values in zip(self.names, lists, strict=False) if values}

    def counts(self, attribute: str, among: Vocabulary) -> dict[str, int]:
        """Return how many entities of a vocabulary have each value of an attribute, the most frequent first."""
        lists = zip(self.names, self.columns.get(attribute, ()), strict=False)
        found = Counter(value for name, values in lists if name in among for value in values)
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))

    def count(self, attribute: str, among: Vocabulary) -> int:
        """Return how many entities of a vocabulary have any value of an attribute."""
        lists = zip(self.names, self.columns[attribute], strict=True)
        return sum(bool(values) and name in among for name, values in lists)

    def having(self, attribute: str, values: Iterable[str], among: Vocabulary) -> NDArray[np.bool_]:
        """Return which entities of a vocabulary have one of some values, (entities,)."""
        wanted = set(values)
        lists = zip(self.names, self.columns[attribute], strict=True)
        ids = among.ids(name for name, own in lists if name in among and not wanted.isdisjoint(own))
        mask = np.zeros(len(among), dtype=bool)
        mask[ids] = True
        return mask

    def attribute(self, word: str) -> str:
        """Return the attribute that is meant: case and a plural do not matter; raise `QuestionError` for another."""
        if not self:
            raise QuestionError(
                f"no entity of this graph has a {word}; put entities.tsv with the columns name and {word} beside the "
                "data, or name such a file with --entities, and train again"
            )
        found = {_singular(one): one for one in reversed(list(self))}.get(_singular(word))
        if found is None:
            near = suggestion(word, self) or f"; there is {', '.join(self)}"
            raise QuestionError(f"unknown attribute {word!r}{near}")
        return found

    def value(self, attribute: str, text: str) -> str:
        """Return the value of an attribute that is meant; raise `QuestionError` with those that there are."""
        known = self._values(attribute)
        if text in known:
            return text
        alike = [one for one in known if fold(one) == fold(text)]
        if len(alike) == 1:
            return alike[0]
        shown = ", ".join(repr(one) for one in (alike or known)[:SHOWN])
        more = f" and {len(known) - SHOWN:,} more" if not alike and len(known) > SHOWN else ""
        near = suggestion(text, known) if more else ""
        raise QuestionError(f"unknown {attribute} {text!r}{near}{'' if near else f'; there is {shown}{more}'}")

    def _values(self, attribute: str) -> list[str]:
        """Return the values of an attribute, the most frequent first."""
        return [value for value, _ in Counter(v for values in self.columns[attribute] for v in values).most_common()]

    def to_arrow(self) -> pa.Table:
        """Return one row for each entity: its name, and a list of values for each attribute."""
        lists = {word: pa.array(map(list, column), pa.list_(pa.string())) for word, column in self.columns.items()}
        return pa.table({NAME: pa.array(self.names, pa.string()), **lists})

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Attributes:
        """Return the attributes that `to_arrow` has made a table of."""
        lists = {word: tuple(map(tuple, table[word].to_pylist())) for word in table.column_names if word != NAME}
        return cls(tuple(table[NAME].to_pylist()), lists)

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return one row for each entity: its name, and a list of values for each attribute."""
        return frame_of(self.to_arrow(), library)

    def fingerprint(self) -> str:
        """Return a sha256 that is equal for equal attributes."""
        content = json.dumps([self.names, dict(self.columns)], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()


def attribute_name(word: str) -> str:
    """Return the name of an attribute that a column gives: as it is written, but for types and aliases."""
    return {"type": TYPE, "aliase": ALIASES}.get(_singular(word), word.strip())


def _singular(word: str) -> str:
    """Return an attribute as it is compared: `Sectors` is `sector`."""
    folded = fold(word).replace(" ", "")
    return {"alias": "aliase", "countries": "country"}.get(folded, folded.removesuffix("s"))


NO_ATTRIBUTES = Attributes()
