"""Files of whole columns, read into no more memory than goes with their size: a small file may unpack to terabytes.

What a file says of its size is looked at before anything is unpacked, and what has come of it after each piece. Texts
that are written once for many rows stay so while they are read.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet

from foretime.files import UnfitFileError, open_regular, size_text

LEAST_ROOM: Final = 1 << 30
"""Bytes that every file may unpack to."""
TIMES_THE_FILE: Final = 100
"""How many times as large as it is a larger file may become."""
CELL_BYTES: Final = 32
"""What a cell takes at least, on its way to a graph."""
_MAGIC: Final = b"ARROW1"
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


class Room:
    """How much memory the content of a file may take."""

    def __init__(self, path: Path) -> None:
        with open_regular(path) as stream:
            self.size = stream.seek(0, 2)
        self._path, self._most, self._used = path, max(LEAST_ROOM, TIMES_THE_FILE * self.size), 0

    def take(self, size: int) -> None:
        """Count bytes; raise `UnfitFileError` if these are too many."""
        self._used += size
        self.check(self._used)

    def check(self, size: int) -> None:
        """Raise `UnfitFileError` if so many bytes are too many."""
        if size > self._most:
            text = (
                f"it is {size_text(self.size)} and unpacks to more than {size_text(self._most)}; if it is the right "
                "file, write it as text, or in several files"
            )
            raise UnfitFileError(errno.EFBIG, text, str(self._path))

    def checked(self, table: pa.Table) -> pa.Table:
        """Return a table whose cells, each written out, have room."""
        self.check(sum(_written_out(column) for column in table.columns))
        self.check(table.num_rows * max(table.num_columns, 1) * CELL_BYTES)
        return table


def read_parquet(path: Path) -> pa.Table:
    """Return the table in a Parquet file; a file that unpacks to far more than it is, is an `UnfitFileError`."""
    room = Room(path)
    with pyarrow.parquet.ParquetFile(path) as file:
        about, schema = file.metadata, file.schema
        names = [schema.column(place).path for place in range(about.num_columns)]
        texts = [name for place, name in enumerate(names) if schema.column(place).physical_type == "BYTE_ARRAY"]
    for group in map(about.row_group, range(about.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            room.check(column.total_uncompressed_size)
            room.check(column.num_values * CELL_BYTES)
        room.take(group.total_byte_size)
    room.check(about.num_rows * max(about.num_columns, 1) * CELL_BYTES)
    return room.checked(_groups(path, [name for name in texts if "." not in name], Room(path)))


def _groups(path: Path, texts: list[str], room: Room) -> pa.Table:
    """Return all groups of rows, those columns with each text once; a header may have lied about how large they are."""
    with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
        parts = []
        for number in range(file.num_row_groups):
            parts.append(file.read_row_group(number))
            room.take(parts[-1].nbytes)
        return pa.concat_tables(parts) if parts else file.schema_arrow.empty_table()


def read_arrow(path: Path) -> pa.Table:
    """Return the table in a file of Arrow (Feather); one that unpacks to far more than it is, is an `UnfitFileError`.

    Its messages are read one after the other. What its footer says of their places is not looked at: the messages that
    are measured are those that are read.
    """
    room = Room(path)
    with pa.OSFile(str(path)) as source:
        if source.read(len(_MAGIC)) != _MAGIC:
            raise pa.ArrowInvalid("it does not begin as a file of Arrow does; of Feather only version 2 is read")
        source.seek(8)
        for message in _messages(source):
            for size in _sizes(message):
                room.take(size)
        source.seek(8)
        table = pa.ipc.open_stream(source).read_all()
        table.validate(full=True)  # or a text of a damaged file may lie anywhere in memory
        return room.checked(table)


def _messages(source: Any) -> Iterator[Any]:
    reader = pa.ipc.MessageReader.open_stream(source)
    while True:
        try:
            yield reader.read_next_message()
        except StopIteration:
            return


def _sizes(message: Any) -> Iterator[int]:
    """Yield how many bytes each buffer of a message takes, unpacked.

    The header is a flatbuffer, by the schema in Arrow's format/Message.fbs; Arrow checks it before it gives it.
    """
    if message.type not in ("record batch", "dictionary"):
        return
    head, body = message.metadata.to_pybytes(), message.body
    try:
        batch = _follow(head, _field(head, _follow(head, 0), 2))
        if message.type == "dictionary":
            batch = _follow(head, _field(head, batch, 1))
        rows = _field(head, batch, 0)
        yield CELL_BYTES * struct.unpack_from("<q", head, rows)[0] if rows else 0
        packed, places = _field(head, batch, 3), _follow(head, _field(head, batch, 2))
        (count,) = struct.unpack_from("<I", head, places)
        for number in range(count):
            offset, length = struct.unpack_from("<qq", head, places + 4 + 16 * number)
            if packed and length >= 8:  # the size comes first; -1 says that it is not packed
                (unpacked,) = struct.unpack("<q", body.slice(offset, 8).to_pybytes())
                length = max(length, unpacked)
            yield length
    except (struct.error, IndexError, pa.ArrowException) as error:
        raise pa.ArrowInvalid(f"the header of a message is damaged: {error}") from None


def _follow(head: bytes, place: int) -> int:
    """Return where the table or the vector is that an offset leads to."""
    return place + int(struct.unpack_from("<I", head, place)[0])


def _field(head: bytes, table: int, number: int) -> int:
    """Return where a field of a table is, 0 if it is not there."""
    index = table - int(struct.unpack_from("<i", head, table)[0])
    (length,) = struct.unpack_from("<H", head, index)
    if 4 + 2 * number >= length:
        return 0
    offset = int(struct.unpack_from("<H", head, index + 4 + 2 * number)[0])
    return table + offset if offset else 0


def _written_out(column: Any) -> int:
    """Return how many bytes the values of a column have if each is written out, as Python has them."""
    return sum(map(_array_bytes, column.chunks))


def _array_bytes(array: Any) -> int:
    kind, types = array.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _array_bytes(array.storage)
    if types.is_dictionary(kind):
        values, rows = array.dictionary, array.indices.drop_null()
        if not _is_text(values.type):
            return _array_bytes(values) * max(1, len(rows) // max(1, len(values)))
        return pc.sum(pc.binary_length(values).take(rows)).as_py() or 0
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pc.sum(pc.binary_length(array)).as_py() or 0
    if types.is_struct(kind):
        return sum(map(_array_bytes, array.flatten()))
    if types.is_map(kind):
        return _listed(array.keys) + _listed(array.items)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _listed(array.flatten())
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        return CELL_BYTES * (pc.sum(pc.list_value_length(array)).as_py() or 0)
    if types.is_run_end_encoded(kind):
        return CELL_BYTES * len(array) + _array_bytes(array.values) * len(array) // max(1, len(array.values))
    return int(array.nbytes)


def _listed(values: Any) -> int:
    """Return how many bytes the values of lists take: each is a cell."""
    return max(CELL_BYTES * len(values), _array_bytes(values))


def _is_text(kind: Any) -> bool:
    types = pa.types
    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(kind) for test in (*tests, types.is_string_view, types.is_binary_view))
