"""Names and their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from foretime.errors import QuestionError, suggestion


class Vocabulary:
    """An ordered set of names: id → name and name → id. Names are kept exactly as they were read."""

    def __init__(self, kind: str, names: Iterable[str]) -> None:
        self.kind = kind
        self.names: Sequence[str] = tuple(names)

    @classmethod
    def saved(cls, kind: str, names: Any) -> Vocabulary:
        """Return the vocabulary of names that were saved; anything but a list of different texts is a `ValueError`."""
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"a name of a {kind} is not text")
        found = cls(kind, names)
        if len(found._ids) != len(found):
            raise ValueError(f"a name of a {kind} occurs twice")
        return found

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: str) -> bool:
        return name in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and (self.kind, self.names) == (other.kind, other.names)

    def __hash__(self) -> int:
        return hash((self.kind, self.names))

    def __repr__(self) -> str:
        return f"Vocabulary({self.kind!r}, {len(self)} names)"

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def name(self, i: int) -> str:
        """Return the name of an id."""
        return self.names[i]

    def id(self, name: str) -> int:
        """Return the id of a name; a name that is not there is an error with the nearest ones."""
        found = self._ids.get(name)
        if found is None:
            raise QuestionError(f"unknown {self.kind} {name!r}{suggestion(name, self.names)}")
        return found

    def ids(self, names: Iterable[str]) -> list[int]:
        """Return the ids of names that are all there."""
        return [self._ids[name] for name in names]
