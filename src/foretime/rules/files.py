"""Files of rules: text for people, JSON Lines and Parquet for programs.

The ending decides: `.txt` and `.rules` hold one rule to a line, `.jsonl` one object to a line with the text, the atoms
and all counts, `.parquet` (`.pq`) the same as flat columns. Text keeps the counts behind SC, and HC to two digits; the
others keep every count. Each carries its names, so that rules can be shown without their graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from foretime.data.graph import Graph
from foretime.data.problems import Place, Problems
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError
from foretime.files import write_bytes, write_text
from foretime.rules.parsing import check_measures, parse_line, resolve
from foretime.rules.rule import Rule, RuleTable, table_of
from foretime.rules.text import Atom, Measures, WrittenRule, written_rules

TEXT, JSON_LINES, PARQUET = (".txt", ".rules"), (".jsonl",), (".parquet", ".pq")
ATOMS = ("head", "first", "second")
PARTS = ("predicate", "subject", "object", "time")
SHARES = ("confidence", "head_coverage")
RUN_RULES = "rules.parquet"
"""The file in the folder of a run that holds the rules which guide its model."""


class _Row(NamedTuple):
    """Something in a file that should be a rule: where it is, and how it is read."""

    place: Place
    read: Callable[[], WrittenRule]


class NamedRules(NamedTuple):
    """Rules with the names of their predicates."""

    rules: RuleTable
    predicates: Vocabulary


def read_rules(path: Path | str, graph: Graph) -> RuleTable:
    """Return the rules of a file in the ids of a graph; every bad line is reported in one `DataError`."""
    return _table(_rows(Path(path)), graph.predicates).rules


def read_named_rules(path: Path | str) -> NamedRules:
    """Return the rules of a file without a graph: the predicates are those that the file names, in this order."""
    return _table(_rows(Path(path)), None)


def write_rules(path: Path | str, rules: RuleTable, graph: Graph) -> None:
    """Write rules in the form that the ending of the file asks for, whole or not at all."""
    write_named_rules(path, NamedRules(rules, graph.predicates))


def write_named_rules(path: Path | str, named: NamedRules) -> None:
    """Write rules with the names of their predicates."""
    path = Path(path)
    check_ending(path)
    lines = written_rules(*named)
    try:
        if path.suffix in TEXT:
            write_text(path, "".join(f"{line}\n" for line in lines))
        elif path.suffix in JSON_LINES:
            objects = (to_dict(line, rule.pattern) for line, rule in zip(lines, named.rules.rules(), strict=True))
            write_text(path, "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects))
        else:
            write_bytes(path, _parquet(lines, [rule.pattern for rule in named.rules.rules()]))
    except OSError as error:
        raise DataError(f"{path}: the rules cannot be written: {error}; choose another place") from None


def check_ending(path: Path | str) -> None:
    """Raise `DataError` if a file of rules cannot have this ending."""
    if Path(path).suffix not in (*TEXT, *JSON_LINES, *PARQUET):
        raise DataError(f"{path}: a file of rules ends in .txt or .rules (text), .jsonl or .parquet")


def to_dict(line: WrittenRule, pattern: str) -> dict[str, Any]:
    """Return a rule as JSON can hold it: its text, its atoms, its counts and its shares."""
    counts = line.measures
    return {
        "text": line.statement,
        "pattern": pattern,
        "head": _atom_dict(line.head),
        "body": [_atom_dict(atom) for atom in line.body],
        **{name: _number(value) for name, value in counts._asdict().items()},
        **{name: getattr(counts, name) for name in SHARES},
    }


def _atom_dict(atom: Atom) -> dict[str, str]:
    return {name: value for name, value in atom._asdict().items() if value}


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _rows(path: Path) -> Iterator[_Row]:
    """Yield everything in a file that should be a rule."""
    check_ending(path)
    try:
        if path.suffix in PARQUET:
            return iter(_parquet_rows(path))
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file of rules") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as rules: {error}; save it as UTF-8 text") from None
    read = parse_line if path.suffix in TEXT else _from_json
    lines = [line.strip(" \t\r") for line in text.split("\n")]
    return (
        _Row(Place(str(path), number), lambda line=line: read(line))  # type: ignore[misc]
        for number, line in enumerate(lines, 1)
        if line and not line.startswith("#")
    )


def _from_json(line: str) -> WrittenRule:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise DataError(f"not valid JSON: {error}") from None
    if not isinstance(found, dict) or not ("text" in found or {"head", "body"} <= found.keys()):
        raise DataError('expected an object with "text", or with "head" and "body"')
    return _from_dict(found)


def _from_dict(found: dict[str, Any]) -> WrittenRule:
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
    return WrittenRule(atoms.head, atoms.body, counts)


def _from_atoms(found: dict[str, Any]) -> WrittenRule:
    try:
        head, *body = (Atom(**atom) for atom in (found["head"], *found["body"]))
    except (TypeError, KeyError):
        raise DataError('an atom is {"predicate": …, "subject": …, "object": …, "time": …}') from None
    if not all(isinstance(part, str) for atom in (head, *body) for part in atom):
        raise DataError("the parts of an atom must be texts")
    return WrittenRule(head, tuple(body))


def _parquet(lines: list[WrittenRule], patterns: list[str]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet

    columns: dict[str, Any] = {"text": [line.statement for line in lines], "pattern": patterns}
    for place, name in enumerate(ATOMS):
        atoms = [(line.head, *line.body, None)[place] for line in lines]
        for part in PARTS:
            values = [None if atom is None else getattr(atom, part) for atom in atoms]
            columns[name if part == "predicate" else f"{name}_{part}"] = pa.array(values, pa.string())
    for name in (*Measures._fields, *SHARES):
        columns[name] = pa.array([getattr(line.measures, name) for line in lines], pa.float64())
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _parquet_rows(path: Path) -> list[_Row]:
    import pyarrow as pa
    import pyarrow.parquet

    needed = [name if part == "predicate" else f"{name}_{part}" for name in ATOMS for part in PARTS]
    try:
        table = pyarrow.parquet.read_table(path)
    except pa.ArrowException as error:
        raise DataError(f"{path}: cannot be read as Parquet: {error}") from None
    missing = [name for name in (*needed, *Measures._fields) if name not in table.column_names]
    if missing:
        raise DataError(f"{path}: not a table of rules, it has no column {', '.join(missing)}")
    rows = table.select([*needed, *Measures._fields]).to_pylist()
    return [
        _Row(Place(str(path), number, "row"), lambda row=row: _from_flat(row))  # type: ignore[misc]
        for number, row in enumerate(rows, 1)
    ]


def _from_flat(row: dict[str, Any]) -> WrittenRule:
    atoms = []
    for name in ATOMS:
        parts = {part: row[name if part == "predicate" else f"{name}_{part}"] for part in PARTS}
        if parts["predicate"] is not None:
            atoms.append(parts | {"time": parts["time"] or ""})
    counts = {name: row[name] or 0.0 for name in Measures._fields}
    return _from_dict({"head": atoms[0], "body": atoms[1:], **counts})


def _table(rows: Iterator[_Row], predicates: Vocabulary | None) -> NamedRules:
    """Return the rules of the rows; without a vocabulary, their own names are taken."""
    problems, found = Problems(), []
    for row in rows:
        try:
            found.append((row.place, row.read()))
        except DataError as error:
            problems.add(row.place, str(error))
    if predicates is None:
        atoms = (atom for _, line in found for atom in (line.head, *line.body))
        predicates = Vocabulary("predicate", dict.fromkeys(atom.predicate for atom in atoms))
    rules: dict[Rule, tuple[Place, Measures]] = {}
    for place, line in found:
        try:
            rule = resolve(line, predicates)
            check_measures(rule, line.measures)
            if rule in rules:
                raise DataError(f"the same rule as in {rules[rule][0]}; leave one of them out")
            rules[rule] = place, line.measures
        except DataError as error:
            problems.add(place, str(error))
    problems.check()
    return NamedRules(with_measures(list(rules), [measures for _, measures in rules.values()]), predicates)


def with_measures(rules: list[Rule], measures: list[Measures]) -> RuleTable:
    """Return a table of rules with their measures."""
    counts = np.array(measures, dtype=np.float64).reshape(len(rules), len(Measures._fields))
    columns: dict[str, Any] = dict(zip(Measures._fields, counts.T.copy(), strict=True))
    return replace(table_of(rules), **columns)
