"""RDF files as statements with their places: N-Triples and N-Quads by their lines, Turtle and TriG in streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from foretime.data.linked.rdf_nesting import TOO_DEEP, ShallowStream, is_too_deep
from foretime.data.linked.rdf_vocabulary import REIFIES
from foretime.data.linked.statements import LeftOut
from foretime.errors import ConfigError, DataError

if TYPE_CHECKING:
    from pyoxigraph import Quad

FORMATS = {".nt": "N_TRIPLES", ".nq": "N_QUADS", ".ttl": "TURTLE", ".trig": "TRIG", ".ntx": "N_TRIPLES"}
"""The formats that are read, by the endings of files; `.ntx` is what YAGO calls N-Triples with quoted triples."""
LINE_FORMATS = ("N_TRIPLES", "N_QUADS")
BAD_SYNTAX = "not valid in its format"
NOT_UTF8 = "not valid UTF-8"
SHOWN = 200
"""Bytes of a line that is nested too deeply which are shown."""


class PlacedQuad(NamedTuple):
    """A statement and its line; in Turtle and TriG, which do not say it, its number."""

    line: int
    quad: Any
    quoted: str = ""
    """The triple that was quoted as the subject, where it has no node of its own: what is said of it is said of one."""


def oxigraph() -> Any:
    """Return the library that reads RDF; without it, say which extra has it."""
    try:
        import pyoxigraph
    except ImportError:
        raise ConfigError("RDF needs pyoxigraph; install it with: pip install 'foretime[rdf]'") from None
    return pyoxigraph


def format_of(name: str) -> str:
    """Return the format of a file by its ending."""
    ending = PurePath(name).suffix.lower()
    if ending not in FORMATS:
        raise DataError(f"{name}: not known as RDF; name it {', '.join(FORMATS)}, or convert it to one of them")
    return FORMATS[ending]


def line_quads(content: bytes, first: int, format_name: str) -> Iterator[PlacedQuad | tuple[int, LeftOut]]:
    """Yield the statements of whole lines, and the lines that are none; `first` is the number of the first line.

    All lines are parsed at once. Only where one of them is wrong, or has a quoted triple as its subject, are they
    parsed one by one.
    """
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), start=first) if _holds_something(line)]
    library = oxigraph()
    form = getattr(library.RdfFormat, format_name)
    try:
        quads = [] if is_too_deep(content) else list(library.parse(content, format=form))
        if len(quads) == len(lines):
            yield from (PlacedQuad(number, quad) for (number, _), quad in zip(lines, quads, strict=True))
            return
    except (SyntaxError, UnicodeDecodeError):
        pass
    for number, line in lines:
        yield from _one_line(library, form, number, line)


def _holds_something(line: bytes) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith(b"#")


def _one_line(library: Any, form: Any, number: int, line: bytes) -> Iterator[PlacedQuad | tuple[int, LeftOut]]:
    """Yield the statements of a line. A quoted triple as a subject is Turtle: N-Triples had it before RDF 1.2."""
    quoted = line.lstrip().startswith(b"<<")
    if is_too_deep(line):
        yield number, LeftOut(TOO_DEEP, line[:SHOWN].decode("utf-8", errors="backslashreplace"))
        return
    try:
        quads = list(library.parse(line, format=library.RdfFormat.TURTLE if quoted else form))
    except (SyntaxError, UnicodeDecodeError) as error:
        shown = line.decode("utf-8", errors="backslashreplace").rstrip("\r")
        reason = NOT_UTF8 if not _is_utf8(line) else BAD_SYNTAX
        yield number, LeftOut(reason, shown if reason == NOT_UTF8 else f"{shown}  ({_detail(error)})")
        return
    node = next((str(quad.object) for quad in quads if quoted and quad.predicate.value == REIFIES), "")
    yield from (PlacedQuad(number, quad, node) for quad in quads)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _detail(error: Exception) -> str:
    return str(error.args[0]).rpartition(": ")[2] if error.args else "syntax"


def stream_quads(stream: BinaryIO, format_name: str, place: str) -> Iterator[PlacedQuad]:
    """Yield the statements of a Turtle or TriG file; a syntax error ends it.

    After an error such a parser finds its way again only by guessing, and what it passes over is not reported.
    """
    library = oxigraph()
    try:
        shallow = ShallowStream(stream, place)
        quads: Iterable[Quad] = library.parse(shallow, format=getattr(library.RdfFormat, format_name))
        for number, quad in enumerate(quads, start=1):
            yield PlacedQuad(number, quad)
    except SyntaxError as error:
        where = f"{place}:{error.lineno}" if error.lineno else place
        raise DataError(f"{where}: {_detail(error)}; fix it, or convert the file to N-Quads line by line") from None
