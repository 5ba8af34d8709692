"""Files of every format, damaged at random: no row is lost, none is read as something else, and no error is a stranger.

    python -m benchmarks.mutated_files --files 20000 --out benchmarks/results/mutated_files.json

Each file is read with `bad_rows="skip"`, and once more by a plain reader: Python's `csv` and `json`, a dozen lines each.
Rows that were kept must be those of the plain reader, name by name and day by day, and rows that were not kept must be
reported with their lines. A file may be refused as a whole, but only by an error of this library.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import foretime as ft

Row = tuple[str, ...]
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
ODD_TIMES = (
    "soon",
    "",
    "####-##-##",
    "2024-13-01",
    "04/10/2024",
    "17",
    "2024-##-##",
    "195#",
    "2024-02-30",
    "20240131",
    "4 Oct 2024",
    "2024-01-01T25:00",
)
ODD_BYTES = (
    b"\t",
    b",",
    b'"',
    b"\n",
    b"\r",
    b"\\",
    b"\0",
    b"\xff",
    b"#",
    b" ",
    b"\xef\xbb\xbf",
    b"7",
    b'\\"',
    b"\xe2\x80\x8b",
    b"|",
    b"{",
    b"\xc3",
)
COLUMNS = ("subject", "predicate", "object", "time")
BY_NAME = f"columns by their names: {', '.join(COLUMNS)}"
"""The plain reader knows these keys alone; `subject{` is a word for the subject too."""


@dataclass(frozen=True)
class Plain:
    """A row as the plain reader has it: its line or number, and its cells, nothing where it has another number of them."""

    line: int
    cells: Row | None


def base_rows(rng: random.Random) -> list[Row]:
    """Rows of events on days, with names of all kinds."""
    names = ["Ann", "Bob Lee", "Zürich", "日本", "O'Neill", "x" * 40, "None", "1.0"]
    verbs = ["visits", "sues", "praises"]
    count = rng.randint(4, 30)
    return [
        (rng.choice(names), rng.choice(verbs), rng.choice(names), f"2024-01-{rng.randint(1, 28):02d}")
        for _ in range(count)
    ]


def damage_bytes(content: bytes, rng: random.Random) -> bytes:
    """The content with a few bytes or lines changed."""
    for _ in range(rng.randint(0, 4)):
        place = rng.randrange(len(content) + 1)
        lines = content.split(b"\n")
        row = rng.randrange(len(lines))
        way = rng.randrange(8)
        if way == 0:
            content = content[:place] + content[place + rng.randint(1, 3) :]
        elif way == 1:
            content = content[:place] + rng.choice(ODD_BYTES) + content[place:]
        elif way == 2:
            content = b"\n".join([*lines[:row], lines[row], *lines[row:]])
        elif way == 3:
            content = b"\n".join(lines[:row] + lines[row + 1 :])
        elif way == 4:
            content = content[:place] if rng.random() < 0.2 else content
        elif way == 5:
            content = b"\n".join([*lines[:row], b" " * rng.randint(0, 3), *lines[row:]])
        elif way == 6:
            content = content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]
        else:
            content = (
                content.replace(b"\n", b"\r\n")
                if rng.random() < 0.2
                else b"\n".join([*lines[:row], lines[row][: rng.randint(0, 9)], *lines[row + 1 :]])
            )
    return content


def damage_cells(rows: list[Row], rng: random.Random) -> list[Row]:
    """The rows with a few cells changed: other times, nothing, or a cell less or more."""
    changed = [list(row) for row in rows]
    for _ in range(rng.randint(0, 3)):
        row = rng.choice(changed)
        way = rng.randrange(5)
        if way == 0 and len(row) > 3:
            row[3] = rng.choice(ODD_TIMES)
        elif way == 1 and row:
            row[rng.randrange(len(row))] = ""
        elif way == 2 and row:
            row.pop(rng.randrange(len(row)))
        elif way == 3:
            row.insert(rng.randint(0, len(row)), "more")
        elif row:
            row[rng.randrange(len(row))] = rng.choice(['say "hi"', "a,b", "a\\", "two\nlines", "\u200b", " x "])
    return [tuple(row) for row in changed]


def text_of(rows: list[Row], delimiter: str, header: bool) -> bytes:
    """The rows as a text file; quotes group fields where the delimiter is no tab."""
    every = [COLUMNS, *rows] if header else rows
    if delimiter == "\t":
        return "".join("\t".join(cell.replace("\n", " ") for cell in row) + "\n" for row in every).encode()
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(every)
    return stream.getvalue().encode()


def plain_text(content: bytes, delimiter: str) -> Iterator[Plain]:
    """The rows of a text file by Python's own reader, blank lines left out."""
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="surrogateescape", newline="")
    if delimiter == "\t":
        for number, line in enumerate(lines, 1):
            if line.rstrip("\r\n").strip(" "):
                yield Plain(number, tuple(line.rstrip("\r\n").split("\t")))
        return
    reader, begin = csv.reader(lines, delimiter=delimiter), 1
    for cells in reader:
        if len(cells) > 1 or "".join(cells).strip(" "):
            yield Plain(begin, tuple(cells))
        begin = reader.line_num + 1


