"""Names that people know, one for each id, and never the same for two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from unicodedata import normalize
from urllib.parse import unquote


def written_once(label: str) -> str:
    """Return a label as every importer writes names: blanks at its ends gone, runs of them one, accents composed."""
    return normalize("NFC", " ".join(label.split()))


def unique_names(labels: Mapping[str, str], short: Callable[[str], str] = str) -> dict[str, str]:
    """Return a name for each id: its label, or its short form where the label is missing (empty).

    Where two would have the same name, both carry their short form, as in `Springfield (Q28515)`; where that does not
    tell them apart either, they are named by the id itself.
    """
    plain = {key: written_once(label) or short(key) for key, label in labels.items()}
    marked = _replace_repeated(plain, lambda key: _marked(plain[key], short(key), key))
    return _replace_repeated(marked, lambda key: key)


def _marked(name: str, short: str, key: str) -> str:
    return key if name == short else f"{name} ({short})"


def _replace_repeated(names: Mapping[str, str], other: Callable[[str], str]) -> dict[str, str]:
    counts = Counter(names.values())
    return {key: other(key) if counts[name] > 1 else name for key, name in names.items()}


def local_name(iri: str) -> str:
    """Return the last part of an IRI with its escapes undone, or all of it if there is no such part."""
    trimmed = iri.rstrip("/#")
    marks = "#/" if "/" in trimmed or "#" in trimmed else ":"
    return unquote(min((trimmed.rpartition(mark)[2] for mark in marks), key=len)) or iri
