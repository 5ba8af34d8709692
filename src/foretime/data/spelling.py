"""Names as people type them: compared without case, accents, Unicode forms and white space."""

from __future__ import annotations

import unicodedata

_FIRST_ACCENT = 10
"""The least combining class that is dropped: marks below it are no accents but belong to the letters of a script."""
_VARIANTS = range(0xFE00, 0xFE10)
"""Signs that choose how the one before them is drawn, as an emoji or as text."""
_WITHOUT_STROKES = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
"""Letters that Unicode does not take apart."""


_NOTHING = ("Cf", "Cs")
"""Signs without a width, and halves of signs, which no text can hold."""


def fold(text: str) -> str:
    """Return a text as it is compared: equal for texts that differ only in case, accents, Unicode form or white space.

    Signs without a width are left out, and an underscore is white space.

    >>> fold("  Côte_d’Ivoire "), fold("ＳＴＲＡＳＳＥ") == fold("Straße")
    ('cote d’ivoire', True)
    """
    if text.isascii():
        return " ".join(text.lower().replace("_", " ").split())
    kept = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    # a sign without a width may have stood between two halves of a letter
    return " ".join(unicodedata.normalize("NFC", kept).split())


class _FoldedSigns(dict[int, str]):
    """What each sign becomes, worked out when it is first met: `str.translate` is much faster than a loop."""

    def __missing__(self, code: int) -> str:
        apart = unicodedata.normalize("NFKD", chr(code).casefold())
        kept = "".join(_WITHOUT_STROKES.get(sign, sign) for sign in apart if _is_kept(sign))
        self[code] = folded = unicodedata.normalize("NFC", kept.casefold()).replace("_", " ")
        return folded


def _is_kept(sign: str) -> bool:
    """Return whether a sign says more than how another one is written."""
    if unicodedata.combining(sign) >= _FIRST_ACCENT or ord(sign) in _VARIANTS:
        return False
    return unicodedata.category(sign) not in _NOTHING


_SIGNS = _FoldedSigns()
