"""Files of rules, in one table: a new format is a reader, a writer and a line in `RULE_FORMATS`.

The ending decides: `.txt` and `.rules` hold one rule to a line, `.jsonl` one object to a line with the text, the atoms
and all counts, `.parquet` (`.pq`) the same as flat columns. Text keeps the counts behind SC, and HC to two digits; the
others keep every count. Each carries its names, so that rules can be shown without their graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from foretime.data.formats.unpacking import read_parquet
from foretime.data.graph import Graph
from foretime.data.problems import Place, Problems
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError
from foretime.files import parse_json, read_bytes, write_bytes
from foretime.rules.parsing import check_measures, parse_line, resolve
from foretime.rules.rule import Atom, Measures, Rule, RuleIds
from foretime.rules.table import Rules

RUN_RULES = "rules.parquet"
"""The file in the folder of a run that holds the rules which guide its model."""


_Row = tuple[Place, Callable[[], Rule]]
"""Something in a file that should be a rule: where it is, and how it is read."""


class RuleFormat(NamedTuple):
    """A kind of file that rules are read from and written to."""

    suffixes: tuple[str, ...]
    read: Callable[[Path], Iterator[_Row]]
    write: Callable[[Rules], bytes]


def read_rules(path: Path | str, graph: Graph | None = None) -> Rules:
    """Return the rules of a file, or of the folder of a run.

    With a graph, they are in its ids, and a predicate that it lacks is an error; without one, the file's own names are
    their predicates. Raises one `DataError` with every bad line, its place and what was expected.

        rules = foretime.read_rules("rules.txt")
    """
    path = Path(path)
    if path.is_dir():
        if not (path / RUN_RULES).is_file():
            raise DataError(f"{path}: a folder without {RUN_RULES}; name a file of rules, or a run that has rules")
        path = path / RUN_RULES
    form = rule_format(path)
    try:
        rows = list(form.read(path))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file of rules") from None
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        kind = "Parquet" if isinstance(error, pa.ArrowException) else "rules"
        raise DataError(f"{path}: cannot be read as {kind}: {error}; write it again, or save it as UTF-8") from None
    return _rules(rows, None if graph is None else graph.predicates)


def write_rules(path: Path | str, rules: Rules) -> None:
    """Write rules in the format that the ending of the file says, whole or not at all."""
    try:
        write_bytes(Path(path), rule_format(path).write(rules))
    except OSError as error:
        raise DataError(f"{path}: the rules cannot be written: {error}; choose another place") from None


def rule_format(path: Path | str) -> RuleFormat:
    """Return the format that the ending of a file says; raise `DataError` if a file of rules cannot have it."""
    for form in RULE_FORMATS:
        if Path(path).suffix in form.suffixes:
            return form
    *most, last = (suffix for form in RULE_FORMATS for suffix in form.suffixes)
    raise DataError(f"{path}: a file of rules ends in {', '.join(most)} or {last}")


def _rules(rows: list[_Row], predicates: Vocabulary | None) -> Rules:
    """Return the rules of the rows; without a vocabulary, their own names are taken."""
    problems, found = Problems(), []
    for place, read in rows:
        try:
            found.append((place, read()))
        except DataError as error:
            problems.add(place, str(error))
    if predicates is None:
        atoms = (atom for _, rule in found for atom in (rule.head, *rule.body))
        predicates = Vocabulary("predicate", dict.fromkeys(atom.predicate for atom in atoms))
    rules: dict[RuleIds, tuple[Place, Measures]] = {}
    for place, rule in found:
        try:
            ids = resolve(rule, predicates)
            check_measures(ids, rule.measures)
            if ids in rules:
                raise DataError(f"the same rule as in {rules[ids][0]}; leave one of them out")
            rules[ids] = place, rule.measures
        except DataError as error:
            problems.add(place, str(error))
    problems.check()
    return Rules.of(list(rules), [measures for _, measures in rules.values()], predicates)


def _read_lines(read: Callable[[str], Rule], path: Path) -> Iterator[_Row]:
    lines = read_bytes(path).decode("utf-8-sig").split("\n")
    for number, line in enumerate((line.strip(" \t\r") for line in lines), 1):
        if line and not line.startswith("#"):
            yield Place(str(path), number), partial(read, line)


def _from_json(line: str) -> Rule:
    try:
        found = parse_json(line)
    except ValueError as error:
        raise DataError(f"not valid JSON: {error}") from None
    if not isinstance(found, dict) or not ("text" in found or {"head", "body"} <= found.keys()):
        raise DataError('expected an object with "text", or with "head" and "body"')
    return _from_dict(found)


def _from_dict(found: dict[str, Any]) -> Rule:
    """Return the rule of an object; its text and its atoms must say the same if both are there."""
    text = parse_line(str(found["text"])) if "text" in found else None
    atoms = _from_atoms(found) if "head" in found else text
    if atoms is None or (text is not None and (text.head, text.body) != (atoms.head, atoms.body)):
        raise DataError('"text" and the atoms say different rules; correct one, or leave out the text')
    given = text.measures if text is not None else Measures()
    try:
        counts = Measures(*(float(found.get(name, getattr(given, name))) for name in Measures._fields))
    except (TypeError, ValueError):
        raise DataError(f"{', '.join(Measures._fields)} must be numbers") from None
    if not all(np.isfinite(counts)) or min(counts) < 0:
        raise DataError(f"{', '.join(Measures._fields)} must be finite and not negative")
    return Rule(atoms.head, atoms.body, counts)


def _from_atoms(found: dict[str, Any]) -> Rule:
    try:
        head, *body = (Atom(**atom) for atom in (found["head"], *found["body"]))
    except (TypeError, KeyError):
        raise DataError('an atom is {"predicate": …, "subject": …, "object": …, "time": …}') from None
    if not all(isinstance(part, str) for atom in (head, *body) for part in atom):
        raise DataError("the parts of an atom must be texts")
    return Rule(head, tuple(body))


def _read_parquet(path: Path) -> Iterator[_Row]:
    table = read_parquet(path)
    needed = ["text", *Measures._fields]
    if missing := [name for name in needed if name not in table.column_names]:
        raise DataError(f"{path}: not a table of rules, it has no column {', '.join(missing)}")
    for number, row in enumerate(table.select(needed).to_pylist(), 1):
        yield Place(str(path), number, "row"), partial(_from_dict, row)


def _write_parquet(rules: Rules) -> bytes:
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(rules.to_frame("arrow"), sink)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


RULE_FORMATS = (
    RuleFormat(
        (".txt", ".rules"),
        partial(_read_lines, parse_line),
        lambda rules: "".join(f"{rule}\n" for rule in rules).encode(),
    ),
    RuleFormat(
        (".jsonl",),
        partial(_read_lines, _from_json),
        lambda rules: "".join(json.dumps(rule.to_dict(), ensure_ascii=False) + "\n" for rule in rules).encode(),
    ),
    RuleFormat((".parquet", ".pq"), _read_parquet, _write_parquet),
)
