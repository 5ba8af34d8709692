"""The IRIs by which RDF says that something is a statement, when it holds, and how things are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from foretime.data.linked.dates import CENTURY, DAY, DECADE, MONTH, YEAR
from foretime.data.linked.naming import local_name as local_name

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SEM = "http://semanticweb.cs.vu.nl/2009/11/sem/"
EVENTKG = "http://eventKG.l3s.uni-hannover.de/schema/"
OWL_TIME = "http://www.w3.org/2006/time#"
WIKIBASE = "http://wikiba.se/ontology#"
WIKIDATA = "http://www.wikidata.org/"
ENTITY = WIKIDATA + "entity/"

TYPE, REIFIES = RDF + "type", RDF + "reifies"

MARKS: Mapping[str, str] = {
    RDF + "subject": "subject",
    RDF + "predicate": "predicate",
    RDF + "object": "object",
    SEM + "roleType": "predicate",
    SEM + "hasBeginTimeStamp": "start",
    SEM + "hasEndTimeStamp": "end",
    SEM + "hasTimeStamp": "time",
    EVENTKG + "startUnitType": "start unit",
    EVENTKG + "endUnitType": "end unit",
    OWL_TIME + "hasTime": "time",
    OWL_TIME + "hasBeginning": "start",
    OWL_TIME + "hasEnd": "end",
    OWL_TIME + "inXSDDate": "instant",
    OWL_TIME + "inXSDgYear": "instant",
    OWL_TIME + "inXSDgYearMonth": "instant",
    OWL_TIME + "inXSDDateTime": "instant",
    OWL_TIME + "inXSDDateTimeStamp": "instant",
    WIKIBASE + "timeValue": "stamp",
    WIKIBASE + "timePrecision": "precision",
    WIKIBASE + "rank": "rank",
}
"""What a property says of the node that has it: a part of a statement, or a part of a time."""

UNITS = {
    OWL_TIME + "unitDay": DAY,
    OWL_TIME + "unitMonth": MONTH,
    OWL_TIME + "unitYear": YEAR,
    EVENTKG + "unitDecade": DECADE,
    EVENTKG + "unitCentury": CENTURY,
}
"""The granularities of EventKG, by the precision codes of Wikidata."""

QUALIFIERS = {"P580": "start", "P582": "end", "P585": "time"}

_WORDS = {
    "start": "since from start begin startdate starttime startyear begindate validfrom hasstart occurssince p580",
    "end": "until till to end enddate endtime endyear validto validuntil hasend occursuntil p582",
    "time": "at on date time year when pointintime inyear attime timestamp occursondate p585",
}
TIME_WORDS = {word: role for role, words in _WORDS.items() for word in words.split()}
"""Local names, in lower case without `_` and `-`, of properties that date a statement if their value is a literal."""

LABELS = {RDFS + "label": 0, SKOS + "prefLabel": 1, "http://schema.org/name": 2, "http://xmlns.com/foaf/0.1/name": 3}
"""Properties that name a thing, and which of them goes first."""
ALIASES = frozenset({SKOS + "altLabel", "http://purl.org/dc/terms/alternative", "http://schema.org/alternateName"})

_DESCRIPTIVE = (RDF, RDFS, OWL, OWL_TIME, WIKIBASE, SKOS, "http://www.w3.org/ns/prov#", "http://rdfs.org/ns/void#")
"""Vocabularies whose other properties describe the data, or its classes and sources, and state no facts."""

_PROPERTY = re.compile(re.escape(WIKIDATA) + r"prop/(?P<form>[a-z-]+(?:/[a-z-]+)*/)?(?P<id>P\d+)")


class WikidataProperty(NamedTuple):
    """A property of Wikidata in one of its forms: `""` is `p:`, `statement/` is `ps:`, `qualifier/value/` is `pqv:`."""

    form: str
    id: str


def wikidata_property(iri: str) -> WikidataProperty | None:
    """Return which property of Wikidata an IRI is, and in which form; nothing if it is none."""
    match = _PROPERTY.fullmatch(iri) if iri.startswith(WIKIDATA) else None
    return WikidataProperty(match["form"] or "", match["id"]) if match else None


def is_descriptive(iri: str) -> bool:
    """Return whether a property describes the data rather than stating a fact."""
    return iri.startswith(_DESCRIPTIVE)


def time_role(iri: str, extra: Mapping[str, str]) -> str:
    """Return whether a property gives a start, an end or a time, going by its name; empty if it gives none."""
    word = local_name(iri)
    return extra.get(iri) or extra.get(word) or TIME_WORDS.get(re.sub("[_-]", "", word).casefold(), "")


def marks_with(roles: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the properties of other vocabularies that a user names, by IRI or by local name, with their role."""
    return {name: role for role, names in roles.items() for name in names}
