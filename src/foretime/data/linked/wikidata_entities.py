"""One entity of Wikidata, as its JSON has it: its names, its types, and a fact for each statement about an entity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foretime.data.linked.dates import UNKNOWN, KnownTime, UnreadableTimeError, wikidata_time
from foretime.data.linked.statements import AmbiguousTimesError, EntityNote, LeftOut, LinkedFact, spans_of

INSTANCE_OF = "P31"
START, END, POINT = "P580", "P582", "P585"
MANY_LANGUAGES = "mul"  # the label of names that are the same in many languages, which then have none of their own

NOT_ASKED_FOR = "of a property that was not asked for"
TAKEN_AS_TYPE = "says what its subject is (P31): kept as its type"
DEPRECATED = "of a rank that was not asked for"
NO_ENTITY = "the value is no entity"
UNKNOWN_VALUE = "the value is not known (somevalue)"
NO_VALUE = "says that there is no value (novalue)"
BAD_TIME = "a time that cannot be read"
AMBIGUOUS = "several starts and ends that cannot be paired"
TIMELESS = "has no time"
MALFORMED = "not as Wikidata writes statements"
ONLY_COUNTED = frozenset({NO_ENTITY, NOT_ASKED_FOR, TAKEN_AS_TYPE})
"""Reasons for which statements of a dump are counted, and not written out one by one."""
_SHOWN = 200  # characters of a value in a reason


@dataclass(frozen=True)
class WikidataChoices:
    """Which statements become facts, and by which language things are named."""

    language: str = "en"
    properties: frozenset[str] = frozenset()
    """Only these; all if it is empty."""
    ranks: frozenset[str] = frozenset({"preferred", "normal"})
    points: tuple[str, ...] = (POINT,)
    """Qualifiers that give a point in time, the first one that is there."""
    timeless: bool = True
    """Whether statements without a time are kept, as facts without a time."""


def entity_note(entity: Mapping[str, Any], language: str) -> EntityNote:
    """Return the label, the types and the aliases of an entity; the label is empty if the language has none."""
    labels, aliases = _mapping(entity.get("labels")), _mapping(entity.get("aliases"))
    found = (_mapping(labels.get(code)).get("value") for code in (language, MANY_LANGUAGES))
    label = next((text for text in found if isinstance(text, str)), "")
    listed = [*_list(aliases.get(language)), *_list(aliases.get(MANY_LANGUAGES))]
    texts = (_mapping(alias).get("value") for alias in listed)
    known = tuple(dict.fromkeys(text for text in texts if isinstance(text, str) and text != label))
    return EntityNote(str(entity["id"]), label, tuple(_types(entity)), known)


def _types(entity: Mapping[str, Any]) -> Iterator[str]:
    for claim in _list(_mapping(entity.get("claims")).get(INSTANCE_OF)):
        if _mapping(claim).get("rank") == "deprecated":
            continue
        target = _entity_value(_mapping(_mapping(claim).get("mainsnak")))
        if target:
            yield target


def entity_statements(entity: Mapping[str, Any], choices: WikidataChoices) -> Iterator[list[LinkedFact | LeftOut]]:
    """Yield what each statement about an entity becomes; one with several times becomes several facts."""
    subject, claimed = str(entity["id"]), entity.get("claims")
    if claimed and not isinstance(claimed, Mapping):
        yield [LeftOut(MALFORMED, f"{subject} {str(claimed)[:_SHOWN]}")]
    for predicate, claims in _mapping(claimed).items():
        for claim in claims if isinstance(claims, list) else [claims]:
            try:
                yield list(_claim_facts(subject, predicate, claim, choices))
            except (KeyError, TypeError, AttributeError, ValueError):  # the shape is not Wikidata's
                yield [LeftOut(MALFORMED, f"{subject} {predicate} {str(claim)[:_SHOWN]}")]


def _claim_facts(
    subject: str, predicate: str, claim: Mapping[str, Any], choices: WikidataChoices
) -> Iterator[LinkedFact | LeftOut]:
    snak = claim["mainsnak"]
    target = _entity_value(snak)
    reason = _reason_against(predicate, claim, target, choices)
    if reason in ONLY_COUNTED:  # most statements of a dump: putting them into words would take longer than reading
        yield LeftOut(reason, "")
        return
    shown = f"{subject} {predicate} {target or _shown_value(snak)}"
    if reason:
        yield LeftOut(reason, shown)
        return
    try:
        spans = spans_of(*_claim_times(_mapping(claim.get("qualifiers")), choices.points))
    except UnreadableTimeError as error:
        yield LeftOut(BAD_TIME, f"{shown}: {error}")
        return
    except AmbiguousTimesError as error:
        yield LeftOut(AMBIGUOUS, f"{shown}: {error}")
        return
    for span in spans:
        if not span.start and not choices.timeless:
            yield LeftOut(TIMELESS, shown)
        else:
            yield LinkedFact(subject, predicate, target, *span)


def _reason_against(predicate: str, claim: Mapping[str, Any], target: str, choices: WikidataChoices) -> str:
    """Return why a statement becomes no fact, whatever its time, or an empty text."""
    if choices.properties and predicate not in choices.properties:
        return TAKEN_AS_TYPE if predicate == INSTANCE_OF and target else NOT_ASKED_FOR
    if claim["rank"] not in choices.ranks:
        return DEPRECATED
    kind = claim["mainsnak"]["snaktype"]
    if kind != "value":
        return UNKNOWN_VALUE if kind == "somevalue" else NO_VALUE
    if not target:
        return NO_ENTITY
    return TAKEN_AS_TYPE if predicate == INSTANCE_OF and not choices.properties else ""


def _claim_times(
    qualifiers: Mapping[str, Any], points: Iterable[str]
) -> tuple[list[KnownTime], list[KnownTime], list[KnownTime]]:
    found = next((_list(qualifiers[point]) for point in points if qualifiers.get(point)), [])
    starts, ends = _list(qualifiers.get(START)), _list(qualifiers.get(END))
    return [_snak_time(s) for s in starts], [_snak_time(s) for s in ends], [_snak_time(s) for s in found]


def _snak_time(snak: Mapping[str, Any]) -> KnownTime:
    if snak["snaktype"] != "value":
        return KnownTime(UNKNOWN)
    return wikidata_time(snak["datavalue"]["value"])


def _entity_value(snak: Mapping[str, Any]) -> str:
    """Return the id of the entity that is the value, or an empty text; old dumps give its number alone."""
    data = _mapping(snak.get("datavalue"))
    if data.get("type") != "wikibase-entityid":
        return ""
    value = _mapping(data.get("value"))
    if isinstance(value.get("id"), str):
        return str(value["id"])
    letter = {"item": "Q", "property": "P"}.get(str(value.get("entity-type")))
    return f"{letter}{value['numeric-id']}" if letter and isinstance(value.get("numeric-id"), int) else ""


def _shown_value(snak: Mapping[str, Any]) -> str:
    return str(_mapping(snak.get("datavalue")).get("value", snak.get("snaktype")))[:_SHOWN]


def _mapping(found: object) -> Mapping[str, Any]:
    """Return a mapping; what is empty may be written as `[]`, and what is absent is empty."""
    return found if isinstance(found, Mapping) else {}


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []
