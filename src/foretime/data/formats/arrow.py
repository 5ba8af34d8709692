"""Files of whole columns: Parquet, and Arrow's own format (Feather)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from foretime.config import DataConfig
from foretime.data.formats.streams import COMPRESSIONS
from foretime.data.formats.table import FileFormat, RawTable, table_of_arrow
from foretime.data.formats.unpacking import read_arrow, read_parquet
from foretime.data.problems import Problems
from foretime.data.splitting import SPLITS, SplitRows
from foretime.errors import DataError
from foretime.files import UnfitFileError

NAMES_NOT_UTF8 = "the name of a column is not valid UTF-8; write the file again with names in UTF-8"


def _columnar(
    name: str,
    suffixes: tuple[str, ...],
    magic: bytes,
    read_table: Callable[[Path], pa.Table],
    write_table: Callable[[pa.Table, Path, Path], None],
) -> FileFormat:
    def load(path: Path) -> pa.Table:
        if path.suffix.lower() in COMPRESSIONS:
            raise DataError(f"{path}: {name} is compressed inside; unpack the file first")
        try:
            table = read_table(path)
            table.column_names  # noqa: B018, it decodes them
            return table
        except FileNotFoundError:
            raise DataError(f"{path}: no such file") from None
        except UnfitFileError as error:
            raise DataError(f"{path}: cannot be read: {error}") from None
        except UnicodeDecodeError:
            raise DataError(f"{path}: {NAMES_NOT_UTF8}") from None
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"{path}: cannot be read as {name}: {reason}; fetch or write it again") from None

    def read(path: Path, config: DataConfig, _: Problems) -> RawTable:
        return table_of_arrow(load(path), str(path), config)

    def split(path: Path, _: DataConfig, parts: SplitRows, out: Path) -> list[Path]:
        table = load(path)
        paths = [out / f"{split}{suffixes[0]}" for split in SPLITS]
        for target, rows in zip(paths, parts, strict=True):
            unfinished = target.with_name(f".{target.name}.part")
            write_table(table.take(rows - 1), path, unfinished)
            os.replace(unfinished, target)
        return paths

    return FileFormat(name, suffixes, read, split, magic)


PARQUET = _columnar(
    "Parquet",
    (".parquet", ".pq"),
    b"PAR1",
    read_parquet,
    lambda t, source, path: pyarrow.parquet.write_table(t.cast(pyarrow.parquet.read_schema(source)), path),
)
ARROW = _columnar(
    "Arrow",
    (".arrow", ".feather"),
    b"ARROW1",
    read_arrow,
    lambda t, _, path: pyarrow.feather.write_feather(t, path),
)
