"""Known truth on the real benchmarks."""

from pathlib import Path

import pytest

from foretime.config import RulesConfig
from foretime.data.graph import read_graph
from foretime.rules.mining import facts_of, sizes_of
from foretime.rules.rule import RuleIds
from foretime.rules.static import mine_static
from foretime.rules.table import Rules
from foretime.rules.temporal import measure

pytestmark = pytest.mark.real

KNOWN = [
    ("follows", "Demonstrate or rally", "Protest violently, riot", False, 145, 297, 0.48822),
    ("follows", "Protest violently, riot", "Demonstrate or rally", False, 132, 567, 0.23280),
    ("follows", "Protest violently, riot", "Use tactics of violent repression", True, 130, 233, 0.55794),
    ("accompanies", "Host a visit", "Make a visit", True, 3446, 3835, 0.89857),
    ("accompanies", "Make a visit", "Host a visit", True, 3446, 3833, 0.89903),
]


def test_the_known_rules_of_icews14_have_their_known_counts(real_data: Path):
    graph = read_graph(real_data / "icews14")
    ids, count = graph.predicates.id, len(graph.predicates)
    rules = [RuleIds(pattern, "pair", ids(head), (ids(q) + count * turned,)) for pattern, head, q, turned, *_ in KNOWN]
    facts = facts_of(graph, RulesConfig(splits=["train", "valid"]))
    found = measure(Rules.of(rules), facts, sizes_of(graph), RulesConfig(window=19))
    assert [(int(s), int(b)) for s, b in zip(found.support, found.body_count, strict=True)] == [k[4:6] for k in KNOWN]
    assert found.confidence.tolist() == pytest.approx([k[6] for k in KNOWN], abs=5e-6)


def test_wikidata12k_has_the_rules_that_amie_finds(real_data: Path):
    graph = read_graph(real_data / "wikidata12k")
    everything = RulesConfig(static_support=1, static_head_coverage=0.0)
    rules = mine_static(graph.train, len(graph.entities), len(graph.predicates), everything)
    single = rules.second < 0
    counts = single.sum(), (rules.shape == "path").sum(), ((rules.shape == "pair") & ~single).sum()
    assert tuple(int(c) for c in counts) == (39, 103, 12)
