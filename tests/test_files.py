"""Only regular files are read, and no more of them than fits; what is none is refused at once, and in words."""

import io
import os
import socket
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from foretime.cli.options import parse_settings
from foretime.config import MOST_CONFIG_BYTES, read_config
from foretime.errors import ConfigError, DataError, ForetimeError, RunError, told_as
from foretime.files import (
    UnfitFileError,
    open_regular,
    parse_json,
    read_bytes,
    read_json,
    read_text,
    read_up_to,
    sha256_of,
    write_text,
)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


IRREGULAR: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (os.mkfifo, "it is a named pipe, not a file; name a file"),
    "a folder": (Path.mkdir, "it is a folder, not a file; name a file"),
    "a socket": (a_socket, "it is a socket, not a file; name a file"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a file; name a file"),
}


@pytest.mark.parametrize("kind", IRREGULAR)
def test_what_is_no_regular_file_is_refused_and_never_waited_for(kind: str):
    make, message = IRREGULAR[kind]
    place = Path(f"/tmp/foretime-test-{os.getpid()}-{time.monotonic_ns()}")  # short enough for a socket
    make(place)
    descriptors = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else None
    try:
        for read in (open_regular, read_bytes, read_text, read_json, sha256_of):
            with pytest.raises(UnfitFileError) as caught:
                read(place)
            assert str(caught.value) == message
    finally:
        place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()
    if descriptors is not None:
        assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path):
    file = tmp_path / "large"
    file.write_bytes(b"12345")
    assert read_bytes(file, 5) == b"12345"
    with pytest.raises(UnfitFileError, match=r"^it is larger than 4 bytes; is it the right file\?$"):
        read_bytes(file, 4)
    os.truncate(file, 1 << 40)  # it takes no place on the disk, and would take all memory
    with pytest.raises(UnfitFileError, match="larger than 4 GiB"):
        read_bytes(file)


def test_text_is_read_as_python_reads_it(tmp_path: Path):
    file = tmp_path / "text"
    file.write_bytes("\ufeffä\r\nb\rc\n".encode())
    for encoding in ("utf-8", "utf-8-sig"):
        assert read_text(file, encoding=encoding) == file.read_text(encoding=encoding)


def test_a_pipe_in_the_place_of_an_unfinished_file_does_not_block_writing(tmp_path: Path):
    os.mkfifo(tmp_path / ".kept.tmp")
    write_text(tmp_path / "kept", "whole")
    assert (tmp_path / "kept").read_text() == "whole"


def test_json_that_is_nested_too_deeply_is_a_value_error():
    with pytest.raises(ValueError, match="it is nested too deeply"):
        parse_json("[" * 200_000)


CONFIGS = {
    "too deep": ("data = " + "[" * 50_000, "not valid TOML: it is nested too deeply"),
    "a number of many digits": ("[training]\nepochs = " + "9" * 5_000, "not valid TOML: Exceeds the limit"),
    "a hexadecimal one": (
        "[training]\nepochs = 0x" + "9" * 5_000,
        "a number of very many digits: should",
    ),
    "a time of many digits": (
        "[data]\nvalid_from = 0x" + "9" * 5_000,
        "an integer has up to 18 digits",
    ),
    "a long value": (f'[training]\nepochs = "{"x" * 10_000}"', "x…: should be a valid integer"),
    "a column far out": ("[data.columns]\nsubject = 1000000", "be the number of a column, at most 100,000"),
    "a window beyond 64 bits": (
        "[evidence]\nactive_window = 9223372036854775807",
        "should be less than or equal to 10000",
    ),
    "too many threads": ("[training]\nthreads = 100000", "should be less than or equal to 256"),
    "too large a file": ("#" * (MOST_CONFIG_BYTES + 1), "as a configuration: it is larger than 1 MiB"),
}


@pytest.mark.parametrize("what", CONFIGS)
def test_a_configuration_out_of_bounds_is_an_error_with_its_place(tmp_path: Path, what: str):
    text, message = CONFIGS[what]
    (tmp_path / "my.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(tmp_path / "my.toml")
    assert str(caught.value).startswith(f"{tmp_path / 'my.toml'}: ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("value", ["[" * 50_000, "9" * 5_000], ids=["deep", "digits"])
def test_a_setting_of_a_shell_that_is_no_toml_is_a_text(value: str):
    assert parse_settings([f"training.epochs={value}"]) == {"training.epochs": value}


TROUBLE: list[tuple[BaseException, type[ForetimeError], str]] = [
    (MemoryError(), DataError, "here: there is not enough memory"),
    (RecursionError(), RunError, "here: it is nested too deeply"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"), ConfigError, "here: text that is not valid UTF-8"),
    (StopIteration(), DataError, "here: it ends before anything is in it"),
    (PermissionError(13, "Permission denied"), DataError, "here: cannot be read: "),
]


@pytest.mark.parametrize(("error", "kind", "message"), TROUBLE, ids=lambda value: type(value).__name__)
def test_what_python_raises_is_told_as_an_error_of_ours(error: BaseException, kind: type[ForetimeError], message: str):
    with pytest.raises(kind, match=message), told_as(kind, "here"):
        raise error


def test_an_error_of_ours_stays_what_it_is():
    with pytest.raises(RunError, match="as it was"), told_as(DataError, "here"):
        raise RunError("as it was")


def test_memory_is_taken_for_what_is_there_and_not_for_what_may_be(tmp_path: Path):
    file = tmp_path / "small"
    file.write_bytes(b"12345")
    tracemalloc.start()
    try:
        assert read_bytes(file) == b"12345"
        assert read_up_to(io.BytesIO(b"12345"), 1 << 30) == b"12345"
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


def test_a_stream_is_read_up_to_a_limit_and_not_much_further():
    assert len(read_up_to(io.BytesIO(bytes(5 << 20)), 1)) == 1 << 20
    assert len(read_up_to(io.BytesIO(bytes(5 << 20)), 5 << 20)) == 5 << 20
