"""Files are whole or not there, also after a power cut, and what cannot be written is named."""

import errno
import os
from pathlib import Path

import pytest

from foretime import files
from foretime.files import append_line, make_folder, rename, write_bytes


class FullDisk:
    """Takes the place of `os.fsync` on a disk that is full."""

    def __init__(self, code: int) -> None:
        self.code = code

    def __call__(self, descriptor: int) -> None:
        raise OSError(self.code, os.strerror(self.code))


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The paths that were written out to the disk, in their order."""
    found: list[Path] = []
    real = os.fsync

    def note(descriptor: int) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="it asks Linux which file a descriptor is of")
def test_the_folder_is_written_out_after_the_file_has_its_name(tmp_path: Path, synced: list[Path]):
    write_bytes(tmp_path / "report.json", b"{}")
    assert synced == [tmp_path / ".report.json.tmp", tmp_path]
    rename(tmp_path / "report.json", tmp_path / "other.json")
    assert synced[2:] == [tmp_path]
    assert [path.name for path in tmp_path.iterdir()] == ["other.json"]


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.ENOSPC, "No space left on device; free some space on that disk, then do the same again"),
        (errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("write", [lambda path: write_bytes(path, b"new"), lambda path: append_line(path, "new")])
def test_what_cannot_be_written_is_named_with_the_remedy(tmp_path: Path, monkeypatch, write, code: int, remedy: str):
    path = tmp_path / "best.safetensors"
    path.write_bytes(b"old")
    monkeypatch.setattr(files.os, "fsync", FullDisk(code))
    with pytest.raises(OSError, match=r"best\.safetensors") as failed:
        write(path)
    assert (failed.value.errno, failed.value.filename, failed.value.strerror) == (code, str(path), remedy)
    assert path.read_bytes().startswith(b"old")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_a_folder_that_cannot_be_made_is_named_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    make_folder(tmp_path / "runs" / "one")
    make_folder(tmp_path / "runs" / "one")
    assert (tmp_path / "runs" / "one").is_dir()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(OSError, match="free some space on that disk") as failed:
        make_folder(tmp_path / "other")
    assert failed.value.filename == str(tmp_path / "other")


def test_a_folder_that_is_not_there_is_named_too(tmp_path: Path):
    with pytest.raises(FileNotFoundError) as failed:
        write_bytes(tmp_path / "none" / "report.json", b"{}")
    assert failed.value.filename == str(tmp_path / "none" / "report.json")
