"""How a table was laid out, in words: what was guessed, for `data describe`."""

from __future__ import annotations

from collections.abc import Sequence

from foretime.config import DataConfig
from foretime.data.columns import Positions

WORDS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}


def column_note(config: DataConfig, header: Sequence[str] | None, positions: Positions, named: bool) -> list[str]:
    """Return how the columns were found, nothing if somebody has said which is which."""
    if config.columns:
        return []
    if not named or header is None:
        return [f"columns in the order {', '.join(positions)}"]
    listed = ", ".join(role if header[i] == role else f"{role} from {header[i]!r}" for role, i in positions.items())
    return [f"columns by their names: {listed}"]


def text_note(config: DataConfig, delimiter: str, header: bool) -> list[str]:
    """Return what was seen from the first row of a text file."""
    seen = [] if config.delimiter else [f"{WORDS.get(delimiter, repr(delimiter))}-separated"]
    seen += [] if config.header is not None else ["the first row is a header" if header else "no header"]
    return [", ".join(seen)] if seen else []
