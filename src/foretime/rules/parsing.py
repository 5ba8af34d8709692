"""Reading one rule, from a line of text or from atoms.

Names of predicates hold commas, parentheses and much else, so an atom is found by the arguments at its end, not by
splitting. What is wrong with a rule is a `DataError` without the place, which the caller knows.
"""

from __future__ import annotations

import json
import re

from foretime.data.facts import inverse
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError, suggestion
from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import GROUP, STATIC, Atom, Measures, Rule, RuleIds, Shape, canonical, number_text

EXAMPLE = "Host a visit(y, x, t) <= Make a visit(x, y, t)"
_ARROW = re.compile(r"\s*(?:<=|<-|⇐|←)\s*")
_AND = re.compile(r"\s*(?:∧|&|and\b)\s*")
_AFTER = re.compile(r"\s*(?:<=|<-|⇐|←|∧|&|and\b|\[|#|$)")
_REST = re.compile(r"\s*(?:\[(?P<measures>[^\]]*)\])?\s*(?:#.*)?$")
_NUMBER = r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_COUNTS = re.compile(rf"{_NUMBER} of {_NUMBER}")
_NAMED = re.compile(rf"(SC|HC|PCA body) {_NUMBER}")
_NOTE = re.compile(rf"planted {_NUMBER}|window {_NUMBER}|{'|'.join(PATTERNS)}")
_DECODER = json.JSONDecoder()


def parse_rule(line: str, predicates: Vocabulary) -> tuple[RuleIds, Measures]:
    """Return the rule of a line in its one form, and its measures, zero if it has none."""
    read = parse_line(line)
    rule = resolve(read, predicates)
    check_measures(rule, read.measures)
    return rule, read.measures


def parse_line(line: str) -> Rule:
    """Return the atoms and the measures of a line; whether they make a rule is not looked at."""
    head, position = _atom(line, 0)
    found = _ARROW.match(line, position)
    if found is None:
        raise DataError(f"expected <= after {head}, found {line[position:].strip() or 'the end'!r}; as in {EXAMPLE}")
    body = []
    while found is not None:
        atom, position = _atom(line, found.end())
        body.append(atom)
        found = _AND.match(line, position)
    rest = _REST.match(line, position)
    if rest is None:
        left = line[position:].strip()
        raise DataError(f"expected ∧, & or 'and', measures in [ ], or the end after {body[-1]}, found {left!r}")
    return Rule(head, tuple(body), parse_measures(rest["measures"] or ""))


def _atom(line: str, begin: int) -> tuple[Atom, int]:
    """Return the atom that begins at a position, and where it ends."""
    begin += len(line[begin:]) - len(line[begin:].lstrip())
    if line[begin : begin + 1] == '"':
        try:
            name, end = _DECODER.raw_decode(line, begin)
        except ValueError:
            name, end = "", len(line)  # no JSON string: the quote is part of a name
        if group := GROUP.match(line, end):
            return _made(name, group), group.end()
    for group in GROUP.finditer(line, begin):
        if _AFTER.match(line, group.end()):
            return _made(line[begin : group.start()].strip(), group), group.end()
    found = line[begin:].strip()
    raise DataError(f"expected an atom, NAME(x, y, t) or NAME(x, y), found {found or 'nothing'!r}; as in {EXAMPLE}")


def _made(name: str, group: re.Match[str]) -> Atom:
    return Atom(name, group["subject"], group["object"], re.sub(r"\s", "", group["time"] or ""))


def parse_measures(text: str) -> Measures:
    """Return the measures in brackets. Beside them, the notes of a generated world are let through."""
    values: dict[str, float] = {}
    counts: tuple[float, float] | None = None
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        if found := _COUNTS.fullmatch(part):
            counts = float(found[1]), float(found[2])
        elif found := _NAMED.fullmatch(part):
            values[found[1]] = float(found[2])
        elif not _NOTE.fullmatch(part):
            raise DataError(f"unknown measure {part!r}; expected [SC 0.90, HC 0.90, 3446 of 3835], or a part of it")
        if part.startswith("-") or " -" in part:
            raise DataError(f"{part!r} is negative; counts and shares are 0 or more: correct it")
    return _measures(values, counts)


def _measures(values: dict[str, float], counts: tuple[float, float] | None) -> Measures:
    """Return the measures; a share that is given without its counts is counted as that share of 1."""
    for name in ("HC",) if counts else ("SC", "HC"):
        if values.get(name, 0.0) > 1:
            raise DataError(f"{name} {values[name]} is more than 1; it is a share, as in {name} 0.90")
    if counts and not counts[1] and "SC" in values:
        raise DataError(f"SC {values['SC']} is a share of no bodies: leave out the counts, or correct them")
    if counts and counts[0] > counts[1] and "SC" not in values:
        raise DataError(f"{_counts_text(*counts)}: the second number counts all bodies; swap the two, or correct one")
    if counts and counts[1] and "SC" in values and abs(counts[0] / counts[1] - values["SC"]) > 0.0051:
        share = counts[0] / counts[1]
        raise DataError(
            f"SC {values['SC']} and the counts, which say {share:.2f}, differ; correct one, or leave one out"
        )
    support, bodies = counts or (values.get("SC", 0.0), float("SC" in values))
    return Measures(support, bodies, values.get("HC", 0.0), float("HC" in values), values.get("PCA body", 0.0))


