"""Words that all explanations share: names that are safe in any script, counts, and times as people say them."""

from __future__ import annotations

import re
import unicodedata

ISOLATE, END_ISOLATE = "\u2068", "\u2069"
"""What stands around a name that is written from right to left, so that it cannot reorder the words beside it."""
_RIGHT_TO_LEFT = ("R", "AL", "AN", "RLE", "RLO", "LRE", "LRO", "RLI", "LRI", "FSI")
_ISOLATES = re.compile("[\u2066-\u2069]")
_NUMBERS = ("no", "a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_AN = ("hour",)
_DAYS_IN_MONTH, _DAYS_IN_YEAR = 30.44, 365.25


def isolated(name: str) -> str:
    """Return a name for a sentence: isolated if anything in it is written from right to left."""
    if name.isascii() or all(unicodedata.bidirectional(letter) not in _RIGHT_TO_LEFT for letter in name):
        return name
    return f"{ISOLATE}{_ISOLATES.sub('', name)}{END_ISOLATE}"


def times_words(count: int) -> str:
    """Return how often: `once`, `twice`, `37 times`."""
    return ("once", "twice")[count - 1] if 1 <= count <= 2 else f"{count:,} times"


def span_words(steps: int, unit: str) -> str:
    """Return a number of steps as people say it: `a day`, `two weeks`, `about three months`, `19 days`."""
    if unit == "day" and steps >= 26:
        years = round(steps / _DAYS_IN_YEAR)
        months = round(steps / _DAYS_IN_MONTH)
        return f"about {_number(months, 'month') if months < 12 else _number(max(years, 1), 'year')}"
    if unit == "day" and steps in (7, 14, 21):
        return _number(steps // 7, "week")
    return _number(steps, unit)


def when_words(distance: int, unit: str) -> str:
    """Return where an event lies from the time asked about: `the same day`, `a week before`, `three days later`."""
    if distance == 0:
        return f"the same {unit}"
    return f"{span_words(abs(distance), unit)} {'before' if distance < 0 else 'later'}"


def listed(clauses: list[str]) -> str:
    """Return clauses as one: `a`, `a and b`, `a, b and c`."""
    return clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])} and {clauses[-1]}"


def _number(count: int, noun: str) -> str:
    article = "an" if count == 1 and noun in _AN else None
    word = article or (_NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}")
    return f"{word} {noun}{'' if count == 1 else 's'}"
