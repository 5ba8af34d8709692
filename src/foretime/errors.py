"""What can go wrong, in one tree.

Every error that a user can cause is a `ForetimeError` whose message says what is wrong, where, and what to do.
The command line prints the message and exits with 2; anything else is a bug and keeps its traceback. `Interrupted` is
no error but a stop that was asked for, and exits with 130.

    ForetimeError
    ├── DataError       a file, a row, a time, a split
    ├── DownloadError   a public data set that could not be fetched
    ├── ConfigError     a configuration key or value
    ├── RunError        a run folder that is missing, unfinished, damaged or held
    ├── QuestionError   a question with an unknown name, a time out of range, or nothing left open
    └── Interrupted     Ctrl-C, and how to go on
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

NO_MEMORY: Final = "there is not enough memory; give less at once, or more memory"
NESTED: Final = "it is nested too deeply; is it the right one?"


class ForetimeError(Exception):
    """Anything that a user can cause and fix."""


class DataError(ForetimeError):
    """A file, a row, a time or a split is not as it should be."""


class DownloadError(ForetimeError):
    """A public data set could not be fetched."""


class ConfigError(ForetimeError):
    """A configuration has an unknown key or an impossible value."""


class RunError(ForetimeError):
    """A run folder is missing, unfinished, damaged, or held by a process that trains in it."""


class QuestionError(ForetimeError):
    """A question cannot be answered as it was put."""


class Interrupted(ForetimeError):  # noqa: N818, not an error of the user
    """Work was asked to stop; a training has saved its state."""


@contextmanager
def told_as(kind: type[ForetimeError], place: object) -> Iterator[None]:
    """Raise what Python raises within, where something given is too large or broken, as an error of a kind."""
    try:
        yield
    except MemoryError:
        raise kind(f"{place}: {NO_MEMORY}") from None
    except RecursionError:
        raise kind(f"{place}: {NESTED}") from None
    except UnicodeError as error:
        raise kind(f"{place}: text that is not valid UTF-8 ({error}); save it as UTF-8") from None
    except StopIteration:
        raise kind(f"{place}: it ends before anything is in it; is it whole?") from None
    except OSError as error:
        raise kind(f"{place}: cannot be read: {error}; is it there, and may you read it?") from None


def nearest_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return up to `count` of the known names that are spelt most like `name`, best first.

    Case does not matter, and a name that contains the whole of what was typed counts as near.
    """
    names = list(known)
    folded: dict[str, str] = {}
    for candidate in names:
        folded.setdefault(candidate.casefold(), candidate)
    wanted = name.casefold().strip()
    spelt = difflib.get_close_matches(wanted, folded, n=count, cutoff=0.6)
    contained = [key for key in folded if wanted and wanted in key]
    contained.sort(key=len)
    ordered = list(dict.fromkeys([*spelt[:1], *contained[:count], *spelt]))
    return [folded[key] for key in ordered[:count]]


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean A, B or C?` for the nearest known names, or an empty string."""
    near = nearest_names(name, known)
    if not near:
        return ""
    if len(near) == 1:
        return f"; did you mean {near[0]!r}?"
    return f"; did you mean {', '.join(repr(n) for n in near[:-1])} or {near[-1]!r}?"
