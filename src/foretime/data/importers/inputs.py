"""The files of an import: named, or found in folders, unpacked, and read in streams."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, cast

from foretime.data.formats.streams import COMPRESSIONS, LONGEST_LINE, open_bytes, open_raw, unpacked
from foretime.errors import DataError
from foretime.files import size_text

ZIP = ".zip"
_OTHERS = {
    (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".7z", ".rar"): "is an archive; unpack it, or pack it as .zip",
    (".xlsx", ".xls", ".ods"): "is a workbook; save the sheet as CSV",
    (".parquet", ".pq", ".arrow", ".feather"): "is a table of columns, not a file as it is published; foretime reads "
    "it as it is, with --columns",
}
"""What cannot be read, and what to do."""
_UNPACKING = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, lzma.LZMAError)
"""What is raised while a member of a damaged archive is read."""
_DAMAGED = (*_UNPACKING, ValueError, IndexError, KeyError, struct.error)
"""What is raised while its directory is read: the names in it may be no text, empty, or those of no member."""
_UNFIT = "is it of this source, and whole?"
BLOCK = 1 << 25
"""Bytes of a file, unpacked, that are in memory at a time."""

Progress = Callable[[str, int, int], None]
"""Takes the file that is being read, the bytes that are done and the bytes of all files, as they lie on the disk."""


@dataclass(frozen=True)
class InputFile:
    """A file, or a member of a zip archive, which may lie in another, that can be read as often as is needed."""

    path: Path
    member: str = ""
    size: int = 0
    """Bytes on the disk."""
    alone: bool = False
    """Whether it is the only member of its archive."""
    within: tuple[str, ...] = ()
    """The archives between the file and the member, from outside in."""
    watch: Callable[[int], None] | None = field(default=None, compare=False)
    """Is told how many bytes of the disk every reading brought."""

    @property
    def label(self) -> str:
        """How places name it: `a.zip/b.csv` for a member of an archive, `a.zip` for the only one."""
        member = [self.member] if self.member and not self.alone else []
        return "/".join([str(self.path), *self.within, *member])

    @property
    def name(self) -> str:
        """Its own name, without folders and without the ending of its compression."""
        name = PurePosixPath(self.member).name if self.member else self.path.name
        return name.removesuffix(Path(name).suffix) if Path(name).suffix.lower() in COMPRESSIONS else name

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open it for reading, unpacked; what goes wrong on the way is a `DataError`."""
        if not self.member:
            with open_bytes(self.path, self.watch) as stream:
                yield stream
            return
        with _opened(self.path, (*self.within, self.member), self.watch) as stream:
            yield unpacked(stream, Path(self.member))


@contextmanager
def _opened(path: Path, members: Sequence[str], watch: Callable[[int], None] | None = None) -> Iterator[BinaryIO]:
    """Open a member of an archive, itself perhaps in another; what goes wrong on the way is a `DataError`."""
    label = "/".join([str(path), *members])
    with _in_words(label, _UNPACKING), ExitStack() as opened:
        stream = opened.enter_context(open_raw(path, watch))
        for member in members:
            with _in_words(label, _DAMAGED):
                archive = opened.enter_context(zipfile.ZipFile(stream))
                stream = cast(BinaryIO, io.BufferedReader(opened.enter_context(archive.open(member))))
        yield stream


@contextmanager
def _in_words(label: str, errors: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn errors that say that a file is damaged into a `DataError`."""
    try:
        yield
    except errors as error:
        raise DataError(f"{label}: cannot be read: {error}; fetch it again, or unpack it") from None


class Block(NamedTuple):
    """Whole lines of a file, and the number of the first of them, counted from 1."""

    line: int
    content: bytes


def blocks(file: InputFile, size: int = BLOCK) -> Iterator[Block]:
    """Yield a file in pieces of whole lines; a line that is longer than a block stays whole.

    One that is longer than `LONGEST_LINE` is a `DataError`.
    """
    line, rest = 1, b""
    with file.open() as stream:
        while more := stream.read(size):
            cut = more.rfind(b"\n") + 1
            if not cut:
                rest += more
                if len(rest) > LONGEST_LINE:
                    raise DataError(f"{file.label}:{line}: a line of more than {size_text(LONGEST_LINE)}; {_UNFIT}")
                continue
            content = rest + more[:cut]
            yield Block(line, content)
            line += content.count(b"\n")
            rest = more[cut:]
    if rest:
        yield Block(line, rest)


class Inputs(NamedTuple):
    """The files of an import, and those of its folders that do not look like files of the source."""

    files: tuple[InputFile, ...]
    skipped: tuple[str, ...]

    def watched(self, progress: Progress) -> Inputs:
        """Return the same files, which say how far reading them has come."""
        total, done = sum(file.size for file in self.files), 0

        def watch(label: str, count: int) -> None:
            nonlocal done
            done += count
            progress(label, min(done, total), total)

        return self._replace(files=tuple(replace(file, watch=partial(watch, file.label)) for file in self.files))


def find_inputs(paths: Sequence[Path], suffixes: Sequence[str]) -> Inputs:
    """Return the files that are named, and those in named folders and archives that have one of the endings."""
    files: dict[str, InputFile] = {}
    skipped: list[str] = []
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file or folder; give the files that were downloaded")
        inside = path.is_dir()
        if not inside and (remedy := next((_OTHERS[ends] for ends in _OTHERS if path.name.lower().endswith(ends)), "")):
            raise DataError(f"{path}: {remedy}")
        for found in _below(path) if inside else [path]:
            members = list(_members(found)) if found.suffix.lower() == ZIP else [InputFile(found, "", _size(found))]
            chosen = {file.label: file for file in members if (not inside and not file.member) or _fits(file, suffixes)}
            skipped += [file.label for file in members if file.label not in chosen]
            files |= chosen
    if not files and not skipped and len(paths) == 1:
        raise DataError(f"{paths[0]}: is empty; give the files that were downloaded")
    if not files:
        left = f"; left out: {', '.join(skipped[:3])}" if skipped else ""
        raise DataError(f"{', '.join(map(str, paths))}: no file that ends in {', '.join(suffixes)}{left}")
    return Inputs(tuple(files.values()), tuple(skipped))


def _below(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def _members(path: Path, within: tuple[str, ...] = ()) -> Iterator[InputFile]:
    """Yield the members of an archive, and those of archives in it, but none of archives in these."""
    label = "/".join([str(path), *within])
    with _opened(path, within) as stream, _in_words(label, _DAMAGED), zipfile.ZipFile(stream) as archive:
        infos = [i for i in archive.infolist() if not i.is_dir() and not i.filename.startswith("__MACOSX/")]
    for info in infos:
        if info.filename.lower().endswith(ZIP) and not within:
            yield from _members(path, (info.filename,))
        else:
            yield InputFile(path, info.filename, info.compress_size, len(infos) == 1, within)


def _fits(file: InputFile, suffixes: Sequence[str]) -> bool:
    return Path(file.name).suffix.lower() in suffixes


def _size(path: Path) -> int:
    return path.stat().st_size
