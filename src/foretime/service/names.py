"""Names found by prefix: of the whole name or of a word in it, ignoring case and accents."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from foretime.data.vocabulary import Vocabulary
from foretime.errors import suggestion
from foretime.service.models import NameOut, ResponseBody
from foretime.service.problems import unanswerable

Ints = NDArray[np.int64]
_WORD = re.compile(r"\w+")
_BEGINNING, _WORDS, _NEAR, _LENGTH = 3, 5, 200, 100
"""How unknown names are compared: with names that have a word which begins alike, so many of them, so far."""


def fold(text: str) -> str:
    """Return a text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign)).casefold()


class NamesOut(ResponseBody):
    """A page of names; `total` counts all that match."""

    total: int
    names: list[NameOut]


class _Keys:
    """Sorted texts with the ids that they belong to."""

    def __init__(self, pairs: list[tuple[str, int]]) -> None:
        pairs.sort()
        self._texts = [text for text, _ in pairs]
        self._ids = np.array([i for _, i in pairs], dtype=np.int64)

    def beginning_with(self, prefix: str) -> Ints:
        """Return the ids of the texts that begin with a prefix."""
        first = bisect_left(self._texts, prefix)
        last = bisect_left(self._texts, True, lo=first, key=lambda text: not text.startswith(prefix))
        return np.unique(self._ids[first:last])


class NameIndex:
    """Finds names of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary, facts: Ints) -> None:
        self._vocabulary, self._facts = vocabulary, facts
        folded = [fold(name) for name in vocabulary.names]
        self._whole = _Keys([(name, i) for i, name in enumerate(folded)])
        self._words = _Keys(
            [(name[word.start() :], i) for i, name in enumerate(folded) for word in _WORD.finditer(name)]
        )

    def __contains__(self, name: str) -> bool:
        return name in self._vocabulary

    def id(self, name: str, suggest: bool = True) -> int:
        """Return the id of a name; an unknown one is a problem that suggests the nearest names."""
        if name not in self:
            near = self.suggest(name) if suggest else ""
            raise unanswerable(f"unknown {self._vocabulary.kind} {name!r}{near}")
        return self._vocabulary.id(name)

    def search(self, prefix: str, limit: int, offset: int = 0) -> NamesOut:
        """Return the names that begin with a prefix, then those with a word that does, the most frequent first."""
        wanted = fold(prefix).strip()
        whole = self._whole.beginning_with(wanted)
        words = np.setdiff1d(self._words.beginning_with(wanted), whole, assume_unique=True)
        ids = np.concatenate([self._by_facts(whole), self._by_facts(words)])
        page = ids[offset : offset + limit].tolist()
        found = [NameOut(name=self._vocabulary.name(i), facts=int(self._facts[i])) for i in page]
        return NamesOut(total=len(ids), names=found)

    def suggest(self, name: str) -> str:
        """Return `; did you mean …?` with names that are spelt alike; the work does not grow with the vocabulary."""
        words = [word.group() for word in _WORD.finditer(fold(name[:_LENGTH]))][:_WORDS]
        near: dict[str, None] = {}
        for word in words:
            near.update(dict.fromkeys(found.name for found in self.search(word[:_BEGINNING], _NEAR).names))
        return suggestion(name[:_LENGTH], near)

    def _by_facts(self, ids: Ints) -> Ints:
        return ids[np.argsort(-self._facts[ids], kind="stable")]
