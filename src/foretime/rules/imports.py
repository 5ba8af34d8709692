"""Rules of AMIE and AnyBURL, read as static rules of a graph.

AMIE writes `?a  <p>  ?c  ?c  <q>  ?b   => ?a  <h>  ?b`, then, after tabs, head coverage, standard confidence, PCA
confidence, positive examples, body size and PCA body size. AnyBURL writes, between tabs, the number of predictions, how
many are correct, the confidence, and `h(X,Y) <= p(X,A), q(A,Y)`. Its counts are of a sample, and it binds different
variables to different entities, so they are near to AMIE's measures and not the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from foretime.config import RulesConfig, check_section
from foretime.data.graph import Graph
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError, suggestion
from foretime.rules.parsing import resolve
from foretime.rules.rule import Atom, Measures, Rule, RuleIds
from foretime.rules.table import Counting, Rules, Split

if TYPE_CHECKING:
    from foretime.rules.temporal import Progress

CONSTANT, LONG, REPEATED = "a constant", "more than two body atoms", "the same as an earlier rule"
SHAPE, UNKNOWN, BROKEN = "another shape", "an unknown predicate", "not readable"
_ANYBURL_ATOM = re.compile(r"(.+?)\(([A-Z]),\s?([A-Z])\)(?:,\s*|$)")


class _SkipError(Exception):
    """A rule that is left out, with the reason and, where it helps, what was found."""

    def __init__(self, reason: str, found: str = "") -> None:
        super().__init__(reason)
        self.reason, self.found = reason, found


class Imported(NamedTuple):
    """The static rules that could be read, and how many could not, by reason."""

    rules: Rules
    skipped: dict[str, int]
    first: dict[str, str]
    """The first rule that was left out for each reason, as `file:line: …`."""

    def message(self) -> str:
        """Return in words how many rules were read, and how many were not and why."""
        lines = [f"{len(self.rules):,} rules read, {sum(self.skipped.values()):,} left out"]
        lines += [f"  {count:,}: {reason}; the first is {self.first[reason]}" for reason, count in self.skipped.items()]
        return "\n".join(lines)


def import_rules(  # noqa: PLR0913, each is a key of [rules]
    path: Path | str,
    graph: Graph,
    miner: Literal["amie", "anyburl"] = "amie",
    *,
    splits: Sequence[Split] = ("train",),
    window: int = 19,
    counting: Counting = "windowed",
    support: int = 5,
    confidence: float = 0.1,
    head_coverage: float = 0.1,
    report: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Rules:
    """Return the rules of AMIE or AnyBURL as temporal rules of a graph, the most confident first.

    They take the place of the rules without time that `mine` begins with; the other parameters are those of `mine`.
    `report` is called with how many rules were read, and how many were left out and why. Raises `DataError` if none of
    them is a rule of this graph.

        rules = foretime.import_rules("amie.tsv", graph, window=5, report=print)
    """
    from foretime.rules.mining import mine_in_time

    settings = {key: value for key, value in locals().items() if key in RulesConfig.model_fields}
    config = check_section(RulesConfig, settings | {"splits": list(splits)}, "import_rules: ", "rules.")
    imported = read_foreign(path, graph, miner)
    if report is not None:
        report(imported.message())
    return mine_in_time(imported.rules, graph, config, progress)


def read_foreign(path: Path | str, graph: Graph, miner: str) -> Imported:
    """Return the static rules in a file of another miner; other lines, as of its log, are passed over."""
    if miner not in MINERS:
        raise DataError(f"unknown miner {miner!r}{suggestion(miner, MINERS) or '; use ' + ' or '.join(MINERS)}")
    arrow, read = MINERS[miner]
    lines = [(number, line) for number, line in _lines(Path(path)) if arrow in line]
    return _imported(Path(path), lines, read, graph.predicates)


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        return list(enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file of rules") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text: {error}") from None


def _imported(
    path: Path, lines: list[tuple[int, str]], read: Callable[[str, Vocabulary], Rule], names: Vocabulary
) -> Imported:
    rules: dict[RuleIds, Measures] = {}
    skipped: Counter[str] = Counter()
    first: dict[str, str] = {}
    for number, line in lines:
        try:
            rule, measures = _rule(read(line, names), names)
            if rule in rules:
                raise _SkipError(REPEATED)
            rules[rule] = measures
        except _SkipError as skip:
            skipped[skip.reason] += 1
            first.setdefault(skip.reason, f"{path}:{number}: {skip.found or line.strip()}")
    if not rules:
        reasons = "".join(f"\n{first[reason]} ({reason})" for reason in skipped)
        raise DataError(f"{path}: no rule can be read as a rule of this graph{reasons or '; it holds none'}")
    return Imported(Rules.of(list(rules), list(rules.values()), names), dict(skipped.most_common()), first)


def _rule(read: Rule, names: Vocabulary) -> tuple[RuleIds, Measures]:
    if len(read.body) > 2:
        raise _SkipError(LONG)
    try:
        return resolve(read, names), read.measures
    except DataError:
        raise _SkipError(SHAPE) from None


def _amie_rule(line: str, names: Vocabulary) -> Rule:
    rule, *columns = line.strip().split("\t")
    if "=>" not in rule:
        # an older version separates everything by tabs
        rule, columns = line, []
    body, head = (_amie_atoms(side, names) for side in rule.split("=>", 1))
    if len(head) != 1 or not body:
        raise _SkipError(BROKEN)
    return Rule(head[0], tuple(body), _amie_measures(columns))


def _amie_atoms(side: str, names: Vocabulary) -> list[Atom]:
    """Return the atoms of one side; names may hold single spaces, since two stand between the parts."""
    parts = re.split(r"\s{2,}", side.strip())
    if len(parts) % 3:
        parts = side.split()
    if len(parts) % 3:
        raise _SkipError(BROKEN)
    triples = [parts[begin : begin + 3] for begin in range(0, len(parts), 3)]
    if any(not end.startswith("?") for subject, _, object_ in triples for end in (subject, object_)):
        raise _SkipError(CONSTANT)
    return [Atom(_known(predicate, names), subject, object_) for subject, predicate, object_ in triples]


def _amie_measures(columns: list[str]) -> Measures:
    try:
        coverage, _, _, support, body, pca_body = (float(column) for column in columns[:6])
    except ValueError:
        return Measures()
    heads = round(support / coverage) if coverage else 0
    return Measures(support, body, support if heads else 0.0, heads, max(pca_body, 0.0))


def _anyburl_rule(line: str, names: Vocabulary) -> Rule:
    *columns, rule = line.strip().split("\t")
    head, _, body = rule.partition(" <= ")
    heads = _anyburl_atoms(head, names)
    if len(heads) != 1:
        raise _SkipError(BROKEN)
    return Rule(heads[0], tuple(_anyburl_atoms(body, names)), _anyburl_measures(columns))


def _anyburl_atoms(text: str, names: Vocabulary) -> list[Atom]:
    atoms, position, text = [], 0, text.strip()
    while position < len(text):
        found = _ANYBURL_ATOM.match(text, position)
        # an atom with a constant has no variables at its end, and is taken for the beginning of the next one's name
        if found is None or (found[1] not in names and re.search(r"\(.*,.*\),", found[1])):
            raise _SkipError(CONSTANT)
        atoms.append(Atom(_known(found[1], names), found[2], found[3]))
        position = found.end()
    if not atoms:
        raise _SkipError(CONSTANT)
    return atoms


def _anyburl_measures(columns: list[str]) -> Measures:
    try:
        predicted, correct = (float(column) for column in columns[:2])
    except ValueError:
        return Measures()
    return Measures(correct, predicted)


def _known(name: str, names: Vocabulary) -> str:
    """Return the name as the graph has it: as it is, without angle brackets, or with spaces for underscores."""
    bare = name.removeprefix("<").removesuffix(">")
    for candidate in (name, bare, bare.replace("_", " ")):
        if candidate in names:
            return candidate
    raise _SkipError(UNKNOWN, f"unknown predicate {bare!r}{suggestion(bare, names.names)}")


MINERS: dict[str, tuple[str, Callable[[str, Vocabulary], Rule]]] = {
    "amie": ("=>", _amie_rule),
    "anyburl": ("<=", _anyburl_rule),
}
"""The arrow of each miner's rules, and how one is read."""
