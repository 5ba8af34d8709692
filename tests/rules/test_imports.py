"""Rules of AMIE and AnyBURL: what can be a rule here is read, what cannot is counted and named."""

import re
from pathlib import Path

import pytest

from foretime.data.graph import Graph, read_graph
from foretime.errors import DataError
from foretime.rules.imports import MINERS, read_foreign
from foretime.rules.rule import RuleIds

PREDICATES = ["Make a visit", "Host a visit", "Protest violently, riot", "/film/edited_by", "Appeal (such as aid)"]
VISIT, HOST, PROTEST, EDITED, APPEAL = range(5)
COUNT = len(PREDICATES)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    rows = [f"a\t{name}\tb\t{day}" for name in PREDICATES for day in (1, 2, 3)]
    path = tmp_path_factory.mktemp("graph") / "train.tsv"
    path.write_text("\n".join(rows) + "\n")
    (path.parent / "valid.tsv").write_text(rows[0] + "\n")
    (path.parent / "test.tsv").write_text(rows[0] + "\n")
    return read_graph(path.parent)


AMIE = """\
Assuming 17 as type relation
Loaded 72826 facts in 1.02 s using 120 MB
RuleIds\tHead Coverage\tStd Confidence\tPCA Confidence\tPositive Examples\tBody size\tPCA Body size\tFunctional variable
?b  <Make_a_visit>  ?a   => ?a  <Host_a_visit>  ?b\t0.25\t0.5\t0.8\t8\t16\t10\t?a
?a  Make a visit  ?h  ?h  Protest violently, riot  ?b   => ?a  /film/edited_by  ?b\t0.1\t0.2\t0.4\t2\t10\t5\t?b
?a  Make a visit  ?b  ?a  Protest violently, riot  ?b   => ?b  Host a visit  ?a\t0.5\t1.0\t1.0\t4\t4\t4\t?a
?h  Host a visit  ?a  ?h  Protest violently, riot  ?b   => ?a  /film/edited_by  ?b
?a  Make a visit  ?b   => ?b  Host a visit  ?a\t0.25\t0.5\t0.8\t8\t16\t10\t?a
?a  Make a visit  Mali   => ?a  Host a visit  ?b\t0.1\t0.2\t0.4\t2\t10\t5\t?b
?a  Make a visit  ?c  ?c  Host a visit  ?d  ?d  Host a visit  ?b   => ?a  Host a visit  ?b\t0.1\t0.2\t0.4\t2\t10\t5\t?b
?a  Make a vist  ?b   => ?a  Host a visit  ?b\t0.1\t0.2\t0.4\t2\t10\t5\t?b
?a  Make a visit  ?c   => ?a  Host a visit  ?b\t0.1\t0.2\t0.4\t2\t10\t5\t?b
?a  Make a visit   => ?a\t0.1
Mining done in 2.00 s
Total number of rules: 9
"""


def test_the_rules_of_amie_are_read_and_the_others_counted_by_reason(graph: Graph, tmp_path: Path):
    path = tmp_path / "amie.tsv"
    path.write_text(AMIE)
    rules, message = read_foreign(path, graph.predicates, "amie")
    assert rules.all_ids() == [
        RuleIds("", "pair", HOST, (VISIT + COUNT,)),
        RuleIds("", "path", EDITED, (VISIT, PROTEST)),
        RuleIds("", "pair", HOST, (VISIT + COUNT, PROTEST + COUNT)),
        RuleIds("", "path", EDITED, (HOST + COUNT, PROTEST)),
    ]
    said = message.split("\n")
    assert said[0] == "4 rules read, 6 left out"
    assert [line.partition(";")[0] for line in said[1:]] == [
        "  1: the same as an earlier rule",
        "  1: a constant",
        "  1: more than two body atoms",
        "  1: an unknown predicate",
        "  1: another shape",
        "  1: not readable",
    ]
    assert f"the first is {path}:11: unknown predicate 'Make a vist'; did you mean" in said[4]


ANYBURL = """\
16\t8\t0.5\tHost a visit(X,Y) <= Make a visit(Y,X)
10\t2\t0.2\t/film/edited_by(X,Y) <= Make a visit(X,A), Protest violently, riot(A,Y)
7\t3\t0.42\tHost a visit(X,Y) <= Appeal (such as aid)(X,A), Make a visit(A,Y)
7\t3\t0.42\tHost a visit(X,Mali) <= Make a visit(X,A)
7\t3\t0.42\tHost a visit(X,Y) <= Make a visit(X,Mali), Make a visit(A,Y)
7\t3\t0.42\tHost a visit(X,Mali) <=\x20
7\t3\t0.42\tHost a visit(X,Y) <= Make a visit(X,A), Make a visit(A,B), Make a visit(B,Y)
7\t3\t0.42\tHost a visit(X,Y) <= Praise(X,Y)
"""


def test_the_rules_of_anyburl_are_read(graph: Graph, tmp_path: Path):
    path = tmp_path / "rules-100"
    path.write_text(ANYBURL)
    rules, message = read_foreign(path, graph.predicates, "anyburl")
    assert rules.all_ids() == [
        RuleIds("", "pair", HOST, (VISIT + COUNT,)),
        RuleIds("", "path", EDITED, (VISIT, PROTEST)),
        RuleIds("", "path", HOST, (APPEAL, VISIT)),
    ]
    reasons = [
        "3 rules read, 5 left out",
        "  3: a constant",
        "  1: more than two body atoms",
        "  1: an unknown predicate",
    ]
    assert [line.partition(";")[0] for line in message.split("\n")] == reasons


@pytest.mark.parametrize("miner", MINERS)
def test_a_file_without_a_rule_of_this_graph_is_an_error(graph: Graph, tmp_path: Path, miner: str):
    path = tmp_path / "rules.tsv"
    with pytest.raises(DataError, match=re.escape(f"{path}: no such file of rules")):
        read_foreign(path, graph.predicates, miner)
    path.write_text("nothing here\n")
    with pytest.raises(DataError, match="no rule can be read as a rule of this graph; it holds none"):
        read_foreign(path, graph.predicates, miner)
    path.write_text("1\t1\t1\tp(X,Y) <= q(X,Y)\n?a  p  ?b   => ?a  q  ?b\n")
    with pytest.raises(DataError, match=r"rules.tsv:\d: unknown predicate 'p'.* \(an unknown predicate\)"):
        read_foreign(path, graph.predicates, miner)
