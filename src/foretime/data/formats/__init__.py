"""The files that a graph can be read from, in one table: a new format is a module here and a line in `FORMATS`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foretime.config import DataConfig
from foretime.data.columns import check_mapping
from foretime.data.formats.arrow import ARROW, PARQUET
from foretime.data.formats.json_lines import JSON_LINES
from foretime.data.formats.streams import check_text, without_compression
from foretime.data.formats.table import FileFormat, RawTable, as_arrow, table_of_arrow
from foretime.data.formats.text import TEXT
from foretime.data.problems import Problems

FORMATS: tuple[FileFormat, ...] = (TEXT, JSON_LINES, PARQUET, ARROW)
"""The first is that of files whose ending says nothing."""
SUFFIXES = {suffix: form for form in FORMATS for suffix in form.suffixes}
_MAGIC = {form.magic: f"is a file of {form.name}; name it {form.suffixes[0]}" for form in FORMATS if form.magic}


def format_of(path: Path) -> FileFormat:
    """Return the format that the ending of a file says, leaving out that of a compression."""
    return SUFFIXES.get(without_compression(path).suffix.lower(), FORMATS[0])


def stem_of(path: Path) -> str:
    """Return the name of a file without the endings of its format and of its compression."""
    inner = without_compression(path)
    return inner.stem if inner.suffix.lower() in SUFFIXES else inner.name


def read_table(source: Any, name: str, config: DataConfig, problems: Problems) -> RawTable:
    """Return the table in a file or in a frame that is called `name`; bad rows are reported to `problems`."""
    check_mapping(config.columns, config.timeless)
    if isinstance(source, str | Path):
        path = Path(source)
        form = format_of(path)
        if not form.magic:
            check_text(path, _MAGIC)
        problems.begin(str(path))
        table = form.read(path, config, problems)
    else:
        table = table_of_arrow(as_arrow(source, name), name, config)
    problems.begin(table.name, table.written if table.lines is None else None)
    return table
