"""The journal of a search: what Optuna knows, as lines of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from foretime.errors import RunError
from foretime.files import write_bytes

STUDY = "foretime"
SHOWN = 80
"""How much of a damaged line is shown, in characters."""


class CountedLines:
    """The backend of a journal that knows at which line its reader is."""

    def __init__(self, backend: Any) -> None:
        self.line = 1
        self._backend = backend

    def read_logs(self, start: int) -> Iterator[Any]:
        """Return what stands in the lines from `start`, which counts from 0."""
        self.line = start + 1
        for log in self._backend.read_logs(start):
            yield log
            self.line += 1  # only now: until it asks for the next one, the reader is at this line

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Add lines."""
        self._backend.append_logs(logs)


def load_study(journal: Path) -> Any:
    """Return the study in a journal, without the half of a line that a power cut may have left at its end."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    content = journal.read_bytes() if journal.exists() else b""
    if not content.endswith(b"\n") and content:
        write_bytes(journal, content[: content.rfind(b"\n") + 1])
    lines: Any = CountedLines(JournalFileBackend(str(journal)))
    try:
        return optuna.create_study(
            storage=JournalStorage(lines), study_name=STUDY, direction="maximize", load_if_exists=True
        )
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError):
        # Optuna trusts every line; what it says of a wrong one is about its own code
        raise RunError(
            f"{journal}: damaged journal (line {lines.line}: {_shown(content, lines.line)}); "
            "restore the file, or name another --out"
        ) from None


def _shown(content: bytes, line: int) -> str:
    """Return a line, from 1, as it is shown in a message."""
    text = b"".join(content.split(b"\n")[line - 1 : line]).decode(errors="replace")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
