"""Names found by what people type: the one that is meant, or all that have some words or parts of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foretime.data.facts import Ids
from foretime.data.spelling import fold
from foretime.data.vocabulary import Vocabulary
from foretime.errors import QuestionError, suggestion

LISTED = 10
"""Names that an error lists where several may be meant."""
COMPARED = 2_000
"""Names at the most that an unknown one is compared with, letter by letter, in a large vocabulary."""
_BEGIN = "\x1f"
"""What marks the beginning of a word."""
_WORD_BEGIN = r"(^|[^\pL\pN\pM])([\pL\pN])"


class TakenName(NamedTuple):
    """A name that was asked for, and the one that was taken for it."""

    given: str
    name: str
    alias: bool

    def __str__(self) -> str:
        return f"{self.given!r} is taken for {self.name!r}{', of which it is an alias' if self.alias else ''}"


class Hit(NamedTuple):
    """A name that a search has found; with an alias, if that is what was found."""

    id: int
    alias: str | None


class Hits(NamedTuple):
    """What a search has found, best first."""

    finder: NameFinder
    rows: Ids

    def page(self, limit: int, offset: int = 0) -> list[Hit]:
        """Return some of them."""
        return [self.finder.hit(row) for row in self.rows[offset : offset + limit].tolist()]


class NameFinder:
    """Finds the names of a vocabulary; `aliases` are other names of some of them.

    A search reads all folded names as one Arrow array, which takes a few hundredths of a second for a million names,
    so no index of the parts of words is kept.
    """

    def __init__(self, vocabulary: Vocabulary, aliases: Mapping[str, Sequence[str]] | None = None) -> None:
        self.vocabulary = vocabulary
        given = aliases or {}
        pairs = [(i, alias) for i, name in enumerate(vocabulary.names) if given for alias in given.get(name, ())]
        self._aliases = [alias for _, alias in pairs]
        self._owner = np.append(np.arange(len(vocabulary)), np.array([i for i, _ in pairs], dtype=np.int64))

    def prepare(self) -> NameFinder:
        """Return the finder with everything folded, which is otherwise done when it is first needed."""
        _ = self._marked
        return self

    def resolve(self, name: str, suggest: bool = True) -> TakenName | None:
        """Return the one name that is meant where the vocabulary has not the very name; None where it has it.

        Raises `QuestionError` if several may be meant, or none; it suggests others, which takes a while, if it may.
        """
        if name in self.vocabulary:
            return None
        wanted = fold(name)
        rows = _places(pc.equal(self._folded, wanted)).tolist() if wanted else []
        names = dict.fromkeys(self.vocabulary.name(int(self._owner[row])) for row in rows)
        if len(names) == 1:
            is_alias = all(row >= len(self.vocabulary) for row in rows)
            return TakenName(name, next(iter(names)), is_alias)
        kind = self.vocabulary.kind
        if names:
            shown = ", ".join(repr(one) for one in list(names)[:LISTED])
            more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
            raise QuestionError(f"{kind} {name!r} may be any of {shown}{more}; write the one that you mean")
        raise QuestionError(f"unknown {kind} {name!r}{self.suggest(name) if suggest else ''}")

    def id(self, name: str, suggest: bool = True) -> int:
        """Return the id of the one name that is meant; the errors are those of `resolve`."""
        taken = self.resolve(name, suggest)
        return self.vocabulary.id(name if taken is None else taken.name)

    def alike(self, names: Sequence[str]) -> dict[str, str]:
        """Return for each name that differs from a name here only in its spelling, or is an alias of one, that name."""
        folded = [fold(name) for name in names]
        rows = pc.index_in(pa.array(folded, pa.large_string()), self._folded).to_pylist()
        owners = {name: row for name, text, row in zip(names, folded, rows, strict=True) if text and row is not None}
        return {name: self.vocabulary.name(int(self._owner[row])) for name, row in owners.items()}

    def suggest(self, name: str) -> str:
        """Return `; did you mean …?` with names and aliases that are spelt alike.

        In a large vocabulary these are sought among the names with a word that begins alike, or not at all.
        """
        if len(self._owner) <= COMPARED:
            return suggestion(name, dict.fromkeys([*self.vocabulary.names, *self._aliases]))
        begins = [_BEGIN + word[:3] for word in fold(name).split()[:5]]
        rows = np.concatenate([_having(self._marked, begin)[:COMPARED] for begin in begins] or [self._owner[:0]])
        return suggestion(name, dict.fromkeys(self._text(row) for row in rows[:COMPARED].tolist()))

    def search(self, wanted: str, weight: Ids) -> Hits:
        """Return the names with all the words, or parts of words, that are wanted, in any order; best first.

        Best is the whole name, then its beginning, then beginnings of words, then parts of them; among equals the
        names with the greatest weight, (names,). Without any word, all names are returned.
        """
        words = fold(wanted).split()
        rows = np.arange(len(self._owner) if words else len(self.vocabulary))
        worth = np.zeros(len(rows), dtype=np.int64)
        if words:
            texts = self._folded
            for word in sorted(words, key=len, reverse=True):  # the longest leaves fewest for the others
                kept = _having(texts, word)
                rows, texts = rows[kept], texts.take(pa.array(kept))
            worth = _worth(texts, self._marked.take(pa.array(rows)), words)
        owner, most = self._owner[rows], int(weight.max(initial=0))
        order = np.argsort(worth * (most + 1) + most - weight[owner], kind="stable")
        if self._aliases:  # a name that is found by an alias too is there once, as it is found best
            order = order[np.sort(np.unique(owner[order], return_index=True)[1])]
        return Hits(self, rows[order])

    def hit(self, row: int) -> Hit:
        """Return what stands in a row of names and aliases."""
        names = len(self.vocabulary)
        return Hit(int(self._owner[row]), self._aliases[row - names] if row >= names else None)

    def _text(self, row: int) -> str:
        names = len(self.vocabulary)
        return self.vocabulary.name(row) if row < names else self._aliases[row - names]

    @cached_property
    def _folded(self) -> pa.Array:
        """The folded names, then the folded aliases."""
        return pa.array([fold(text) for text in (*self.vocabulary.names, *self._aliases)], pa.large_string())

    @cached_property
    def _marked(self) -> pa.Array:
        """The folded texts with a mark at the beginning of every word."""
        return pc.replace_substring_regex(self._folded, _WORD_BEGIN, rf"\1{_BEGIN}\2")


def _having(texts: pa.Array, part: str) -> Ids:
    """Return the places of the texts that have a part."""
    return _places(pc.match_substring(texts, part))


def _places(mask: pa.Array) -> Ids:
    """Return where a mask holds."""
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _worth(texts: pa.Array, marked: pa.Array, words: list[str]) -> Ids:
    """Return how well texts match, (texts,): 0 the whole, 1 its beginning, 2 beginnings of words, 3 parts of them."""
    whole = " ".join(words)
    worth = np.full(len(texts), 3)
    begins = np.ones(len(texts), dtype=bool)
    for word in words:
        begins &= pc.match_substring(marked, _BEGIN + word).to_numpy(zero_copy_only=False)
    worth[begins] = 2
    worth[pc.starts_with(texts, whole).to_numpy(zero_copy_only=False)] = 1
    worth[pc.equal(texts, whole).to_numpy(zero_copy_only=False)] = 0
    return worth
