"""Forecasting splits of datasets that are published in random splits: the same lines, cut at two dates."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from foretime.data.splitting import SPLITS
from foretime.files import read_text


class DateCut(NamedTuple):
    """The dataset that a split is made of, and the days on which valid and test begin."""

    dataset: str
    valid_from: str
    test_from: str


def cut_by_date(source: Path, target: Path, cut: DateCut) -> None:
    """Write the lines of the three files of a folder into those of another, by the date in the fourth column.

    The lines keep their order: those of train come first, then those of valid, then those of test.
    """
    parts: dict[str, list[str]] = {split: [] for split in SPLITS}
    for split in SPLITS:
        for line in read_text(source / f"{split}.txt").split("\n"):
            if line:
                day = line.split("\t")[3]
                parts["train" if day < cut.valid_from else "valid" if day < cut.test_from else "test"].append(line)
    for split, lines in parts.items():
        (target / f"{split}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
