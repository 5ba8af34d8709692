"""A whole world from a number of events and a seed, and as files that can be read, trained on and checked against."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from foretime.data.facts import Ids
from foretime.data.synthetic.events import Pairs, Scale, draw_events, fill_up, hold_summits, space_out
from foretime.data.synthetic.planting import PlantedEvents, plant
from foretime.data.synthetic.schema import PREDICATES, RULES, Origin, PlantedRule, PredicateRow
from foretime.data.synthetic.society import ERA_DAYS, Society, found_society
from foretime.errors import DataError
from foretime.files import make_folder

FEWEST, MOST = 1_000, 10_000_000
FIRST_DAY = date(2024, 1, 1)
WINDOW = 5
USUAL_EVENTS, USUAL_DAYS, USUAL_STATES = 20_000, 365, 32
FEWEST_DAYS, MOST_DAYS = 60, 4_000
SHARES = {"valid": 0.1, "test": 0.1}
ROWS = 100_000
"""Rows that are turned into text at a time, so that a large world never stands in memory as text."""
PLANTED_FILE = "planted_events.jsonl"
"""Which events made each planted one."""
SUMMITS = 0.004
"""Summits for each event of the world."""


@dataclass(frozen=True)
class World:
    """A generated world: who there is, what happened on which day, and the rules that were planted in it.

    `subject`, `predicate`, `object` and `day` are aligned columns of ids and of days from `first_day`, (events,). No
    event is there twice. `signatures` gives for each predicate the types of its subjects and of its objects. `planted`
    has for each rule the events that were planted, and those that made them.
    """

    entities: tuple[str, ...]
    types: tuple[str, ...]
    predicates: tuple[str, ...]
    signatures: tuple[tuple[frozenset[str], frozenset[str]], ...]
    subject: Ids
    predicate: Ids
    object: Ids
    day: Ids
    planted: tuple[PlantedEvents, ...]
    days: int
    seed: int
    first_day: date = FIRST_DAY

    def __len__(self) -> int:
        return len(self.subject)

    def __repr__(self) -> str:
        return f"World of {len(self):,} events, {len(self.entities):,} entities, {self.days:,} days, seed {self.seed}"

    @property
    def rules(self) -> tuple[PlantedRule, ...]:
        """The rules that were planted, with their counts."""
        return tuple(planted.rule for planted in self.planted)

    def split(self) -> dict[str, Ids]:
        """Return the rows that belong to train, valid and test; every row belongs to one of them."""
        order = np.random.default_rng([self.seed, 1]).permutation(len(self))
        rows = {}
        for name, share in SHARES.items():
            count = int(share * len(self))
            rows[name], order = order[:count], order[count:]
        return {"train": order, **rows}

    def write(self, folder: Path | str) -> Path:
        """Write the world into a folder, which is returned; raise `DataError` if that cannot be done.

        `train.tsv`, `valid.tsv` and `test.tsv` share the events 80/10/10 at random by the world's seed; `rules.json`
        and `rules.txt` are the planted rules, `planted_events.jsonl` says which events made each planted one, and
        `entities.tsv` is the type of each entity.
        """
        folder = Path(folder)
        rules = [{"text": str(rule)} | asdict(rule) for rule in self.rules]
        for described, rule in zip(rules, self.rules, strict=True):
            described |= {"head": rule.head._asdict(), "body": [atom._asdict() for atom in rule.body]}
        report = {"events": len(self), "seed": self.seed, "rules": rules}
        types = zip(self.entities, self.types, strict=True)
        try:
            make_folder(folder)
            for name, rows in self.split().items():
                self._write_events(rows, folder / f"{name}.tsv")
            self._write_planted(folder / PLANTED_FILE)
            for name, text in {
                "entities.tsv": "name\ttype\n" + "".join(f"{entity}\t{kind}\n" for entity, kind in types),
                "rules.txt": "".join(f"{rule}\n" for rule in self.rules),
                "rules.json": json.dumps(report, indent=2, ensure_ascii=False) + "\n",
            }.items():
                (folder / name).write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise DataError(f"{folder}: the world cannot be written: {error}; choose another folder") from error
        return folder

    def _write_events(self, rows: Ids, path: Path) -> None:
        entities, predicates, days = self.entities, self.predicates, self._dates()
        columns = (self.subject, self.predicate, self.object, self.day)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for begin in range(0, len(rows), ROWS):
                part = rows[begin : begin + ROWS]
                file.writelines(
                    f"{entities[s]}\t{predicates[p]}\t{entities[o]}\t{days[t]}\n"
                    for s, p, o, t in zip(*(column[part].tolist() for column in columns), strict=True)
                )

    def _write_planted(self, path: Path) -> None:
        """Write a line for each event that a grounding planted: the event, the rule, and the events that made it."""
        entities, days = self.entities, self._dates()

        def events(predicate: str, pairs: Pairs) -> Iterator[list[str]]:
            for s, o, t in zip(*(column.tolist() for column in pairs), strict=True):
                yield [entities[s], predicate, entities[o], days[t]]

        with path.open("w", encoding="utf-8", newline="\n") as file:
            for rule, head, body in self.planted:
                atoms = zip((rule.head, *rule.body), (head, *body), strict=True)
                for event, *made_by in zip(*(events(atom.predicate, pairs) for atom, pairs in atoms), strict=True):
                    line = {"event": event, "rule": str(rule), "made_by": made_by}
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _dates(self) -> list[str]:
        return [(self.first_day + timedelta(days=day)).isoformat() for day in range(self.days)]


def generate_world(events: int = USUAL_EVENTS, seed: int = 0, *, days: int | None = None) -> World:
    """Return a world of exactly `events` events, always the same for a seed.

    `days` is the length of the timeline: a year by default, more for more than 20,000 events. What the rules start from
    is drawn first, then the rules are planted one after the other, and predicates that no rule mentions fill the rest.
    Raises `DataError` for fewer than 1,000 or more than 10,000,000 events, or for days that cannot hold them.

        graph = foretime.load(foretime.generate_world(events=5_000, seed=1).write("world"))
    """
    days = _check(events, seed, days)
    rng = np.random.default_rng(seed)
    society = found_society(_state_count(events), days // ERA_DAYS + 1, rng)
    scale = Scale(len(society.names), days)
    drawn, planted = _plant_rules(events, society, scale, rng)
    rest = events - sum(len(pairs.day) for pairs in drawn.values())
    drawn |= fill_up(_rows("filler"), rest, society, scale, rng)
    parts = [drawn[row.name] for row in PREDICATES]
    predicate = np.repeat(np.arange(len(parts)), [len(part.day) for part in parts])
    order = rng.permutation(len(predicate))
    subject, object_, day = (np.concatenate(columns)[order] for columns in zip(*parts, strict=True))
    names = tuple(row.name for row in PREDICATES)
    signatures = tuple((frozenset(row.subjects), frozenset(row.objects)) for row in PREDICATES)
    columns = subject, predicate[order], object_, day
    return World(society.names, society.types, names, signatures, *columns, planted, days, seed)


def _check(events: int, seed: int, days: int | None) -> int:
    if not FEWEST <= events <= MOST:
        raise DataError(f"a world of {events} events cannot be made; ask for {FEWEST:,} to {MOST:,} events")
    if seed < 0:
        raise DataError(f"seed {seed} is negative; any whole number from 0 on will do")
    usual = min(MOST_DAYS, round(USUAL_DAYS * math.pow(max(events, USUAL_EVENTS) / USUAL_EVENTS, 0.385)))
    # Much denser than usual, the same things would have to happen twice on a day.
    fewest, most = max(FEWEST_DAYS, usual // 10), 2 * MOST_DAYS
    if days is not None and not fewest <= days <= most:
        raise DataError(f"{events} events cannot be laid out over {days} days; ask for {fewest} to {most} days")
    return usual if days is None else days


def _state_count(events: int) -> int:
    """Return a multiple of four that grows a little faster than the square root of the number of events."""
    return 4 * max(2, round(USUAL_STATES / 4 * math.pow(events / USUAL_EVENTS, 0.63)))


def _rows(origin: Origin) -> list[PredicateRow]:
    return [row for row in PREDICATES if row.origin == origin]


def _plant_rules(
    events: int, society: Society, scale: Scale, rng: np.random.Generator
) -> tuple[dict[str, Pairs], tuple[PlantedEvents, ...]]:
    """Return the events of the bodies and heads of all rules, and what made the planted ones."""
    happened = hold_summits(round(SUMMITS * events), society, scale, rng)
    for row in _rows("background"):
        drawn = draw_events(row, round(row.share * events), society, scale, rng)
        happened[row.name] = space_out(drawn, WINDOW, scale)
    heads = {row.name: row for row in _rows("head")}
    planted = []
    for rule in RULES:
        row = heads[rule.head.predicate]
        noise = draw_events(row, round(row.share * events), society, scale, rng)
        made, happened[row.name] = plant(rule, happened, noise, scale, rng)
        planted.append(made)
    return happened, tuple(planted)
