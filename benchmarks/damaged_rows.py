"""One per cent of the rows of a graph damaged in twelve ways: every damaged row is skipped and reported, and no other.

    python -m benchmarks.damaged_rows wikidata12k --out benchmarks/results/damaged_rows.json

The damage is drawn by a seed and written into a copy. The copy is read with `bad_rows="skip"`, its report is compared with
the list of the damaged lines, and one epoch is trained on what is left.
"""

from __future__ import annotations

import foretime as ft  # first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

Cells = list[bytes]
SPLITS = ("train", "valid", "test")


def _put(place: int, cell: bytes) -> Callable[[Cells], Cells]:
    return lambda cells: [*cells[:place], cell, *cells[place + 1 :]]


WAYS: dict[str, Callable[[Cells], Cells]] = {
    "a field is missing": lambda cells: cells[:-1],
    "a field too many": lambda cells: [*cells, b"7"],
    "no subject": _put(0, b""),
    "no predicate": _put(1, b""),
    "no object": _put(2, b""),
    "an entity without a name": _put(0, b"999999999"),
    "a predicate without a name": _put(1, b"999999999"),
    "a word for a date": _put(3, b"soon"),
    "an impossible date": _put(3, b"1990-13-##"),
    "an ambiguous date": _put(3, b"04/10/1990"),
    "a byte that is not UTF-8": lambda cells: [cells[0] + b"\xfc", *cells[1:]],
    "spaces for tabs": lambda cells: [b" ".join(cells)],
}


def damage(source: Path, target: Path, share: float, seed: int) -> dict[tuple[str, int], str]:
    """Copy a folder with some rows of its splits damaged; return the way of each by its file and line."""
    rng, done = random.Random(seed), {}
    for path in source.iterdir():
        if path.name.endswith("2id.txt"):
            shutil.copyfile(path, target / path.name)
    for split in SPLITS:
        lines = (source / f"{split}.txt").read_bytes().splitlines()
        for number in sorted(rng.sample(range(len(lines)), round(share * len(lines)))):
            way = list(WAYS)[len(done) % len(WAYS)]
            lines[number] = b"\t".join(WAYS[way](lines[number].split(b"\t")))
            done[str(target / f"{split}.txt"), number + 1] = way
        (target / f"{split}.txt").write_bytes(b"\n".join(lines) + b"\n")
    return done


def account(folder: Path, done: dict[tuple[str, int], str], rows: int) -> tuple[ft.Graph, dict[str, Any]]:
    """Read a damaged folder, and return the graph with what its report says about each way of damage."""
    graph = ft.load(folder, bad_rows="skip")
    reported = {(bad.source, bad.line): bad.reasons for bad in graph.bad_rows.rows}
    examples = {done[place]: reasons[0] for place, reasons in reversed(reported.items()) if place in done}
    counts = {
        "rows": rows,
        "damaged": len(done),
        "kept": len(graph.facts()),
        "reported": len(reported),
        "damaged_and_reported": len(done.keys() & reported.keys()),
        "reported_and_whole": len(reported.keys() - done.keys()),
        "ways": {
            way: {"rows": count, "reported_as": examples.get(way)} for way, count in Counter(done.values()).items()
        },
        "kinds_in_the_report": len(graph.bad_rows.kinds),
    }
    return graph, counts


def main() -> None:
    """Damage, read, train, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a folder with train.txt, valid.txt and test.txt")
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / given.data.name
        copy.mkdir()
        done = damage(given.data, copy, given.share, given.seed)
        rows = sum(len((given.data / f"{split}.txt").read_bytes().splitlines()) for split in SPLITS)
        graph, counts = account(copy, done, rows)
        settings = {"model.rank": 16, "training.epochs": 1, "training.threads": 1}
        run = ft.train(graph, model="complex", folder=Path(folder) / "run", settings=settings, test=False)
        counts["trained_epochs"] = len(run.history)
        counts["bad_rows_in_the_run"] = len((run.path / "bad_rows.jsonl").read_text(encoding="utf-8").splitlines())
    text = json.dumps({"data": given.data.name, "seed": given.seed, **counts}, indent=2, ensure_ascii=False)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
