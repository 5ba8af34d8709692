"""Writes the made-up dump of Wikidata that docs/sources.md imports: players, their clubs, and the clubs' youth teams.

    python docs/make_wikidata_sample.py FOLDER

Players begin in a youth team, go on to its club, and some to a second club. Beside their statements stand some as the
real dump has them: deprecated ones, values that are no entities, times to the day, the month and the year,
days of the Julian calendar, a label that two entities share, a line that was cut.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path
from typing import Any

PLAYERS, CLUBS, SEED = 120, 8, 5
TOWNS = ("Arvin", "Belmora", "Corvale", "Dunmere", "Eskil", "Farrow", "Galt", "Hest")
FIRST = ("Ada", "Bo", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kit", "Lea")
LAST = ("Abel", "Brand", "Cole", "Dorn", "Eck", "Frost", "Gray", "Holm", "Ives", "Jarl")
PERSON, CLUB, YOUTH_TEAM = 5, 6, 7
GREGORIAN, JULIAN = "Q1985727", "Q1985786"


def _time(year: int, month: int = 0, day: int = 0, precision: int = 9, calendar: str = GREGORIAN) -> dict[str, Any]:
    value = {
        "time": f"+{year:04d}-{month:02d}-{day:02d}T00:00:00Z",
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": precision,
        "calendarmodel": f"http://www.wikidata.org/entity/{calendar}",
    }
    return {"snaktype": "value", "datavalue": {"value": value, "type": "time"}}


def _statement(target: int | str, rank: str = "normal", **times: dict[str, Any]) -> dict[str, Any]:
    value: Any = target
    if isinstance(target, int):
        value = {"entity-type": "item", "numeric-id": target, "id": f"Q{target}"}
    kind = "wikibase-entityid" if isinstance(target, int) else "string"
    snak = {"snaktype": "value", "datavalue": {"value": value, "type": kind}}
    return {"mainsnak": snak, "rank": rank, "qualifiers": {name: [time] for name, time in times.items()} or []}


def _entity(name: str, label: str, **claims: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "property" if name.startswith("P") else "item",
        "id": name,
        "labels": {"en": {"language": "en", "value": label}} if label else [],
        "aliases": [],
        "claims": claims or [],
    }


def entities() -> list[dict[str, Any]]:
    """Return the entities of the sample."""
    draw = random.Random(SEED)
    made = [_entity("P54", "member of sports team"), _entity("P31", "instance of")]
    made += [_entity(f"Q{number}", label) for number, label in ((5, "human"), (6, "football club"), (7, "youth team"))]
    for club, town in enumerate(TOWNS):
        made.append(_entity(f"Q{100 + club}", f"{town} FC", P31=[_statement(CLUB)]))
        made.append(_entity(f"Q{200 + club}", f"{town} Youth", P31=[_statement(YOUTH_TEAM)]))
    names = [f"{first} {last}" for last in LAST for first in FIRST]
    names[7] = names[3]  # two players of one name
    made += [_player(1000 + number, names[number], draw) for number in range(PLAYERS)]
    return made


def _player(number: int, name: str, draw: random.Random) -> dict[str, Any]:
    club, begin, years = draw.randrange(CLUBS), draw.randrange(1960, 2008), draw.randrange(2, 5)
    turn, end = begin + years, begin + years + draw.randrange(3, 9)
    teams = [
        _statement(200 + club, P580=_time(begin), P582=_time(turn)),
        _statement(100 + club, P580=_time(turn, 7, 1, 11) if number % 3 else _time(turn, 7, 0, 10), P582=_time(end)),
    ]
    if number % 2:
        teams.append(_statement(100 + (club + 1) % CLUBS, P580=_time(end), P582=_time(end + 3)))
    if number % 10 == 0:
        teams.append(_statement(100 + (club + 3) % CLUBS, "deprecated", P580=_time(end)))
    if number % 40 == 0:
        teams.append(_statement(100 + (club + 5) % CLUBS, P585=_time(end + 4, 6, 1, 11, JULIAN)))
    return _entity(f"Q{number}", name, P31=[_statement(PERSON)], P54=teams, P1477=[_statement(name.upper())])


def write_sample(folder: Path) -> None:
    """Write the dump, compressed, with a line that was cut."""
    lines = [json.dumps(entity, separators=(",", ":")) for entity in entities()]
    lines.insert(50, lines[49][:200])
    content = "[\n" + ",\n".join(lines) + "\n]\n"
    (folder / "wikidata-sample.json.gz").write_bytes(gzip.compress(content.encode(), mtime=0))


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
