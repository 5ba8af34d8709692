"""How deeply triples stand within triples: a parser that calls itself for each would end the process."""

from __future__ import annotations

from typing import BinaryIO

from foretime.errors import DataError

MOST_NESTED = 100
"""Triples within each other; a statement about a statement about a statement has two."""
TOO_DEEP = f"more than {MOST_NESTED} triples stand within each other"
_OPEN, _CLOSE = b"<<(", b")>>"


def is_too_deep(text: bytes) -> bool:
    """Return whether more triples may be open in a text than a parser is given."""
    return text.count(_OPEN) > MOST_NESTED and any(part.count(_OPEN) > MOST_NESTED for part in text.split(_CLOSE))


class ShallowStream:
    """A stream of RDF, as a parser reads it; one in which too many triples may be open is a `DataError`.

    A triple is one term of another at most: those within each other begin one after the other, and only then end.
    """

    def __init__(self, stream: BinaryIO, place: str) -> None:
        self._stream, self._place = stream, place
        self._open, self._tail = 0, b""

    def read(self, size: int = -1) -> bytes:
        """Return what comes next."""
        content = self._stream.read(size)
        first, *others = (self._tail + content).split(_CLOSE)
        counts = [self._open + first.count(_OPEN), *(part.count(_OPEN) for part in others)]
        if max(counts) > MOST_NESTED:
            raise DataError(f"{self._place}: {TOO_DEEP}; is it the right file?")
        self._open, self._tail = counts[-1], (self._tail + content)[-2:]  # half of a mark may stand at the end
        return content
