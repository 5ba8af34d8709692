"""The generated world, measured by plain loops that share nothing with the generator."""

import json
from collections import Counter, defaultdict
from datetime import date

import numpy as np
import pytest

from foretime.data.synthetic import generate_world
from foretime.errors import DataError

LATER = {
    "follows": [True],
    "accompanies": [False],
    "chain_then": [True, True],
    "joint_then": [False, True],
    "joint_now": [False, False],
}
"""Whether each atom after the first one, the head last, comes after the one before it, or at the same time."""
PATTERNS = set(LATER)
SPLITS = ("train.tsv", "valid.tsv", "test.tsv")


@pytest.fixture(scope="module")
def world():
    return generate_world(20_000, seed=0)


@pytest.fixture(scope="module")
def days_of(world):
    """By predicate and pair, the days on which it happened."""
    found = defaultdict(lambda: defaultdict(set))
    for s, p, o, t in zip(world.subject, world.predicate, world.object, world.day, strict=True):
        found[world.predicates[p]][int(s), int(o)].add(int(t))
    return found


def bind(atom, pair):
    return dict(zip((atom.subject, atom.object), pair, strict=True))


def ground(rule, days_of):
    """Each grounding of the body: what x and y are, the day of the first atom, and that of the last."""
    lagged = rule.pattern == "chain_then"
    first = [
        (bind(rule.body[0], pair), day, day) for pair, days in days_of[rule.body[0].predicate].items() for day in days
    ]
    if len(rule.body) == 1:
        return first
    second = [(bind(rule.body[1], pair), days) for pair, days in days_of[rule.body[1].predicate].items()]
    shared = sorted(set(first[0][0]) & set(second[0][0]))
    by_shared = defaultdict(list)
    for bound, days in second:
        by_shared[tuple(bound[v] for v in shared)].append((bound, days))
    return [
        (bound | other, start, last)
        for bound, start, _ in first
        for other, days in by_shared[tuple(bound[v] for v in shared)]
        for last in ([start + i for i in range(1, rule.window + 1)] if lagged else [start])
        if last in days
    ]


def measure(rule, days_of, timeline):
    """Bodies, support, and the share of head events with a body before them, by the windowed counting."""
    lags = {"follows": 1, "joint_then": 1, "chain_then": 2}.get(rule.pattern, 0)
    bodies, support, explained = set(), set(), set()
    for bound, start, last in ground(rule, days_of):
        pair = bound[rule.head.subject], bound[rule.head.object]
        window = range(last + 1, last + rule.window + 1) if lags else [last]
        heads = [day for day in window if day in days_of[rule.head.predicate].get(pair, ())]
        explained |= {(pair, day) for day in heads}
        if start + lags * rule.window < timeline:
            bodies.add((pair, start))
            if heads:
                support.add((pair, start))
    events = sum(len(days) for days in days_of[rule.head.predicate].values())
    return len(bodies), len(support), len(explained) / events


@pytest.mark.parametrize("number", range(10))
def test_each_planted_rule_is_measured_as_it_was_planted(world, days_of, number):
    rule = world.rules[number]
    bodies, support, coverage = measure(rule, days_of, world.days)
    assert (bodies, support) == (rule.bodies, rule.support)
    assert bodies >= 60
    # Overlapping groundings succeed or fail together, so the share is right to within one such group.
    assert support / bodies == pytest.approx(rule.probability, abs=0.02)
    assert coverage > 0.6


@pytest.mark.parametrize("seed", [1, 2])
def test_the_rules_hold_for_any_seed(seed):
    for rule in generate_world(20_000, seed).rules:
        assert rule.bodies >= 60, str(rule)
        assert rule.support / rule.bodies == pytest.approx(rule.probability, abs=0.03), str(rule)


def test_all_five_patterns_an_inverse_body_and_a_body_on_one_pair_are_planted(world):
    assert len(world.rules) == 10
    assert {rule.pattern for rule in world.rules} == PATTERNS
    assert any((rule.head.subject, rule.head.object) == ("y", "x") for rule in world.rules)
    assert any(len(rule.body) == 2 and rule.body[0][1:] == rule.body[1][1:] for rule in world.rules)


def test_no_rule_has_a_body_that_a_later_rule_adds_to(world):
    for i, rule in enumerate(world.rules):
        later = {other.head.predicate for other in world.rules[i:]}
        assert later.isdisjoint(atom.predicate for atom in rule.body)
    assert max(Counter(rule.head.predicate for rule in world.rules).values()) == 1


@pytest.mark.parametrize(("events", "days"), [(1_000, None), (1_000, 8_000), (20_000, 60), (70_001, None)])
def test_the_number_of_events_is_the_one_asked_for_and_none_is_there_twice(events, days):
    world = generate_world(events, seed=3, days=days)
    assert len(world) == events
    assert len(set(zip(world.subject, world.predicate, world.object, world.day, strict=True))) == events
    assert world.day.min() >= 0
    assert world.day.max() < world.days


def test_types_limit_who_does_what_to_whom(world):
    types = np.array(world.types)
    for predicate, (subjects, objects) in enumerate(world.signatures):
        rows = world.predicate == predicate
        assert rows.any()
        assert set(types[world.subject[rows]]) <= subjects
        assert set(types[world.object[rows]]) <= objects
    assert (world.subject != world.object).all()


def test_nobody_is_named_twice_and_groups_are_tied_to_their_state(world):
    assert len(set(world.entities)) == len(world.entities)
    assert 400 <= len(world.entities) <= 600
    states = [name for name, kind in zip(world.entities, world.types, strict=True) if kind == "state"]
    assert {f"Police ({state})" for state in states} <= set(world.entities)
    assert set(world.types) == {kind for signature in world.signatures for kinds in signature for kind in kinds}


