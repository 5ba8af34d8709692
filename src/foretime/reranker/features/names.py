"""What the names of entities say: words that two names share, and words that a predicate's objects tend to have.

"Police (India)" and "Citizen (India)" have never met, yet their names say that they may.
"""

from __future__ import annotations

import re
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
    found: list[list[int]] = []
    for entity in range(len(entities)):
        distinct = dict.fromkeys(_WORD.findall(entities.name(entity).casefold()))
        found.append([words.setdefault(word, len(words)) for word in distinct])
    size = np.array([len(row) for row in found], dtype=np.int64)
    of = np.append(0, np.cumsum(size))
    word = np.array([w for row in found for w in row], dtype=np.int64)
    entities_with = np.bincount(word, minlength=len(words))
    events = facts.with_inverses(predicates).events()
    row = np.repeat(np.arange(len(events.object)), size[events.object])
    place = np.arange(len(row)) - np.repeat(np.cumsum(size[events.object]) - size[events.object], size[events.object])
    key = events.predicate[row] * max(len(words), 1) + word[of[events.object[row]] + place]
    keys, count = np.unique(key, return_counts=True)
    return NameWords(
        of=of,
        word=word.astype(np.int32),
        rarity=np.log(len(entities) / np.maximum(entities_with, 1)).astype(np.float32),
        by_predicate=offsets_of(keys // max(len(words), 1), 2 * predicates),
        by_predicate_word=(keys % max(len(words), 1)).astype(np.int32),
        by_predicate_count=count.astype(np.int32),
    )
