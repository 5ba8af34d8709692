"""What the names of entities say: words that two names share, and words that a predicate's objects tend to have.

"Police (India)" and "Citizen (India)" have never met, yet their names say that they may.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foretime.data.facts import Facts
from foretime.data.vocabulary import Vocabulary
from foretime.evidence.events import Ints, Offsets, offsets_of

_WORD = re.compile(r"\w+")


class NameWords(NamedTuple):
    """The words of names: entity e has the words `of[e] … of[e+1]`.

    `rarity` is the logarithm of how few entities have a word. Predicate p has the words `by_predicate[p] …`
    among its objects, sorted, each with the number of its events.
    """

    of: Offsets
    word: Ints
    rarity: NDArray[np.float32]
    by_predicate: Offsets
    by_predicate_word: Ints
    by_predicate_count: Ints


def name_words(entities: Vocabulary, facts: Facts, predicates: int) -> NameWords:
    """Return the words of all names, and how often they stand among the objects of each predicate."""
    words: dict[str, int] = {}
    found = [[words.setdefault(word, len(words)) for word in _words(name)] for name in entities.names]
    of = np.append(0, np.cumsum(np.array([len(row) for row in found], dtype=np.int64)))
    word = np.array([w for row in found for w in row], dtype=np.int32)
    entities_with = np.bincount(word, minlength=len(words))
    rarity = np.log(len(entities) / np.maximum(entities_with, 1)).astype(np.float32)
    empty = np.empty(0, dtype=np.int32)
    names = NameWords(of, word, rarity, np.zeros(2 * predicates + 1, dtype=np.int64), empty, empty)
    return _with_counts(names, *_count_words(names, facts, predicates))


@lru_cache(1 << 17)
def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name, each once; those of many names are kept, for graphs that grow."""
    return tuple(dict.fromkeys(_WORD.findall(name.casefold())))


def distinct_words(entities: Vocabulary) -> list[str]:
    """Return the words of all names in the order in which `name_words` numbers them."""
    return list(dict.fromkeys(word for name in entities.names for word in _words(name)))


def grown_words(names: NameWords, more: NameWords, facts: Facts) -> NameWords:
    """Return the words of a graph that has grown: `more` are those of its names, and `facts` what was added.

    `more` has no counts yet: they are those of `names`, and those of the facts.
    """
    before, after = len(names.by_predicate) // 2, len(more.by_predicate) // 2
    predicate = np.repeat(np.arange(2 * before), np.diff(names.by_predicate))
    predicate[predicate >= before] += after - before
    old = predicate * _width(more) + names.by_predicate_word
    new, count = _count_words(more, facts, after)
    keys, place = np.unique(np.concatenate([old, new]), return_inverse=True)
    both = np.concatenate([names.by_predicate_count, count])
    return _with_counts(more, keys, np.bincount(place, weights=both, minlength=len(keys)).astype(np.int32))


def without_facts(names: NameWords, facts: Facts) -> NameWords:
    """Return the words of names without some of the facts that they were counted in."""
    predicates = len(names.by_predicate) // 2
    all_keys = np.repeat(np.arange(2 * predicates), np.diff(names.by_predicate)) * _width(names)
    all_keys += names.by_predicate_word
    keys, count = _count_words(names, facts, predicates)
    left = names.by_predicate_count.copy()
    left[np.searchsorted(all_keys, keys)] -= count.astype(np.int32)
    return _with_counts(names, all_keys[left > 0], left[left > 0])


def _width(names: NameWords) -> int:
    return max(len(names.rarity), 1)


def _count_words(names: NameWords, facts: Facts, predicates: int) -> tuple[Offsets, Offsets]:
    """Return each predicate and word of its objects as one number, sorted, and the events that have both."""
    events, size = facts.with_inverses(predicates).events(), np.diff(names.of)
    count = size[events.object]
    row = np.repeat(np.arange(len(events.object)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    word = names.word[names.of[events.object[row]] + place]
    return np.unique(events.predicate[row] * _width(names) + word, return_counts=True)


def _with_counts(names: NameWords, keys: Offsets, count: Ints | Offsets) -> NameWords:
    predicate, word = np.divmod(keys, _width(names))
    return names._replace(
        by_predicate=offsets_of(predicate, len(names.by_predicate) - 1),
        by_predicate_word=word.astype(np.int32),
        by_predicate_count=count.astype(np.int32),
    )
