"""How long it takes to find names among many: `python -m benchmarks.name_search [NAMES]`."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from foretime.data.name_finder import NameFinder
from foretime.data.vocabulary import Vocabulary

PARTS = ["ka", "lo", "mi", "ne", "ri", "Ta", "vo", "su", "an", "el", "Ör", "çe", "中", "国", "人", "ال", "بي", "🎉"]
SEARCHES = ["kalomi", "lomi kaneri", "中国 بي", "🎉", "ör", "an el", "a", "nobody"]
Result = TypeVar("Result")


def main(count: int = 1_000_000) -> None:
    """Print the processor time of folding, of each search, and of finding the one name that is meant."""
    dice = random.Random(0)
    names = list(dict.fromkeys(f"{word(dice)} {word(dice)} ({word(dice)})" for _ in range(count)))
    finder, weight = NameFinder(Vocabulary("entity", names)), np.random.default_rng(0).integers(0, 1_000, len(names))
    print(f"{len(names):,} names of several scripts, folded once: {timed(finder.prepare)[1]:.1f} s")
    for words in SEARCHES:
        found, seconds = timed(lambda words=words: finder.search(words, weight).rows)
        print(f"{words!r}: {len(found):,} found in {1_000 * seconds:.0f} ms")
    wanted = names[len(names) // 2].upper()
    print(f"the one that is meant by {wanted!r}: {1_000 * timed(lambda: finder.resolve(wanted))[1]:.0f} ms")


def word(dice: random.Random) -> str:
    """Return two to four parts of words."""
    return "".join(dice.choice(PARTS) for _ in range(dice.randint(2, 4)))


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a function returns, and the seconds of processor time that it took."""
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
