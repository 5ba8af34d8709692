"""Statements of RDF, one by one, onto the shelf: which may be facts, which are parts of them, and which are names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from foretime.data.linked import rdf_vocabulary as words
from foretime.data.linked.rdf_files import PlacedQuad, oxigraph
from foretime.data.linked.shelf import Shelf

PART = "part of a statement, or of its time"
NAME = "a name of something"
TYPE_TAKEN = "says what its subject is: kept as its type"
OTHER_LANGUAGE = "a name in another language"
LITERAL = "the object is a literal"
DESCRIPTION = "describes the data, or its classes"
OTHER_FORM = "another form of a value or a source of Wikidata's"

NODE, STAMP, SOMETHING, QUOTED = "node", "stamp", "unknown", "quoted"
"""Kinds of values beside the datatypes of literals: a node, a time without its precision, an unknown one, a triple."""

_TABLES = """
create table mark(node text, role text, value text, kind text, named integer, file integer, row integer, line integer);
create table triple(file integer, row integer, line integer, subject text, predicate text, object text, graph text);
create table statement(file integer, row integer, line integer, node text, subject text, predicate text, object text,
    kind text, graph text);
"""
_UNKNOWN_NODES = (words.WIKIDATA + ".well-known/genid/", "_:")


@dataclass(frozen=True)
class RdfChoices:
    """How statements become facts, and by which language things are named."""

    language: str = "en"
    properties: frozenset[str] = frozenset()
    """Only these, by IRI or by local name; all if it is empty."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Further properties of statement nodes, by IRI or by local name: the role of each."""
    times: Mapping[str, str] = field(default_factory=dict)
    """Further properties that date a statement: `start`, `end` or `time`."""
    graph_time: Literal["auto", "name", "no"] = "auto"
    event_time: bool = True
    """Whether the time of an event, of OWL-Time or SEM, is that of the facts about it."""
    precision: int | None = None
    """What a time of Wikidata without its precision is taken for; none: no more than it may mean."""
    timeless: bool = True
    labels: bool = True
    """Whether things are named by their labels; without, labels are other names."""


class Term(NamedTuple):
    """A node or a literal as it is kept: its text, and `node`, `quoted` or its datatype."""

    text: str
    kind: str
    language: str = ""


