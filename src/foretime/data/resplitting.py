"""One file split into three, every row as it was written."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow.parquet

from foretime.config import DataConfig
from foretime.data.assembling import choose_parts, join_tables
from foretime.data.problems import Problems
from foretime.data.reading import is_parquet, read_parquet, read_table
from foretime.data.sources import ID_FILES, SPLITS, split_file_names
from foretime.data.splitting import Parts
from foretime.data.textfile import data_records, records, see_layout
from foretime.errors import DataError

_ENDINGS = {"\t": ".tsv", " ": ".txt"}


def split_file(file: Path, out: Path, config: DataConfig) -> dict[Path, int]:
    """Write train, valid and test files into a folder and return their rows by file.

    A text file gives text files with the same delimiter, header and columns (`.tsv`, or `.csv` where quotes group
    fields), Parquet gives Parquet. All rows are checked first. Files of names that lie beside the file come along.
    """
    if file.is_dir():
        raise DataError(f"{file}: a folder; name the one file that is to be split")
    parts = _choose(file, config)
    out.mkdir(parents=True, exist_ok=True)
    if present := split_file_names(out):
        raise DataError(f"{out}: has {', '.join(sorted(present))} already; name a new folder")
    written = _write_parquet(file, out, parts) if is_parquet(file) else _write_text(file, out, parts, config)
    for name in ID_FILES:
        if (beside := file.parent / name).is_file() and not (out / name).exists():
            shutil.copyfile(beside, out / name)
    return written


def _choose(file: Path, config: DataConfig) -> Parts:
    problems = Problems()
    table = read_table(file, file.name, config, problems)
    return choose_parts(join_tables([table], {}, config, problems), [len(table)], config)


def _write_parquet(file: Path, out: Path, parts: Parts) -> dict[Path, int]:
    table = read_parquet(file)
    paths = [out / f"{split}.parquet" for split in SPLITS]
    for path, rows in zip(paths, parts, strict=True):
        part = path.with_name(f".{path.name}.part")
        pyarrow.parquet.write_table(table.take(rows), part)
        os.replace(part, path)
    return dict(zip(paths, map(len, parts), strict=True))


def _write_text(file: Path, out: Path, parts: Parts, config: DataConfig) -> dict[Path, int]:
    layout = see_layout(file, config)
    ending = _ENDINGS.get(layout.delimiter, ".csv")
    paths = [out / f"{split}{ending}" for split in SPLITS]
    unfinished = [path.with_name(f".{path.name}.part") for path in paths]
    with ExitStack() as opened:
        streams = [opened.enter_context(path.open("w", encoding="utf-8", newline="")) for path in unfinished]
        if layout.header:
            header = _whole(next(records(file, layout.delimiter)).text)
            for stream in streams:
                stream.write(header)
        for record, part in zip(data_records(layout), _part_of_row(parts), strict=True):
            streams[part].write(_whole(record.text))
    for part_path, path in zip(unfinished, paths, strict=True):
        os.replace(part_path, path)
    return dict(zip(paths, map(len, parts), strict=True))


def _part_of_row(parts: Parts) -> list[int]:
    number = np.empty(sum(map(len, parts)), dtype=np.int8)
    for part, rows in enumerate(parts):
        number[rows] = part
    return number.tolist()


def _whole(text: str) -> str:
    """Return a row with its line end, which the last one of a file may lack."""
    return text if text.endswith(("\n", "\r")) else text + "\n"
