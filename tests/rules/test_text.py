"""Rules as text: what is printed is read again, and what cannot be a rule is named."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError
from foretime.rules.parsing import parse_rule
from foretime.rules.patterns import PATTERNS
from foretime.rules.rule import Measures, RuleIds, canonical, name_text, named_rule

NAMES = Vocabulary("predicate", ["Make a visit", "Host a visit", "Protest violently, riot", "Appeal (such as aid)"])
VISIT, HOST, PROTEST, APPEAL = range(4)
ODD = [
    "Meet (x, y)",
    "a(x, y, t) <= b",
    "# no comment",
    '"quoted"',
    " space ",
    "two\nlines",
    "and",
    "∧ & <=",
    "[SC 1]",
    "(",
]


@st.composite
def rules(draw, predicates: int) -> RuleIds:
    """Any rule that can be, in its one form."""
    pattern = draw(st.sampled_from(["", *PATTERNS]))
    length = PATTERNS[pattern].length if pattern else draw(st.integers(1, 2))
    shape = "pair" if length == 1 else draw(st.sampled_from(["pair", "path"]))
    ids = st.integers(0, 2 * predicates - 1)
    head, body = draw(ids), tuple(draw(st.lists(ids, min_size=length, max_size=length, unique=True)))
    if shape == "pair" and head in body:
        body = tuple((q + 1 + len(body)) % (2 * predicates) for q in body)
        if head in body:
            head = next(h for h in range(2 * predicates) if h not in body)
    return canonical(RuleIds(pattern, shape, head, body), predicates)


counts = st.integers(0, 10**9).map(float)
shares = st.floats(0, 1e6, allow_nan=False)
measures = st.builds(
    lambda support, more, covered, rest, partial: Measures(support, support + more, covered, covered + rest, partial),
    counts | shares, counts, counts, counts, counts,
)  # fmt: skip
names = st.lists(st.text(min_size=1) | st.sampled_from(ODD), min_size=4, max_size=6, unique=True)


@settings(max_examples=400, deadline=None)
@given(data=st.data(), words=names)
def test_what_is_printed_is_read_as_the_same_rule_and_printed_the_same(data, words: list[str]):
    vocabulary = Vocabulary("predicate", words)
    rule, given_measures = data.draw(rules(len(words))), data.draw(measures)
    line = str(named_rule(rule, vocabulary, given_measures))
    assert "\n" not in line
    read, read_measures = parse_rule(line, vocabulary)
    assert read == rule
    assert str(named_rule(read, vocabulary, read_measures)) == line
    if given_measures.body_count:
        assert read_measures[:2] == given_measures[:2]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (RuleIds("accompanies", "pair", HOST, (VISIT + 4,)), "Host a visit(y, x, t) <= Make a visit(x, y, t)"),
        (RuleIds("follows", "pair", HOST, (PROTEST,)), "Host a visit(x, y, t+t1) <= Protest violently, riot(x, y, t)"),
        (
            RuleIds("joint_then", "pair", HOST, (VISIT, PROTEST + 4)),
            "Host a visit(x, y, t+t1) <= Make a visit(x, y, t) ∧ Protest violently, riot(y, x, t)",
        ),
        (
            RuleIds("chain_then", "path", HOST + 4, (VISIT, PROTEST + 4)),
            "Host a visit(x, y, t+t1+t2) <= Make a visit(y, z, t) ∧ Protest violently, riot(x, z, t+t1)",
        ),
        (
            RuleIds("", "path", HOST, (VISIT, APPEAL)),
            "Host a visit(x, y) <= Make a visit(x, z) ∧ Appeal (such as aid)(z, y)",
        ),
    ],
)
def test_rules_read_as_people_would_write_them(rule: RuleIds, text: str):
    assert str(named_rule(rule, NAMES)) == text
    assert parse_rule(text, NAMES) == (rule, Measures())


def test_the_measures_stand_in_brackets_and_counts_are_exact():
    rule = RuleIds("accompanies", "pair", HOST, (VISIT + 4,))
    line = str(named_rule(rule, NAMES, Measures(3446, 3835, 3446, 3833)))
    assert line == "Host a visit(y, x, t) <= Make a visit(x, y, t)  [SC 0.90, HC 0.90, 3446 of 3835]"
    assert parse_rule(line, NAMES)[1] == Measures(3446, 3835, 0.9, 1)


@pytest.mark.parametrize(
    "line",
    [
        "Host a visit(y, x, t) ⇐ Make a visit(x, y, t)",
        "Host a visit(a,b,s) <- Make a visit(b,a,s)   # seen in the news",
        "  Host a visit( left , right , time )<=Make a visit(right,left,time)[]",
        '"Host a visit"(?b, ?a, t) <= "Make a visit"(?a, ?b, t) [planted 0.90, window 5, accompanies]',
    ],
)
def test_other_ways_to_write_a_rule_are_the_same_rule(line: str):
    assert parse_rule(line, NAMES)[0] == RuleIds("accompanies", "pair", HOST, (VISIT + 4,))


@pytest.mark.parametrize("join", [" ∧ ", " & ", " and ", "&"])
def test_body_atoms_may_come_in_any_order_and_be_joined_in_several_ways(join: str):
    body = ["Make a visit(a, m, t)", "Protest violently, riot(m, b, t+i)"]
    expected = RuleIds("chain_then", "path", HOST, (VISIT, PROTEST))
    for atoms in (body, body[::-1]):
        assert parse_rule(f"Host a visit(a, b, t+i+j) <= {join.join(atoms)}", NAMES)[0] == expected


def test_a_name_with_arguments_in_it_is_quoted_and_may_be_written_without_quotes_where_it_is_clear():
    vocabulary = Vocabulary("predicate", ["Use arms (guns, bombs)", "Sue"])
    assert name_text("Use arms (guns, bombs)") == '"Use arms (guns, bombs)"'
    quoted = parse_rule('Sue(x, y, t) <= "Use arms (guns, bombs)"(x, y, t)', vocabulary)
    assert quoted == parse_rule("Sue(x, y, t) <= Use arms (guns, bombs)(x, y, t)", vocabulary)


def test_a_recurrence_is_a_rule_since_its_head_comes_later():
    assert parse_rule("Sue(x, y, t+t1) <= Sue(x, y, t)", Vocabulary("predicate", ["Sue"]))[0].pattern == "follows"


WRONG = {
    "Make a visit(x, y, t)": "expected <= after Make a visit(x, y, t), found 'the end'; as in Host a visit",
    "Make a visit <= Host a visit": "expected an atom, NAME(x, y, t) or NAME(x, y), found 'Make a visit <=",
    "Host a visit(x, y) <= ": "expected an atom, NAME(x, y, t) or NAME(x, y), found 'nothing'",
    "Host a visit(x, y) <= Make a visit(x, y) oh": "expected an atom",
    "Host a visit(x, y) <= Make a visit(x, y) [] oh": "expected ∧, & or 'and', measures in [ ], or the end after",
    "Host a visit(x, y) <= Make a vist(x, y)": "unknown predicate 'Make a vist'; did you mean 'Make a visit'",
    "Host a visit(x, y, t) <= Host a visit(x, y, t)": "the head Host a visit(x, y, t) stands in the body",
    "Host a visit(x, x) <= Make a visit(x, y)": "Host a visit(x, x) has one variable twice",
    "Host a visit(x, y) <= Make a visit(x, z)": "the head's variable y is not in the body",
    "Host a visit(x, y) <= Make a visit(x, z) ∧ Protest violently, riot(z, u)": "the head's variable y is not in",
    "Host a visit(x, y) <= Make a visit(x, z) ∧ Protest violently, riot(u, y)": "do not join x and y; expected",
    "Host a visit(x, y) <= Make a visit(x, y) ∧ Protest violently, riot(x, z)": "do not join x and y; expected",
    "Host a visit(x, y) <= Make a visit(x, y) ∧ Make a visit(x, y)": "stands there twice; write it once",
    "Host a visit(x, y, t) <= Make a visit(x, y)": "some atoms have a time and some have none",
    "Host a visit(x, y, t) <= Make a visit(x, y, t+t1)": "fit no pattern: t <= t+t1; expected t+t1 <= t or t <= t",
    "Host a visit(x, y, s) <= Make a visit(x, y, t)": "fit no pattern: s <= t; expected",
    "Host a visit(x, y, t+t1) <= Make a visit(x, y, t) & Protest violently, riot(x, y, t+t1)": "fit no pattern",
    "Host a visit(x, y) <= Make a visit(x, y) & Host a visit(x, z) & Make a visit(z, y)": "body atoms, found 3",
    "Host a visit(x, y) <= Make a visit(x, y) [SC 1.2]": "SC 1.2 is more than 1",
    "Host a visit(x, y) <= Make a visit(x, y) [SC 0.9, 1 of 2]": "SC 0.9 and the counts, which say 0.50, differ",
    "Host a visit(x, y) <= Make a visit(x, y) [HC 1.2]": "HC 1.2 is more than 1; it is a share",
    "Host a visit(x, y) <= Make a visit(x, y) [SC -0.2]": "'SC -0.2' is negative",
    "Host a visit(x, y) <= Make a visit(x, y) [-1 of 2]": "'-1 of 2' is negative",
    "Host a visit(x, y) <= Make a visit(x, y) [SC 0.9, 0 of 0]": "SC 0.9 is a share of no bodies",
    "Host a visit(x, y) <= Make a visit(x, y) [5 of 3]": "5 of 3: the second number counts all bodies; swap the two",
    "Host a visit(x, y) <= Make a visit(x, y) [SC 1.67, 5 of 3]": "SC is more than 1: support and body_count are 5 of",
    "Host a visit(x, y) <= Make a visit(x, y) [sure]": "unknown measure 'sure'; expected [SC 0.90, HC",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_a_rule_is_explained(line: str):
    with pytest.raises(DataError, match=re.escape(WRONG[line])):
        parse_rule(line, NAMES)
