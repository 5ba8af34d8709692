"""Files that are whole or not there: every write goes to a temporary file first, which then takes the place.

What is read, changed and written again is done while the folder is held, or another process would lose its change.
Only regular files are read, and no more of them than fits: a pipe would block, and a device has no end.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Final

MOST_BYTES: Final = 4 << 30
"""The largest file that is read as a whole: names, rules, questions, weights of an update."""
MOST_JSON: Final = 64 << 20
"""The largest JSON file whose size does not grow with the graph: a report and its like."""
_PART: Final = 1 << 20
TOO_DEEP: Final = "it is nested too deeply"
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UnfitFileError(OSError):
    """A file that is there and cannot be read: it is no regular file, or too large. Its text leaves out the path."""

    def __str__(self) -> str:
        """Return what is wrong and what to do, for behind the path."""
        return self.strerror or ""


def open_regular(path: Path | str) -> BufferedReader:
    """Return a regular file, opened for reading; raise `UnfitFileError` for a pipe, a device, a socket or a folder.

    It never waits for a writer, and what is checked is what was opened.
    """
    # Windows has neither of the first two, and would change line ends without the last
    flags = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, os.O_RDONLY | flags)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):  # as Linux and macOS say of a socket
            raise _unfit(path, "a socket") from None
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise _unfit(path, next((word for test, word in _KINDS if test(mode)), "no file of data"))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def check_regular(path: Path | str) -> None:
    """Raise `UnfitFileError` for what is no regular file: before a library opens it that takes a path alone."""
    open_regular(path).close()


def read_bytes(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; raise `UnfitFileError` for one that has more than `most` bytes."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= most:
            content = stream.read(size + 1)  # as much memory as is asked for here is taken at once
            if len(content) > size:  # it grows, or it is one of those in /proc, which say that they are empty
                content += read_up_to(stream, most - size)
            if len(content) <= most:
                return content
    raise UnfitFileError(errno.EFBIG, f"it is larger than {size_text(most)}; is it the right file?", str(path))


def read_up_to(stream: IO[bytes], most: int) -> bytes:
    """Return the rest of a stream; of one that has more than `most` bytes more than that, but not much more.

    Memory is taken for what is there, while a single `read` would take it for what may be.
    """
    parts, count = [], 0
    while count <= most and (part := stream.read(_PART)):
        parts.append(part)
        count += len(part)
    return b"".join(parts)


def sha256_of(path: Path | str) -> str:
    """Return the sha256 of a regular file of any size, in hexadecimal digits."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_text(path: Path | str, most: int = MOST_BYTES, encoding: str = "utf-8") -> str:
    """Return the text of a regular file, its line ends as `\\n`."""
    text = read_bytes(path, most).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: Path | str, most: int = MOST_JSON) -> Any:
    """Return what a JSON file holds; raise `ValueError` if it is none, and `UnfitFileError` if it cannot be read."""
    return parse_json(read_bytes(path, most))


def parse_json(text: str | bytes) -> Any:
    """Return what a JSON text says; raise `ValueError` if it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def size_text(count: int) -> str:
    """Return a number of bytes in words: `64 MiB`.

    >>> size_text(3 << 29)
    '1.5 GiB'
    """
    for unit, width in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << width:
            return f"{count / (1 << width):,.3g} {unit}"
    return f"{count} bytes"


def _unfit(path: Path | str, word: str) -> UnfitFileError:
    return UnfitFileError(errno.EINVAL, f"it is {word}, not a file; name a file", str(path))


REMEDIES = {
    errno.ENOSPC: "free some space on that disk, then do the same again",
    errno.EDQUOT: "free some of your quota on that disk, then do the same again",
}
"""What to do about an error of the system, by its number."""


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a crash at any moment leaves either the old content or the new one."""
    # always the same name: what a killed process has left is overwritten by the next one
    temporary = path.with_name(f".{path.name}.tmp")
    with named_errors(path):
        try:
            temporary.unlink(missing_ok=True)  # whatever it is: a pipe would block
            with temporary.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            rename(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, content: str) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    write_bytes(path, content.encode("utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file that people can read too, whole or not at all."""
    write_bytes(path, json_bytes(content))


def json_bytes(content: Any) -> bytes:
    """Return what `write_json` writes."""
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def append_line(path: Path, line: str) -> None:
    """Add a line to a file and wait until the disk has it."""
    with named_errors(path), path.open("a", encoding="utf-8") as stream:
        stream.write(f"{line}\n")
        stream.flush()
        os.fsync(stream.fileno())


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, if it is not there."""
    with named_errors(path):
        path.mkdir(parents=True, exist_ok=True)


def rename(source: Path, target: Path) -> None:
    """Give a file another name in its folder, which a power cut right afterwards does not take back."""
    with named_errors(target):
        source.replace(target)
    sync_folder(target.parent)


def remove(path: Path) -> None:
    """Remove a file, if it is there, in the same lasting way."""
    with named_errors(path):
        path.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_files(folder: Path) -> None:
    """Wait until the disk has all files in a folder, before the folder takes its name."""
    for path in folder.iterdir():
        with named_errors(path), path.open("rb+") as stream:
            os.fsync(stream.fileno())
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder, where the system can do that."""
    with suppress(OSError):  # Windows opens no folders, and some network disks sync none
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Have every error of the system name the file that was to be written, and the remedy where there is one."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        remedy = REMEDIES.get(error.errno or 0)
        told = not remedy or remedy in what  # by the inner one of two
        raise OSError(error.errno, what if told else f"{what}; {remedy}", str(path)) from error


@contextmanager
def hold(folder: Path, wait: bool = True) -> Iterator[int]:
    """Hold a folder, so that no other process holds it; without waiting, one that does is a `BlockingIOError`.

    It is held by a descriptor, which is given: a process that it is passed on to holds the folder too.
    """
    import fcntl  # only where something is held: there is none on Windows

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def hold_file(path: Path) -> Iterator[int | None]:
    """Hold a lock file, made for this and removed afterwards, and give its descriptor; None if another process has it.

    A process that the descriptor is passed on to holds it too. Where there are no locks, nobody else has it.
    """
    with path.open("w") as stream:
        if not lock_at_once(stream.fileno()) or not _is_there(stream.fileno(), path):
            yield None
            return
        try:
            yield stream.fileno()
        finally:
            path.unlink(missing_ok=True)


def lock_at_once(descriptor: int, exclusive: bool = True) -> bool:
    """Lock an open file, if that can be done at once; return whether it was. Some systems and disks have no locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # Windows and some network disks
        pass
    return True


def _is_there(descriptor: int, path: Path) -> bool:
    """Return whether an open file has not been removed meanwhile by who held it."""
    return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())
