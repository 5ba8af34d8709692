"""Features as LightGBM reads them: a batch at a time, so that it holds nothing but what it has binned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from foretime.reranker.feature_file import FeatureFile
from foretime.reranker.features.extractor import Features


class StreamedFeatures(lightgbm.Sequence):
    """Rows of features, in memory or in a file, with the interface that LightGBM asks for."""

    batch_size = 4096

    def __init__(self, rows: Features | FeatureFile) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: Any) -> NDArray[np.float64]:
        """Return a row, or the rows of a slice; LightGBM samples nothing but 64 bits."""
        return self._rows[rows].astype(np.float64)


class StreamedDataset(lightgbm.Dataset):
    """What trees are fitted on, from parts that are streamed: they are the same as from the same rows as one array.

    LightGBM finds the bins of streamed data without the settings of the trees, of which it uses two: by the seed it
    draws the rows that it looks at, and it leaves out features that no leaf of the least size can be cut by.
    """

    def __init__(self, parts: Iterable[Features | FeatureFile], **rest: Any) -> None:
        super().__init__([StreamedFeatures(part) for part in parts], **rest)

    def get_params(self) -> dict[str, Any]:
        """Return all settings, not only those that LightGBM knows as settings of data."""
        return dict(self.params or {})
