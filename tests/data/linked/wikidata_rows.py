"""Made-up entities in the form of Wikidata's JSON."""

from __future__ import annotations

import json
from typing import Any

GREGORIAN, JULIAN = "Q1985727", "Q1985786"


def time_snak(time: str, precision: int = 9, calendar: str = GREGORIAN) -> dict[str, Any]:
    value = {
        "time": time,
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": precision,
        "calendarmodel": f"http://www.wikidata.org/entity/{calendar}",
    }
    return {"snaktype": "value", "datavalue": {"value": value, "type": "time"}}


def year(number: int) -> dict[str, Any]:
    return time_snak(f"{number:+05d}-00-00T00:00:00Z")


def entity_snak(target: str) -> dict[str, Any]:
    value = {"entity-type": "item", "numeric-id": int(target[1:]), "id": target}
    return {"snaktype": "value", "datavalue": {"value": value, "type": "wikibase-entityid"}}


def text_snak(text: str) -> dict[str, Any]:
    return {"snaktype": "value", "datavalue": {"value": text, "type": "string"}}


def claim(value: dict[str, Any] | str, rank: str = "normal", **qualifiers: Any) -> dict[str, Any]:
    """A statement; qualifiers are a snak, or a list of them."""
    snak = entity_snak(value) if isinstance(value, str) else value
    lists = {name: found if isinstance(found, list) else [found] for name, found in qualifiers.items()}
    return {"mainsnak": snak, "type": "statement", "rank": rank, "qualifiers": lists or []}


def entity(name: str, label: str = "", aliases: tuple[str, ...] = (), **claims: Any) -> dict[str, Any]:
    """An entity; what is empty is `[]`, as PHP writes it."""
    return {
        "type": "property" if name.startswith("P") else "item",
        "id": name,
        "labels": {"en": {"language": "en", "value": label}} if label else [],
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else [],
        "claims": {found: made if isinstance(made, list) else [made] for found, made in claims.items()} or [],
    }


def dump(*entities: dict[str, Any]) -> bytes:
    return ("[\n" + ",\n".join(json.dumps(found, separators=(",", ":")) for found in entities) + "\n]\n").encode()