def check_measures(rule: RuleIds, measures: Measures) -> None:
    """Raise `DataError` for measures that no counting gives."""
    support, bodies, covered, heads, _ = measures
    if covered > heads:
        raise DataError(
            f"HC is more than 1: head_support and head_count are {_counts_text(covered, heads)}; correct one"
        )
    # The counting `literal` adds up all lags to the head and divides by W only where the first gap is one. For
    # `joint_then` it is none, so there the sum of shares can be more than the number of steps. What is mined must be
    # readable again, so explicit counts of this pattern may say so; in text only beside their SC, as it is printed.
    if support > bodies and not (rule.pattern == "joint_then" and bodies):
        raise DataError(f"SC is more than 1: support and body_count are {_counts_text(support, bodies)}; correct one")


def _counts_text(part: float, whole: float) -> str:
    return f"{number_text(part)} of {number_text(whole)}"


def resolve(read: Rule, predicates: Vocabulary) -> RuleIds:
    """Return the one form of a rule; a rule that cannot be, or an unknown name, is a `DataError`."""
    if not 1 <= len(read.body) <= 2:
        raise DataError(f"expected one or two body atoms, found {len(read.body)}")
    for atom in (read.head, *read.body):
        if atom.predicate not in predicates:
            near = suggestion(atom.predicate, predicates.names)
            raise DataError(f"unknown predicate {atom.predicate!r}{near or '; the graph has no such predicate'}")
        if atom.subject == atom.object:
            raise DataError(f"{atom} has one variable twice; expected two different ones")
    body = sorted(read.body, key=lambda atom: atom.time.count("+"))
    pattern = _pattern(read.head, body)
    if read.head in body:
        raise DataError(f"the head {read.head} stands in the body; such a rule says nothing")
    if len(body) == 2 and body[0] == body[1]:
        raise DataError(f"the body atom {body[0]} stands there twice; write it once")
    shape: Shape = "pair" if all(_ends(atom) == _ends(read.head) for atom in body) else "path"
    starts = [read.head.subject] * (1 + len(body)) if shape == "pair" else _path_starts(read.head, body)
    directed = zip((read.head, *body), starts, strict=True)
    head, *rest = (_directed(atom, start, predicates) for atom, start in directed)
    return canonical(RuleIds(pattern, shape, head, tuple(rest)), len(predicates))


def _pattern(head: Atom, body: list[Atom]) -> str:
    """Return the name of the pattern that the times make, empty for a rule without time."""
    times = [atom.time for atom in (*body, head)]
    if not any(times):
        return STATIC
    if not all(times):
        raise DataError("some atoms have a time and some have none; give every atom a time, or none")
    longest = max(times, key=len)
    nested = all(longest == time or longest.startswith(f"{time}+") for time in times)
    levels = [time.count("+") for time in times]
    for pattern in PATTERNS.values():
        if nested and levels == [time.count("+") for time in pattern.times()]:
            return pattern.name
    forms = (_form(pattern.times()) for pattern in PATTERNS.values() if pattern.length == len(body))
    raise DataError(f"times in this order fit no pattern: {_form(times)}; expected {' or '.join(forms)}")


def _form(times: list[str] | tuple[str, ...]) -> str:
    return f"{times[-1]} <= {' ∧ '.join(times[:-1])}"


def _ends(atom: Atom) -> set[str]:
    return {atom.subject, atom.object}


def _path_starts(head: Atom, body: list[Atom]) -> tuple[str, str, str]:
    """Return the variables that head, first and second atom of a path start from."""
    ends = [_ends(atom) for atom in body]
    middle = set.intersection(*ends) - _ends(head)
    begin, end = ends[0] - middle, ends[-1] - middle
    if len(middle) == 1 and begin != end and begin | end == _ends(head):
        (x,), (z,) = begin, middle
        return x, x, z
    if missing := sorted(_ends(head) - set().union(*ends)):
        raise DataError(f"the head's variable {missing[0]} is not in the body; every variable must lead somewhere")
    raise DataError(
        f"the variables of {' ∧ '.join(map(str, body))} do not join {head.subject} and {head.object}; "
        "expected a body on the pair, (x, y) or (y, x), or a path from x over z to y"
    )


def _directed(atom: Atom, subject: str, predicates: Vocabulary) -> int:
    """Return the id of the atom's predicate, or of its inverse, so that the variable is the subject."""
    predicate = predicates.id(atom.predicate)
    return predicate if atom.subject == subject else inverse(predicate, len(predicates))
