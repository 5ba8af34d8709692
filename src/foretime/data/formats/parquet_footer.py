"""What the footer of a Parquet file says of its size, read here.

The library that reads the rest ends the process where the sizes in a damaged footer contradict each other. A footer is
a struct of the compact protocol of Thrift, as parquet.thrift has it; the library has looked at its length and depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import SEEK_END
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from foretime.files import MOST_JSON, open_regular, size_text

_ROW_GROUPS, _COLUMNS, _GROUP_BYTES, _META, _VALUES, _BYTES = 4, 1, 2, 3, 5, 6
"""The numbers of the fields: those of the file, of a group of rows, of a column in it, and of what is said of that."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 1, 2, 3, 7, 8, 9, 10, 11, 12, 13
_INTEGERS = (4, 5, 6)
_FIXED = {_DOUBLE: 8, _UUID: 16}
_DEEPEST = 64


class GroupSize(NamedTuple):
    """How many bytes a group of rows has unpacked, and of each of its columns how many values and bytes."""

    bytes: int
    columns: tuple[tuple[int, int], ...]


def group_sizes(path: Path) -> Iterator[GroupSize]:
    """Yield the size of each group of rows; raise `ArrowInvalid` for a footer that is none."""
    with open_regular(path) as stream:
        end = stream.seek(-8, SEEK_END)
        length = int.from_bytes(stream.read(4), "little")
        if length > MOST_JSON:
            raise pa.ArrowInvalid(f"its footer is larger than {size_text(MOST_JSON)}")
        stream.seek(max(0, end - length))
        content = stream.read(length)
    try:
        for group in _Compact(content).struct(0).get(_ROW_GROUPS, []):
            columns = [column.get(_META, {}) for column in group.get(_COLUMNS, [])]
            yield GroupSize(
                _whole(group, _GROUP_BYTES), tuple((_whole(c, _VALUES), _whole(c, _BYTES)) for c in columns)
            )
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise pa.ArrowInvalid(f"its footer is damaged: {error}") from None


def _whole(found: dict[int, Any], field: int) -> int:
    """Return a number of a struct, which is never below 0."""
    value = found.get(field, 0)
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"a size is {value!r}")
    return value


class _Compact:
    """Reads values of the compact protocol one after the other; where one should be and none is, an `IndexError`."""

    def __init__(self, content: bytes) -> None:
        self._content, self._place = content, 0

    def struct(self, depth: int) -> dict[int, Any]:
        """Return the fields of a struct by their numbers."""
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            found[field] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        if kind in _INTEGERS:
            return self._integer()
        if kind in (_BINARY, *_FIXED):
            return self._skip(_FIXED.get(kind) or self._varint())
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _STRUCT:
            return self.struct(depth)
        if kind == _MAP:
            return self._map(depth)
        if kind in (_TRUE, _FALSE, _BYTE):  # within a list
            return self._byte()
        raise ValueError(f"there is no type {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = self._varint() if head >> 4 == 15 else head >> 4
        return [self._value(head & 15, depth + 1) for _ in range(count)]

    def _map(self, depth: int) -> None:
        count = self._varint()
        kinds = self._byte() if count else 0
        for _ in range(count):
            self._value(kinds >> 4, depth + 1)
            self._value(kinds & 15, depth + 1)

    def _byte(self) -> int:
        self._place += 1
        return self._content[self._place - 1]

    def _skip(self, count: int) -> None:
        self._place += count
        if self._place > len(self._content):
            raise IndexError("it ends too early")

    def _varint(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 128:
            found |= (byte & 127) << shift
            shift += 7
        return found | byte << shift

    def _integer(self) -> int:
        found = self._varint()
        return found >> 1 ^ -(found & 1)
