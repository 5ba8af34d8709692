"""From a stream of Arrow batches to one table in which equal texts are kept once."""

from __future__ import annotations

import pyarrow as pa

ROWS = 1 << 16
"""Rows in a batch, where a database lets us say."""


def read_coded(reader: pa.RecordBatchReader) -> pa.Table:
    """Return the rows of a stream with every column of texts as codes: no batch is kept with its texts spelt out."""
    schema = pa.schema([pa.field(f.name, _coded_type(f.type), metadata=f.metadata) for f in reader.schema])
    chunks: list[list[pa.Array]] = [[] for _ in schema]
    for batch in reader:
        for own, column in zip(chunks, batch.columns, strict=True):
            own.append(column.dictionary_encode() if _is_text(column.type) else column)
    columns = [pa.chunked_array(own, type=column.type) for own, column in zip(chunks, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def of_type(name: str, rows: int) -> pa.ChunkedArray:
    """Return a column without values whose type has a name: whoever needs it refuses it by that name."""
    kind = pa.opaque(pa.null(), name, "foretime")
    return pa.chunked_array([pa.ExtensionArray.from_storage(kind, pa.nulls(rows))], type=kind)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _coded_type(kind: pa.DataType) -> pa.DataType:
    return pa.dictionary(pa.int32(), kind) if _is_text(kind) else kind
