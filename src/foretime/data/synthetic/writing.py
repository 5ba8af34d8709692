"""A world as files that can be read, trained on and checked against."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import numpy as np

from foretime.data.synthetic.generation import World
from foretime.data.synthetic.schema import PlantedRule
from foretime.errors import DataError

SHARES = {"valid": 0.1, "test": 0.1}
ROWS = 100_000
"""Rows that are turned into text at a time, so that a large world never stands in memory as text."""


def write(world: World, folder: Path | str) -> Path:
    """Return the folder, in which the world now is.

    `train.tsv`, `valid.tsv` and `test.tsv` share the events 80/10/10 at random by the world's seed; `rules.json` and
    `rules.txt` are the planted rules and `types.tsv` is the type of each entity.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in split(world).items():
            _write_events(world, rows, folder / f"{name}.tsv")
        types = zip(world.entities, world.types, strict=True)
        _write_text(folder / "types.tsv", "".join(f"{entity}\t{kind}\n" for entity, kind in types))
        _write_text(folder / "rules.txt", "".join(f"{rule}\n" for rule in world.rules))
        _write_text(folder / "rules.json", json.dumps(_described(world), indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise DataError(f"{folder}: the world cannot be written: {error}; choose another folder") from error
    return folder


def split(world: World) -> dict[str, np.ndarray]:
    """Return the rows of the world that belong to train, valid and test; every row belongs to one of them."""
    order = np.random.default_rng([world.seed, 1]).permutation(len(world))
    rows = {}
    for name, share in SHARES.items():
        count = int(share * len(world))
        rows[name], order = order[:count], order[count:]
    return {"train": order, **rows}


def _write_events(world: World, rows: np.ndarray, path: Path) -> None:
    entities, predicates = world.entities, world.predicates
    days = [(world.first_day + timedelta(days=day)).isoformat() for day in range(world.days)]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for begin in range(0, len(rows), ROWS):
            part = rows[begin : begin + ROWS]
            columns = (world.subject, world.predicate, world.object, world.day)
            file.writelines(
                f"{entities[s]}\t{predicates[p]}\t{entities[o]}\t{days[t]}\n"
                for s, p, o, t in zip(*(column[part].tolist() for column in columns), strict=True)
            )


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _described(world: World) -> dict[str, object]:
    return {"events": len(world), "seed": world.seed, "rules": [_rule(rule) for rule in world.rules]}


def _rule(rule: PlantedRule) -> dict[str, object]:
    atoms = {"head": rule.head._asdict(), "body": [atom._asdict() for atom in rule.body]}
    return {"text": str(rule), **asdict(rule), **atoms}
