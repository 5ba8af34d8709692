"""Files as streams of bytes, whatever their compression."""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from foretime.errors import DataError

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".xz": "xz"}

_HEAD = 1 << 16
_MAGIC = {
    b"\x1f\x8b": "is compressed by gzip; name it .gz",
    b"BZh": "is compressed by bzip2; name it .bz2",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd; name it .zst",
    b"\xfd7zXZ": "is compressed by xz; name it .xz",
    b"\x04\x22\x4d\x18": "is compressed by lz4; name it .lz4",
    b"PK\x03\x04": "is a zip archive or a workbook; unpack it, or save the sheet as CSV",
    b"\xff\xfe": "is in UTF-16; save it as UTF-8",
    b"\xfe\xff": "is in UTF-16; save it as UTF-8",
}


def without_compression(path: Path) -> Path:
    """Return the name of a file without the ending of its compression: `a.csv` for `a.csv.gz`."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacked; what goes wrong on the way is a `DataError`."""
    try:
        with _open(path) as stream:
            yield stream
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        remedy = "fetch or write it again" if path.suffix.lower() in COMPRESSIONS else "is it a file that you may read?"
        raise DataError(f"{path}: cannot be read: {error}; {remedy}") from None


def _open(path: Path) -> BinaryIO:
    compression = COMPRESSIONS.get(path.suffix.lower())
    if compression == "xz":
        return cast(BinaryIO, lzma.open(path))
    if compression is None:
        return path.open("rb")
    return cast(BinaryIO, io.BufferedReader(pa.input_stream(str(path), compression=compression)))


def check_text(path: Path, other_formats: dict[bytes, str]) -> None:
    """Raise `DataError` for a file that is empty or that cannot be text, going by how it begins."""
    with open_bytes(path) as stream:
        head = stream.read(_HEAD)
    if not head.strip():
        raise DataError(f"{path}: the file is empty; expected lines of subject, predicate, object and time")
    for magic, remedy in (other_formats | _MAGIC).items():
        if head.startswith(magic):
            raise DataError(f"{path}: {remedy}")
    if b"\0" in head:
        raise DataError(f"{path}: a binary file; expected text in UTF-8 (TSV or CSV), or Parquet")
