"""Invented names that can be pronounced, each given once."""

from __future__ import annotations

import numpy as np

from foretime.data.synthetic.schema import PER_STATE

CONSONANTS = "bdfgklmnprstvz"
VOWELS = "aeiou"
# A word is one consonant and one vowel after the other, so different numbers are always different words.
SYLLABLES = tuple(consonant + vowel for consonant in CONSONANTS for vowel in VOWELS)

STATE_ENDINGS = ("ia", "or", "and", "estan")
ENDINGS: dict[str, tuple[str, ...]] = {
    "party": (" Party", " Alliance", " Movement"),
    "armed group": (" Front", " Brigade", " Militia"),
    "company": (" Industries", " Motors", " Energy"),
    "city": ("burg", "ton", "port"),
    "organisation": (" League", " Council", " Union"),
}
CITIZENS = ("Citizen", "Student", "Worker")


def invent_words(count: int, syllables: int, rng: np.random.Generator) -> list[str]:
    """Return `count` different words of so many syllables, with a capital."""
    base = len(SYLLABLES)
    numbers = rng.choice(base**syllables, size=count, replace=False)
    digits = numbers[:, None] // base ** np.arange(syllables) % base  # (count, syllables)
    return ["".join(SYLLABLES[digit] for digit in row).capitalize() for row in digits.tolist()]


def name_states(count: int, rng: np.random.Generator) -> list[str]:
    """Return the names of the states."""
    last = rng.choice(list(CONSONANTS), size=count).tolist()
    ending = rng.choice(STATE_ENDINGS, size=count).tolist()
    return [w + c + e for w, c, e in zip(invent_words(count, 2, rng), last, ending, strict=True)]


def name_people(count: int, syllables: int, rng: np.random.Generator) -> list[str]:
    """Return given names with surnames of so many syllables; no two surnames are the same."""
    given = invent_words(min(count, 200), 2, rng)
    chosen = rng.integers(len(given), size=count).tolist()
    return [f"{given[i]} {surname}" for i, surname in zip(chosen, invent_words(count, syllables, rng), strict=True)]


def name_type(kind: str, states: list[str], rng: np.random.Generator) -> list[str]:
    """Return the names of all entities of a type, state by state; one organisation for four states."""
    count = len(states) // 4 if kind == "organisation" else len(states) * PER_STATE[kind]
    match kind:
        case "state":
            return states
        case "police":
            return [f"Police ({state})" for state in states]
        case "citizens":
            return [f"{group} ({state})" for state in states for group in CITIZENS]
        case "head of state":
            return name_people(count, 2, rng)
        case "minister":
            return name_people(count, 3, rng)
    ending = rng.choice(ENDINGS[kind], size=count).tolist()
    return [word + end for word, end in zip(invent_words(count, 3, rng), ending, strict=True)]
