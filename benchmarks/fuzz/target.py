"""What is fuzzed: a reader, the samples that fuzzing begins with, and how many of the inputs are its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

Reader = Callable[[bytes, Path], None]
"""Reads an input, in a folder of its own; it may raise errors of this library, and no others."""


class Target(NamedTuple):
    """One reader."""

    name: str
    seeds: tuple[bytes, ...]
    read: Reader
    share: int = 1
    """How many times as many inputs as the others it has: those that are quick have more."""


def by_first_byte(readers: list[Reader]) -> Reader:
    """Return a reader whose first byte chooses one of several for the rest."""

    def read(content: bytes, folder: Path) -> None:
        if content:
            readers[content[0] % len(readers)](content[1:], folder)

    return read


def chosen(samples: list[list[bytes]]) -> tuple[bytes, ...]:
    """Return the samples for each of several readers, with the byte that chooses it."""
    return tuple(bytes([number]) + sample for number, own in enumerate(samples) for sample in own)
