"""The features that a re-ranker is fitted on, on the disk: they may be many times what memory holds."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from weakref import finalize

import numpy as np

from foretime.files import named_errors
from foretime.reranker.features.extractor import Features


class FeatureFile:
    """Rows of features in a file without a name, which goes when nothing holds it any more, or with the process."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._width, self._rows = folder, 0, 0
        with named_errors(folder):
            self._file = TemporaryFile(dir=folder, prefix="features-")  # noqa: SIM115, it is open as long as this is
        finalize(self, self._file.close)

    def append(self, features: Features) -> None:
        """Write rows behind the others, (rows, features)."""
        with named_errors(self._folder):
            self._file.seek(0, 2)
            self._file.write(np.ascontiguousarray(features, dtype=np.float32).data)
        self._rows, self._width = self._rows + len(features), features.shape[1]

    def __len__(self) -> int:
        return self._rows

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows there are, and how many features each has."""
        return self._rows, self._width

    def __getitem__(self, rows: int | slice) -> Features:
        """Return a row, (features,), or consecutive rows, (rows, features)."""
        first, last, _ = rows.indices(self._rows) if isinstance(rows, slice) else (rows, rows + 1, 1)
        found = np.empty((max(0, last - first), self._width), dtype=np.float32)
        with named_errors(self._folder):
            self._file.flush()  # a full disk may show only now
            self._file.seek(first * self._width * found.itemsize)
            if self._file.readinto(found.data) != found.nbytes:
                raise OSError("the features that were written can no longer be read")
        return found if isinstance(rows, slice) else found[0]
