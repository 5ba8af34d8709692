"""Where a graph comes from: the files of a folder, one file, or frames; and the names behind its ids."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from foretime.config import DataConfig
from foretime.data.background import BACKGROUND
from foretime.data.catalog import CATALOG, FOLDER_VARIABLE, data_folder
from foretime.data.databases import check_no_query, fetch, kind_of_file, parse_address
from foretime.data.formats import SUFFIXES, stem_of
from foretime.data.formats.streams import without_compression
from foretime.data.formats.text import records, written_rows
from foretime.data.problems import Place, Problems
from foretime.data.splitting import SPLITS
from foretime.errors import DataError, suggestion

ID_FILES = {"entity2id.txt": ("subject", "object"), "relation2id.txt": ("predicate",)}
"""Files that give names to ids, and the columns that they are about."""
IMPORTED = "events"
"""The table of a folder that is not split yet, as importers write it."""
_WORDS = {
    "train": ("train",),
    "valid": ("valid", "val", "dev", "validation"),
    "test": ("test",),
    BACKGROUND: (BACKGROUND,),
}


class Source(NamedTuple):
    """A graph that was found: its name, its tables by split (only train: to be split), and the folder of its files.

    A table of facts without a time is called `background`, and comes last.
    """

    name: str
    tables: dict[str, Any]
    folder: Path | None
    place: str = "the frame"
    """What messages call a table that is no file."""


def find_source(source: Any, config: DataConfig) -> Source:
    """Return the tables behind what a user gave: a folder, a file, a database, a frame, or several by split."""
    if (address := parse_address(source)) is not None:
        return Source(config.table or address.name, {"train": fetch(address, config)}, None, address.shown)
    is_path = isinstance(source, str | Path)
    check_no_query(config, str(source) if is_path else f"a {type(source).__name__}")
    if isinstance(source, Mapping):
        if databases := [split for split, table in source.items() if parse_address(table) is not None]:
            raise DataError(
                f"the mapping: {databases[0]!r} is the address of a database; give what is selected from it, such as "
                "connection.sql(…) of DuckDB, or load one database with valid_from and test_from"
            )
        return Source("graph", _check_splits(dict(source), "the mapping"), None)
    if not is_path:
        return Source("graph", {"train": source}, None)
    path = _fetched(Path(source))
    if path.is_dir():
        return Source(path.resolve().name, _check_splits(split_files(path), str(path)), path)
    if not path.exists():
        remedy = "; give a path, or fetch a public graph with `foretime data get`"
        if str(path) in CATALOG:
            remedy = (
                f", here or in {data_folder()}; fetch it with `foretime data get {path}`, or let {FOLDER_VARIABLE} "
            )
            remedy += "name the folder that has it"
        raise DataError(f"{path}: no such file or folder{remedy}")
    if kind := kind_of_file(path):
        raise DataError(f"{path}: is a database; write {kind}:{path}, and give a table or a query")
    return Source(stem_of(path), {"train": path}, path.parent)


def _fetched(path: Path) -> Path:
    """Return the folder of a downloaded dataset where a path is no path but the name of one."""
    folder = data_folder() / path.name
    return folder if len(path.parts) == 1 and not path.exists() and folder.is_dir() else path


def _check_splits(tables: dict[str, Any], place: str) -> dict[str, Any]:
    allowed = (*SPLITS, BACKGROUND)
    for split in tables:
        if split not in allowed:
            known = suggestion(str(split), allowed) or "; use train, valid, test, and background"
            raise DataError(f"{place}: unknown split {split!r}{known}")
    missing = [split for split in SPLITS if split not in tables]
    if missing and set(tables) - {BACKGROUND} != {"train"}:
        found = f"found only {' and '.join(tables)}; " if tables else ""
        remedy = "or leave train alone there to have it split, or make a split with `foretime data split`"
        if "train" in missing:
            remedy = f"name the files train, valid and test ({', '.join(SUFFIXES)})"
        raise DataError(f"{place}: no {' and no '.join(missing)} file; {found}add it, {remedy}")
    return {split: tables[split] for split in allowed if split in tables}


def split_files(folder: Path) -> dict[str, Path]:
    """Return the file of each split: named just so or, failing that, with a name that ends so, as in `a_train.txt`.

    A file of facts without a time is named `background` in the same way. In a folder without any split, a table called
    `events` is train alone: it is to be split.
    """
    named: dict[str, list[Path]] = {split: [] for split in _WORDS}
    ending: dict[str, list[Path]] = {split: [] for split in _WORDS}
    whole: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not path.is_file() or without_compression(path).suffix.lower() not in SUFFIXES:
            continue
        stem = stem_of(path)
        last = stem.lower().replace("-", "_").replace(".", "_").split("_")[-1]
        for split, words in _WORDS.items():
            if last in words:
                (named if stem.lower() in words else ending)[split].append(path)
        if stem.lower() == IMPORTED:
            whole.append(path)
    found = {split: named[split] or ending[split] for split in _WORDS if named[split] or ending[split]}
    if not set(found) - {BACKGROUND} and whole:
        found = {"train": whole, **found}  # what `foretime data import` writes: one table, to be split
    for paths in found.values():
        if len(paths) > 1:
            raise DataError(f"{folder}: {' and '.join(p.name for p in paths)} are the same split; leave one")
    return {split: paths[0] for split, paths in found.items()}


class IdNames(NamedTuple):
    """The names behind ids, and the file that says so."""

    path: Path
    names: dict[str, str]


def read_id_names(folder: Path | None, problems: Problems) -> dict[str, IdNames]:
    """Return what `entity2id.txt` and `relation2id.txt` in a folder say, by the column that it is about."""
    found: dict[str, IdNames] = {}
    for file, roles in ID_FILES.items():
        if folder is not None and (path := folder / file).is_file():
            names = IdNames(path, _read_names(path, problems))
            found |= dict.fromkeys(roles, names)
    return found


def _read_names(path: Path, problems: Problems) -> dict[str, str]:
    names: dict[str, str] = {}
    problems.begin(str(path), partial(written_rows, path, "\t"))
    width = 0
    for record in records(path, "\t"):
        fields = record.fields
        place = Place(str(path), record.line)
        if record.line == 1 and len(fields) == 1 and fields[0].isdecimal():
            continue  # some files begin with the number of names
        width = width or max(len(fields), 2)  # some files have further columns, which are not needed
        if len(fields) != width or not all(fields[:2]):
            more = "" if width == 2 else f", and {width - 2} more as in the first row"
            problems.add(
                place,
                f"expected a name, a tab and an id{more}, found {len(fields)} fields; fix it, or use --names as-is",
                f"no name and id: {path}",
            )
        elif names.setdefault(fields[1], fields[0]) != fields[0]:
            problems.add(place, f"the id {fields[1]!r} has two names; leave one, or use --names as-is", "two names")
    return names