def test_some_predicates_and_entities_are_far_more_frequent_than_others(world):
    for column in (world.predicate, world.subject):
        counts = np.sort(np.bincount(column))
        assert counts[-1] > 5 * np.median(counts[counts > 0])


def test_partners_change_from_era_to_era(world):
    accusing = world.predicate == world.predicates.index("Accuse")
    early, late = accusing & (world.day < 75), accusing & (world.day >= 290)
    pairs = [Counter(zip(world.subject[rows], world.object[rows], strict=True)) for rows in (early, late)]
    kept = sum((pairs[0] & pairs[1]).values()) / min(sum(counts.values()) for counts in pairs)
    assert kept < 0.5


def test_the_same_seed_writes_the_same_bytes_and_another_seed_does_not(tmp_path):
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        generate_world(2_000, seed).write(tmp_path / folder)
    names = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert names == [
        "entities.tsv",
        "planted_events.jsonl",
        "rules.json",
        "rules.txt",
        "test.tsv",
        "train.tsv",
        "valid.tsv",
    ]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a" / "train.tsv").read_bytes() != (tmp_path / "c" / "train.tsv").read_bytes()


def test_the_files_hold_every_event_once_in_an_80_10_10_split(world, tmp_path):
    world.write(tmp_path)
    rows = {name: (tmp_path / f"{name}.tsv").read_text("utf-8").splitlines() for name in ("train", "valid", "test")}
    assert {name: len(lines) for name, lines in rows.items()} == {"train": 16_000, "valid": 2_000, "test": 2_000}
    assert len({line for lines in rows.values() for line in lines}) == 20_000
    fields = [line.split("\t") for lines in rows.values() for line in lines]
    assert all(len(row) == 4 and date(2024, 1, 1) <= date.fromisoformat(row[3]) < date(2024, 12, 31) for row in fields)
    head, *lines = (tmp_path / "entities.tsv").read_text("utf-8").splitlines()
    types = dict(line.split("\t") for line in lines)
    assert head == "name\ttype"
    assert {name for row in fields for name in (row[0], row[2])} <= set(types)


def test_valid_and_test_hardly_ask_for_anybody_whom_train_does_not_show(world):
    rows = world.split()
    known = set(world.subject[rows["train"]]) | set(world.object[rows["train"]])
    for name in ("valid", "test"):
        asked = np.concatenate([world.subject[rows[name]], world.object[rows[name]]])
        assert np.isin(asked, list(known)).mean() > 0.995
        assert set(world.predicate[rows[name]]) <= set(world.predicate[rows["train"]])


def test_rules_are_written_to_be_read_by_people_and_by_programs(world, tmp_path):
    world.write(tmp_path)
    lines = (tmp_path / "rules.txt").read_text("utf-8").splitlines()
    assert lines[0] == "Host a visit(y, x, t) <= Make a visit(x, y, t)  [planted 0.90, window 5, accompanies]"
    assert (
        "Mobilise against(x, y, t+t1+t2) <= Supply arms to(x, z, t) ∧ Attack(z, y, t+t1)"
        "  [planted 0.40, window 5, chain_then]"
    ) in lines
    rules = json.loads((tmp_path / "rules.json").read_text("utf-8"))["rules"]
    assert [rule["text"] for rule in rules] == lines
    assert rules[0]["body"] == [{"predicate": "Make a visit", "subject": "x", "object": "y"}]


def test_more_events_make_more_entities_and_a_longer_timeline():
    small, large = generate_world(20_000), generate_world(200_000)
    assert small.days == 365 < large.days < 4_000
    assert len(small.entities) < len(large.entities) < 10 * len(small.entities)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"events": 999}, "1,000 to 10,000,000"),
        ({"events": 10_000_001}, "1,000 to 10,000,000"),
        ({"seed": -1}, "from 0 on"),
        ({"days": 59}, "60 to 8000 days"),
        ({"events": 1_000_000, "days": 60}, "164 to 8000 days"),
    ],
)
def test_what_cannot_be_made_is_refused_with_a_remedy(arguments, message):
    with pytest.raises(DataError, match=message):
        generate_world(**arguments)


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="choose another folder"):
        generate_world(1_000).write(tmp_path / "file")


def test_every_planted_event_is_written_with_events_that_its_rule_needs(world, tmp_path):
    world.write(tmp_path)
    rows = [line.split("\t") for name in SPLITS for line in (tmp_path / name).read_text("utf-8").splitlines()]
    happened = {tuple(row) for row in rows}
    rules = {str(rule): rule for rule in world.rules}
    planted = defaultdict(set)
    for line in (tmp_path / "planted_events.jsonl").read_text("utf-8").splitlines():
        made = json.loads(line)
        rule, event, body = rules[made["rule"]], tuple(made["event"]), [tuple(one) for one in made["made_by"]]
        assert {event, *body} <= happened
        bound, days = {}, []
        for atom, (subject, predicate, object_, day) in zip((*rule.body, rule.head), (*body, event), strict=True):
            assert atom.predicate == predicate
            assert bound.setdefault(atom.subject, subject) == subject
            assert bound.setdefault(atom.object, object_) == object_
            days.append(date.fromisoformat(day).toordinal())
        for later, earlier, day in zip(LATER[rule.pattern], days[:-1], days[1:], strict=True):
            assert 1 <= day - earlier <= rule.window if later else day == earlier
        planted[made["rule"]].add((event, body[0][3]))
    for text, rule in rules.items():
        assert rule.support * 0.9 <= len(planted[text])
