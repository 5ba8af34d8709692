"""Rules of AMIE and AnyBURL, read as static rules of a graph.

AMIE writes `?a  <p>  ?c  ?c  <q>  ?b   => ?a  <h>  ?b`, then its measures after tabs; AnyBURL writes its counts, each
followed by a tab, and then `h(X,Y) <= p(X,A), q(A,Y)`. Their measures are not read: rules are counted anew, in time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from foretime.config import RulesConfig, check_section
from foretime.data.graph import Graph
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError, suggestion
from foretime.files import read_text
from foretime.rules.parsing import resolve
from foretime.rules.rule import Atom, Rule, RuleIds
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
    static, message = read_foreign(Path(path), graph.predicates, miner)
    if report is not None:
        report(message)
    return mine_in_time(static, graph, config, progress)


def read_foreign(path: Path, names: Vocabulary, miner: str) -> tuple[Rules, str]:
    """Return the static rules in a file of another miner, and in words how many were read or left out, and why.

    Lines without an arrow, such as those of a log, are passed over.
    """
    if miner not in MINERS:
        raise DataError(f"unknown miner {miner!r}{suggestion(miner, MINERS) or '; use ' + ' or '.join(MINERS)}")
    arrow, sides, atoms = MINERS[miner]
    rules: dict[RuleIds, None] = {}
    skipped: Counter[str] = Counter()
    first: dict[str, str] = {}
    for number, line in _lines(path):
        if arrow not in line:
            continue
        try:
            found = [atoms(side, names) for side in sides(line)]
            head, body = found if arrow == "<=" else found[::-1]
            rule = _rule(head, body, names)
            if rule in rules:
                raise _SkipError(REPEATED)
            rules[rule] = None
        except _SkipError as skip:
            skipped[skip.reason] += 1
            first.setdefault(skip.reason, f"{path}:{number}: {skip.found or line.strip()}")
    if not rules:
        reasons = "".join(f"\n{first[reason]} ({reason})" for reason in skipped)
        raise DataError(f"{path}: no rule can be read as a rule of this graph{reasons or '; it holds none'}")
    lines = [f"{len(rules):,} rules read, {skipped.total():,} left out"]
    lines += [f"  {count:,}: {reason}; the first is {first[reason]}" for reason, count in skipped.most_common()]
    return Rules.of(list(rules), predicates=names), "\n".join(lines)


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        return list(enumerate(read_text(path, encoding="utf-8-sig").split("\n"), 1))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file of rules") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text: {error}") from None


def _rule(head: list[Atom], body: list[Atom], names: Vocabulary) -> RuleIds:
    if len(head) != 1 or not body:
        raise _SkipError(BROKEN)
    if len(body) > 2:
        raise _SkipError(LONG)
    try:
        return resolve(Rule(head[0], tuple(body)), names)
    except DataError:
        raise _SkipError(SHAPE) from None


def _amie_sides(line: str) -> tuple[str, str]:
    rule = line.strip().split("\t")[0]
    body, _, head = (rule if "=>" in rule else line).partition("=>")  # an older version separates everything by tabs
    return body, head


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


def _anyburl_sides(line: str) -> tuple[str, str]:
    head, _, body = line.strip().split("\t")[-1].partition(" <= ")
    return head, body


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


def _known(name: str, names: Vocabulary) -> str:
    """Return the name as the graph has it: as it is, without angle brackets, or with spaces for underscores."""
    bare = name.removeprefix("<").removesuffix(">")
    for candidate in (name, bare, bare.replace("_", " ")):
        if candidate in names:
            return candidate
    raise _SkipError(UNKNOWN, f"unknown predicate {bare!r}{suggestion(bare, names.names)}")


Sides = Callable[[str], tuple[str, str]]
MINERS: dict[str, tuple[str, Sides, Callable[[str, Vocabulary], list[Atom]]]] = {
    "amie": ("=>", _amie_sides, _amie_atoms),
    "anyburl": ("<=", _anyburl_sides, _anyburl_atoms),
}
"""The arrow of each miner's rules, how a line is cut into its two sides, and how the atoms of one are read."""