class Intake:
    """Takes statements and says which are set aside at once, and why; the others wait on the shelf."""

    def __init__(self, shelf: Shelf, choices: RdfChoices) -> None:
        self._shelf = shelf
        self._choices = choices
        self._rows = 0
        self._file = 0
        library = oxigraph()
        self._named, self._blank, self._triple = library.NamedNode, library.BlankNode, library.Triple
        self._default = library.DefaultGraph
        self._how: dict[str, Callable[[Term, str, Term, int, str], str]] = {}
        shelf.database.executescript(_TABLES)

    def take(self, file: int, placed: PlacedQuad) -> str:
        """Return why a statement is set aside; an empty text if it waits."""
        quad, self._file = placed.quad, file
        predicate = quad.predicate.value
        subject = Term(placed.quoted, NODE) if placed.quoted else self._term(quad.subject)
        graph = "" if type(quad.graph_name) is self._default else self._term(quad.graph_name).text
        if predicate == words.REIFIES and type(quad.object) is self._triple:
            return self._take_reified(subject.text, quad.object, placed.line, graph)
        how = self._how.get(predicate)
        if how is None:
            how = self._how[predicate] = self._way(predicate)
        return how(subject, predicate, self._term(quad.object), placed.line, graph)

    def _term(self, term: Any) -> Term:
        kind = type(term)
        if kind is self._named:
            return Term(term.value, NODE)
        if kind is self._blank:  # blank nodes of two files are different things
            return Term(f"_:{self._file}:{term.value}", NODE)
        if kind is self._triple:
            return Term(str(term), QUOTED)
        return Term(term.value, term.datatype.value, term.language or "")

    def _way(self, predicate: str) -> Callable[[Term, str, Term, int, str], str]:
        """Return how statements with a property are taken; it is looked up once for each."""
        property_ = words.wikidata_property(predicate)
        if property_:
            ways = {"": self._take_link, "direct/": self._take_direct, "statement/": self._take_value}
            qualifier = property_.form in ("qualifier/", "qualifier/value/") and property_.id in words.QUALIFIERS
            return self._take_qualifier if qualifier else ways.get(property_.form, self._set_aside(OTHER_FORM))
        if predicate == words.TYPE:
            return self._take_type
        if predicate in words.LABELS or predicate in words.ALIASES:
            return self._take_name
        role = words.MARKS.get(predicate) or self._choices.marks.get(predicate)
        role = role or self._choices.marks.get(words.local_name(predicate))
        if role:
            return self._taking_mark(role, named=False)
        if time := words.time_role(predicate, self._choices.times):
            given = predicate in self._choices.times or words.local_name(predicate) in self._choices.times
            return self._taking_mark(time, named=True, literals=not given)
        return self._set_aside(DESCRIPTION) if words.is_descriptive(predicate) else self._take_triple

    @staticmethod
    def _set_aside(reason: str) -> Callable[[Term, str, Term, int, str], str]:
        return lambda *_: reason

    def _mark(self, node: str, role: str, value: Term, line: int, named: bool = False) -> None:
        self._shelf.insert("mark", (node, role, value.text, value.kind, named, self._file, self._rows, line))

    def _taking_mark(
        self, role: str, named: bool, literals: bool = False
    ) -> Callable[[Term, str, Term, int, str], str]:
        def take(subject: Term, predicate: str, value: Term, line: int, graph: str) -> str:
            if literals and value.kind == NODE:
                return self._take_triple(subject, predicate, value, line, graph)  # `from` and `to` may be relations
            self._rows += role == "object" or named
            self._mark(subject.text, role, value, line, named)
            return "" if role == "object" or named else PART

        return take

    def _take_reified(self, node: str, triple: Any, line: int, graph: str) -> str:
        subject, object_ = self._term(triple.subject), self._term(triple.object)
        predicate = self._property_name(triple.predicate.value)
        self._add_statement(line, node, (subject.text, predicate), object_, graph)
        return ""

    def _add_statement(self, line: int, node: str, begin: tuple[str, str], object_: Term, graph: str) -> None:
        self._rows += 1
        self._shelf.insert("statement", (self._file, self._rows, line, node, *begin, *object_[:2], graph))

    @staticmethod
    def _property_name(iri: str) -> str:
        """Return one IRI for a property of Wikidata, whatever its form: that of its entity, which has the labels."""
        property_ = words.wikidata_property(iri)
        return words.ENTITY + property_.id if property_ else iri

    def _take_triple(self, subject: Term, predicate: str, object_: Term, line: int, graph: str) -> str:
        if object_.kind != NODE:
            return LITERAL
        self._rows += 1
        row = (self._file, self._rows, line, subject.text, self._property_name(predicate), object_.text, graph)
        self._shelf.insert("triple", row)
        return ""

    def _take_direct(self, subject: Term, predicate: str, object_: Term, line: int, graph: str) -> str:
        if predicate.endswith("/P31"):
            return self._take_type(subject, predicate, object_, line, graph)
        return self._take_triple(subject, predicate, object_, line, graph)

    def _take_link(self, subject: Term, predicate: str, object_: Term, line: int, graph: str) -> str:
        """Take `p:`, which leads from an entity to a statement about it."""
        self._mark(object_.text, "subject", subject, line)
        self._mark(object_.text, "predicate", Term(self._property_name(predicate), NODE), line)
        return PART

    def _take_value(self, subject: Term, predicate: str, object_: Term, line: int, graph: str) -> str:
        """Take `ps:`, which leads from a statement to its value."""
        self._rows += 1
        self._mark(subject.text, "object", self._known(object_), line)
        return ""

    def _take_qualifier(self, subject: Term, predicate: str, object_: Term, line: int, graph: str) -> str:
        found = words.wikidata_property(predicate)
        role = words.QUALIFIERS[found.id] if found else ""
        simple = found is not None and found.form == "qualifier/"
        known = self._known(object_)
        self._mark(subject.text, role, Term(known.text, STAMP) if simple and known.kind != SOMETHING else known, line)
        return PART

    @staticmethod
    def _known(value: Term) -> Term:
        """Return a value of Wikidata's, where a blank node is one that is not known."""
        return Term(value.text, SOMETHING) if value.kind == NODE and value.text.startswith(_UNKNOWN_NODES) else value

    def _take_type(self, subject: Term, predicate: str, object_: Term, line: int, graph: str) -> str:
        if object_.kind == NODE:
            self._shelf.add_types(subject.text, [object_.text])
        return TYPE_TAKEN

    def _take_name(self, subject: Term, predicate: str, name: Term, line: int, graph: str) -> str:
        languages = (self._choices.language, "", "mul")
        if name.language not in languages:
            return OTHER_LANGUAGE
        if predicate in words.ALIASES or not self._choices.labels:
            self._shelf.add_aliases(subject.text, [name.text])
        else:
            preference = 10 * languages.index(name.language) + words.LABELS[predicate]
            self._shelf.add_label(subject.text, name.text, preference)
        return NAME
