"""The folder of an imported graph: facts, entities with attributes, every row that was dropped, and the report."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from foretime.data.importers.base import ImportBatch
from foretime.data.importers.collecting import AttributeCounts, FactTable
from foretime.data.importers.report import PLACES, DroppedRows
from foretime.errors import DataError
from foretime.files import make_folder, named_errors, rename, sync_files

ENTITIES, DROPPED, REPORT = "entities.tsv", "dropped.tsv", "import.json"
_BLANKS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Give a folder to write into, which takes the place of `out` when everything is there; nothing is left if not.

    Only an earlier import is replaced: any other folder that holds something is a `DataError`.
    """
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or (out / REPORT).is_file())):
        raise DataError(f"{out}: is there already and no import; give another folder with --out")
    with named_errors(out):
        make_folder(out.parent)
    part, old = (out.with_name(f".{out.name}.{word}") for word in ("part", "old"))
    _clear(out, part, old)
    with named_errors(part):
        part.mkdir()
    try:
        yield part
        sync_files(part)
        if out.exists():
            rename(out, old)
        rename(part, out)
    finally:
        _clear(out, part, old)


def _clear(out: Path, part: Path, old: Path) -> None:
    """Remove what is left of an import that was stopped; the one that it was to replace gets its name back."""
    if old.exists() and not out.exists():
        rename(old, out)
    for folder in (part, old):
        shutil.rmtree(folder, ignore_errors=True)


class DroppedFile:
    """Writes every row that was dropped, and counts them by their reason."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with named_errors(path):
            self._stream = path.open("w", encoding="utf-8", newline="", errors="backslashreplace")
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[str]] = {}

    def __enter__(self) -> DroppedFile:
        with named_errors(self._path):
            self._stream.write("file\tline\treason\trow\n")
        return self

    def __exit__(self, *_: object) -> None:
        with named_errors(self._path):
            self._stream.close()

    def add(self, batch: ImportBatch) -> None:
        """Write the dropped rows of a batch; line breaks within a row are written as \\n."""
        for line, reason, _ in batch.dropped:
            count = self._counts.get(reason, 0)
            if count < PLACES:
                self._places.setdefault(reason, []).append(f"{batch.file}:{line}")
            self._counts[reason] = count + 1
        file = batch.file.translate(_BLANKS)
        lines = (f"{file}\t{line}\t{why}\t{_one_line(text)}\n" for line, why, text in batch.dropped)
        with named_errors(self._path):
            self._stream.writelines(lines)

    def reasons(self) -> tuple[DroppedRows, ...]:
        """Return the reasons, the most frequent first."""
        ordered = sorted(self._counts, key=lambda reason: -self._counts[reason])
        return tuple(DroppedRows(reason, self._counts[reason], tuple(self._places[reason])) for reason in ordered)


def _one_line(text: str) -> str:
    return text if "\n" not in text and "\r" not in text else text.replace("\n", "\\n").replace("\r", "\\r")


def write_facts(table: FactTable, path: Path) -> None:
    """Write facts as Parquet; a cell without a value is null."""
    columns = {
        role: pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(texts, pa.string()))
        for role, (texts, codes) in table.columns.items()
    }
    with named_errors(path):
        pyarrow.parquet.write_table(pa.table(columns), path, compression="zstd")


def write_entities(names: list[str], attributes: AttributeCounts, path: Path) -> None:
    """Write a line for each entity: its name, then its attributes, the values of each separated by semicolons."""
    with named_errors(path), path.open("w", encoding="utf-8", newline="") as stream:
        stream.write("\t".join(["name", *attributes.names]) + "\n")
        for name in names:
            cells = (";".join(map(_value, attributes.of(name, attribute))) for attribute in attributes.names)
            stream.write("\t".join([name.translate(_BLANKS), *cells]) + "\n")


def _value(text: str) -> str:
    """Return a value without what separates values."""
    return text.translate(_BLANKS).replace(";", ",")
