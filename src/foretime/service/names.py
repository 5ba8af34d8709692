"""Names found by what people type: by words or parts of words, ignoring case and accents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foretime.data.name_finder import NameFinder
from foretime.errors import QuestionError
from foretime.service.models import NameOut, ResponseBody
from foretime.service.problems import unanswerable

Ints = NDArray[np.int64]
_LENGTH = 100
"""Characters of an unknown name that are compared."""


class FoundNameOut(NameOut):
    """A name that was found, and the alias by which it was, if it was one."""

    alias: str | None = None


class NamesOut(ResponseBody):
    """A page of names; `total` counts all that match."""

    total: int
    names: list[FoundNameOut]


class NameIndex:
    """Finds names of a vocabulary; `facts` is how many facts have each."""

    def __init__(self, finder: NameFinder, facts: Ints) -> None:
        self._finder, self._facts = finder.prepare(), facts

    def __contains__(self, name: str) -> bool:
        return name in self._finder.vocabulary

    def id(self, name: str, suggest: bool = True) -> int:
        """Return the id of the name that is meant; without one, or with several, it is a problem."""
        try:
            return self._finder.id(name if name in self else name[:_LENGTH], suggest)
        except QuestionError as error:
            raise unanswerable(error) from None

    def search(self, words: str, limit: int, offset: int = 0) -> NamesOut:
        """Return the names with some words or parts of words, best first, among equals the most frequent."""
        found = self._finder.search(words, self._facts)
        name = self._finder.vocabulary.name
        page = [
            FoundNameOut(name=name(hit.id), facts=int(self._facts[hit.id]), alias=hit.alias)
            for hit in found.page(limit, offset)
        ]
        return NamesOut(total=len(found.rows), names=page)
