"""Files as streams of bytes, whatever their compression, and as lines that are no longer than fits."""

from __future__ import annotations

import io
import lzma
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

import pyarrow as pa

from foretime.errors import DataError
from foretime.files import UnfitFileError, check_regular, open_regular, size_text

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".xz": "xz"}

LONGEST_ROW: Final = 4 << 20
"""Bytes of the longest line of a table: its cells take many times as much memory, and a bomb of one line has no end."""
LONGEST_LINE: Final = 64 << 20
"""Bytes of the longest line of a dump, whose lines are whole entities."""
_HEAD = 1 << 16
_WATCHED = 1 << 20  # bytes of one reading of a file that is watched
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


class _Writable(Protocol):
    def __len__(self) -> int: ...


class WatchedFile(io.FileIO):
    """A file that says of every reading how many bytes it brought."""

    def __init__(self, file: BinaryIO, watch: Callable[[int], None]) -> None:
        super().__init__(os.dup(file.fileno()))
        self._watch = watch

    def readinto(self, buffer: _Writable) -> int | None:  # type: ignore[override]
        """Read into a buffer, and say how much."""
        count = super().readinto(buffer)  # type: ignore[arg-type]
        self._watch(count or 0)
        return count


def open_raw(path: Path, watch: Callable[[int], None] | None = None) -> BinaryIO:
    """Open a file as it lies on the disk; `watch` is told of the bytes of every reading."""
    file = open_regular(path)
    if watch is None:
        return file
    with file:
        return io.BufferedReader(WatchedFile(file, watch), _WATCHED)


class BoundedLines(io.RawIOBase):
    """A stream of text in bytes that ends in a `DataError` where a line is longer than `longest`.

    Lines that begin and end within one reading are not measured: they are no longer than its buffer.
    """

    def __init__(self, stream: BinaryIO, place: str, longest: int = LONGEST_ROW) -> None:
        super().__init__()
        self._stream, self._place, self._longest = stream, place, longest
        self._line, self._length = 1, 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: _Writable) -> int:  # type: ignore[override]
        """Read into a buffer, and return how much."""
        content = self._stream.read(len(buffer))
        memoryview(buffer)[: len(content)] = content  # type: ignore[arg-type]
        self._check(content)
        return len(content)

    def _check(self, content: bytes) -> None:
        end = max(content.rfind(b"\n"), content.rfind(b"\r"))
        first = len(re.split(rb"[\n\r]", content, maxsplit=1)[0])
        if self._length + first > self._longest:
            raise DataError(
                f"{self._place}:{self._line}: a line of more than {size_text(self._longest)}; "
                "is it a table, with a line end after every row?"
            )
        self._line += content.count(b"\n")
        self._length = self._length + len(content) if end < 0 else len(content) - end - 1


def bounded_text(stream: BinaryIO, place: str) -> io.TextIOWrapper:
    """Return a stream as text with its line ends, whose bytes that are not UTF-8 come as surrogates.

    A line that is too long for a table is a `DataError`.
    """
    lines = io.BufferedReader(BoundedLines(stream, place), _HEAD)
    return io.TextIOWrapper(lines, encoding="utf-8-sig", errors="surrogateescape", newline="")


@contextmanager
def open_bytes(path: Path, watch: Callable[[int], None] | None = None) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacked; what goes wrong on the way is a `DataError`.

    `watch` is told of the bytes, as they lie on the disk, of every reading.
    """
    with _in_words(path), open_raw(path, watch) as raw, unpacked(raw, path) as stream:
        yield stream


@contextmanager
def open_native(path: Path) -> Iterator[pa.NativeFile | BinaryIO]:
    """Open a file for Arrow's own readers, unpacked, as a stream without anything of Python in it but for `.xz`.

    Their threads let go of a stream a little later than they are done. If that needs Python, and the program ends in
    that moment, Arrow takes the process down: the exit code is 134 in place of 2. Arrow cannot unpack `.xz`.
    """
    compression = COMPRESSIONS.get(path.suffix.lower())
    if compression == "xz":
        with open_bytes(path) as unpacked_stream:
            yield unpacked_stream
        return
    with _in_words(path):
        check_regular(path)
        with pa.input_stream(str(path), compression=compression) as stream:
            yield stream


def native_bytes(content: bytes) -> pa.NativeFile:
    """Return bytes as a stream for Arrow's own readers, copied out of Python; see `open_native`."""
    copied = pa.BufferOutputStream()
    copied.write(content)
    return pa.BufferReader(copied.getvalue())


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """Turn what goes wrong with a file into a `DataError`."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UnfitFileError as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        remedy = "fetch or write it again" if path.suffix.lower() in COMPRESSIONS else "is it a file that you may read?"
        raise DataError(f"{path}: cannot be read: {error}; {remedy}") from None


def unpacked(raw: BinaryIO, path: Path) -> BinaryIO:
    """Return a stream as its name says that it is compressed, unpacked."""
    compression = COMPRESSIONS.get(path.suffix.lower())
    if compression == "xz":
        return cast(BinaryIO, lzma.open(raw))
    if compression is None:
        return raw
    return cast(BinaryIO, io.BufferedReader(pa.input_stream(raw, compression=compression)))


def empty_file(path: Path) -> DataError:
    """Return what is wrong with a file that has no row."""
    return DataError(f"{path}: the file is empty; expected lines of subject, predicate, object and time")


def check_text(path: Path, other_formats: dict[bytes, str]) -> None:
    """Raise `DataError` for a file that is empty or that cannot be text, going by how it begins."""
    with open_bytes(path) as stream:
        head = stream.read(_HEAD)
    if not head.removeprefix(b"\xef\xbb\xbf").strip() and len(head) < _HEAD:
        raise empty_file(path)
    for magic, remedy in (other_formats | _MAGIC).items():
        if head.startswith(magic):
            raise DataError(f"{path}: {remedy}")
    if b"\0" in head:
        raise DataError(f"{path}: a binary file; expected text in UTF-8 (TSV or CSV), or Parquet")