def plain_json(content: bytes) -> Iterator[Plain]:
    """The rows of a file of JSON Lines by Python's own reader."""
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="surrogateescape", newline="")
    for number, line in enumerate(lines, 1):
        if not line.rstrip("\r\n").strip(" "):
            continue
        try:
            found = json.loads(line)
            cells = tuple("" if found.get(name) is None else str(found[name]) for name in COLUMNS)
        except (ValueError, AttributeError):
            cells = None
        yield Plain(number, cells)


def write_text(delimiter: str) -> Callable[[Path, random.Random], list[Plain]]:
    """A writer of damaged text files."""

    def write(path: Path, rng: random.Random) -> list[Plain]:
        content = text_of(damage_cells(base_rows(rng), rng), delimiter, rng.random() < 0.4)
        content = damage_bytes(content, rng)
        path.write_bytes(content)
        return list(plain_text(content, delimiter))

    return write


def write_json(path: Path, rng: random.Random) -> list[Plain]:
    """Write a damaged file of JSON Lines."""
    rows = [dict(zip(COLUMNS, row, strict=False)) for row in damage_cells(base_rows(rng), rng)]
    content = damage_bytes(
        "".join(json.dumps(row, ensure_ascii=rng.random() < 0.5) + "\n" for row in rows).encode(), rng
    )
    path.write_bytes(content)
    return list(plain_json(content))


def write_columns(path: Path, rng: random.Random) -> list[Plain]:
    """Write a damaged file of whole columns; now and then a byte of it is another one."""
    rows = [(*row, "", "", "", "")[:4] for row in damage_cells(base_rows(rng), rng)]
    table = pa.table({name: [row[i] or None for row in rows] for i, name in enumerate(COLUMNS)})
    (pyarrow.parquet.write_table if path.suffix == ".parquet" else pyarrow.feather.write_feather)(table, path)
    if rng.random() < 0.1:
        content = path.read_bytes()
        path.write_bytes(content[: rng.randrange(len(content))])
    return [Plain(number, row) for number, row in enumerate(rows, 1)]


WRITERS: dict[str, Callable[[Path, random.Random], list[Plain]]] = {
    ".tsv": write_text("\t"), ".txt": write_text("\t"), ".csv": write_text(","), ".jsonl": write_json, ".parquet": write_columns, ".arrow": write_columns,
}  # fmt: skip


DECADE = re.compile(r"-?\d*#+(-##-##)?")
"""A time of which no year is known: an event at such a time is background."""


def _is_known(time: str | None) -> bool:
    return time not in (None, "") and DECADE.fullmatch(time) is None


def check_file(folder: Path, seed: int) -> Counter[str]:
    """Write one damaged file, read it in both ways, and compare; the counts say what came out."""
    rng = random.Random(seed)
    suffix = rng.choice(list(WRITERS))
    path = folder / f"mutated{suffix}"
    plain = WRITERS[suffix](path, rng)
    return Counter({"files": 1, suffix: 1}) + compare_rows(path, plain, f"seed {seed}")


def compare_rows(path: Path, plain: list[Plain], place: str, **reading: Any) -> Counter[str]:
    """Read a file and compare its rows with those of the plain reader; the counts say what came out.

    A row that is lost, or read as another one, is an `AssertionError` that begins with the place.
    """
    try:
        graph = ft.load(path, bad_rows="skip", valid_share=0, test_share=0, **reading)
    except ft.ForetimeError:
        return Counter({"refused": 1})
    header = any("the first row is a header" in note for note in graph.notes)
    rows = plain[1:] if header else plain
    timeless, bad = list(graph.rows("background")), {row.line for row in graph.bad_rows.rows}
    kept = [*graph.rows(), *timeless]
    assert len(rows) == len(kept) + len(graph.bad_rows), (
        f"{place}: {len(rows)} rows, {len(kept)} kept, {len(bad)} reported"
    )
    assert bad <= {row.line for row in rows}, f"{place}: a line that is none is reported"
    left = [row for row in rows if row.line not in bad]
    width = len(COLUMNS) if not graph.has_intervals else len(COLUMNS) + 1
    if plain[0].cells == COLUMNS if header else path.suffix != ".jsonl" or BY_NAME in graph.notes:
        left.sort(key=lambda row: row.cells is not None and not any(map(_is_known, row.cells[3:])))  # they come last
        for row, found in zip(left, kept, strict=True):
            assert row.cells is not None, f"{place}: {row} was read as {found}"
            assert len(row.cells) == width, f"{place}: {row} was read as {found}"
            assert row.cells[:3] == found[:3], f"{place}: {row} was read as {found}"
            if DAY.fullmatch(row.cells[3]) and graph.timeline.unit == "day":
                assert row.cells[3] == found[3], f"{place}: {row} was read as {found}"
    return Counter({"read": 1, "rows": len(rows), "kept": len(kept), "reported": len(graph.bad_rows)})


def check_files(count: int, first: int = 0) -> Counter[str]:
    """Check many files, each by its own seed."""
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            total += check_file(Path(folder), seed)
    return total


def main() -> None:
    """Check files and write the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first file")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    began = time.process_time()
    counts = check_files(given.files, given.first)
    result = {
        "first_seed": given.first,
        **dict(sorted(counts.items())),
        "cpu_seconds": round(time.process_time() - began, 1),
    }
    print(json.dumps(result, indent=2))
    if given.out:
        given.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
