"""The first sentences: a template for each family and kind of statement, and nothing that is not among the reasons."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.config import EvidenceConfig
from foretime.data.facts import inverse
from foretime.data.graph import Graph, read_graph
from foretime.evidence.families import FAMILY_NAMES
from foretime.evidence.index import build_index
from foretime.evidence.reasons import ReasonFinder
from foretime.inference.explainer import Explainer
from foretime.inference.explanation.attribution import FeatureScore, attribute_features
from foretime.inference.explanation.events import CoNeighbour, DatedEvent, SharedNeighbours
from foretime.inference.explanation.phrases import isolated, span_words, when_words
from foretime.inference.explanation.reasons import ReasonPart, ShownReason
from foretime.inference.explanation.rule_words import with_counts
from foretime.inference.explanation.sentences import OPENINGS, first_sentences
from foretime.inference.explanation.splitting import split
from foretime.inference.explanation.statements import GraphFeature, Statements
from foretime.inference.explanation.vocabulary import FactIds, GraphWords
from foretime.inference.explanation.wording import Wording, by_body
from foretime.inference.predictor import Predictor

ROWS = (
    ("Vigaband", "Recall ambassador", "Vinunia", "2024-05-15"),
    ("Vinunia", "Accuse", "Vigaband", "2024-05-12"),
    ("Libo", "Threaten", "Vinunia", "2024-05-12"),
    ("Libo", "Accuse", "Vigaband", "2024-05-11"),
    ("Vigaband", "Threaten", "Vinunia", "2024-04-11"),
    ("Libo", "Threaten", "Kafiti", "2024-01-01"),
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("states")
    for name in ("train", "valid", "test"):
        rows = ROWS if name == "train" else ROWS[:1]
        (folder / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return read_graph(folder)


def asked(graph: Graph, inverted: bool = False, time: str = "2024-05-12") -> FactIds:
    """The question of a day: whom does Vigaband threaten? (Or who threatens it.) Vinunia is the candidate."""
    p = graph.predicates.id("Threaten")
    predicate = inverse(p, len(graph.predicates)) if inverted else p
    ids = (graph.entities.id(name) for name in ("Vigaband", "Vinunia"))
    subject, object_ = ids
    return FactIds(subject, predicate, object_, {"": graph.timeline.step(time)})


def clauses(graph: Graph, inverted: bool = False, time: str = "2024-05-12") -> dict[str, str]:
    """The clause of each family; of the pair, that of the largest weight."""
    index = build_index(graph, EvidenceConfig(use=True, families=list(FAMILY_NAMES)))
    finder = ReasonFinder(index, np.ones(index.weights, dtype=np.float32))
    fact = asked(graph, inverted, time)
    groups = by_body(finder.find_at(fact.subject, fact.predicate, fact.object, fact.first))
    wording = Wording(GraphWords(graph))
    return {
        f"{key[0]} {graph.predicates.name(key[1] % len(graph.predicates))}" if key[0] == "pair" else str(key[0]): (
            wording.show(fact, key, group, 1.0).clause
        )
        for key, group in groups.items()
    }


def test_each_family_of_evidence_has_a_clause_that_says_who_did_what_to_whom_and_when(graph: Graph):
    found = clauses(graph)
    assert found["pair Recall ambassador"] == (
        'there was "Recall ambassador" by Vigaband towards Vinunia three days later'
    )
    assert found["pair Accuse"] == 'there was "Accuse" by Vinunia towards Vigaband the same day'
    assert found["pair Threaten"] == 'there was "Threaten" by Vigaband towards Vinunia about a month before'
    assert found["object"] == 'there was "Threaten" by others towards Vinunia the same day (Libo)'
    assert found["active"] == "Vinunia was active with others the same day"
    assert found["affinity"] == "Vigaband and Vinunia both had dealings with Libo"
    assert found["recurrence"] == found["pair Threaten"]
    assert found["contact"] == "Vigaband and Vinunia had dealings with each other about a month before"
    assert "popularity" not in found  # what is on the same day is not yet past
    later = clauses(graph, time="2024-05-15")
    assert later["popularity"] == 'there was "Threaten" by others towards Vinunia three days before (Libo)'
    assert later["contact"] == "Vigaband and Vinunia had dealings with each other three days before"


def test_where_the_subject_is_asked_for_the_other_acts(graph: Graph):
    assert "object" not in clauses(graph, inverted=True)  # Vinunia threatens no one else
    said = Statements(GraphWords(graph)).show(asked(graph, inverted=True), ("object",), -1.0)
    assert said.clause == 'there is no known "Threaten" by Vinunia towards others'


STATEMENTS = {
    ("met",): "Vigaband and Vinunia have no known events with each other",
    ("same",): 'there is no other known "Threaten" by Vigaband towards Vinunia',
    ("inverse",): 'there is no known "Threaten" by Vinunia towards Vigaband',
    ("object",): 'there is no known "Threaten" by others towards Vinunia',
    ("active",): "Vinunia is not known to be active with others near that day",
    ("affinity",): "Vigaband and Vinunia have no neighbours in common",
    ("names",): "the names of Vigaband and Vinunia have no words in common",
    ("shared",): "no one who shares a neighbour with Vigaband is known with Vinunia",
    ("term", "event"): 'what the model has learned of Vigaband and Vinunia at this time does not fit "Threaten"',
    ("term", "static"): 'what the model has learned of Vigaband and Vinunia whatever the time does not fit "Threaten"',
    ("compared", "pair"): "other answers have more or nearer events with Vigaband",
    ("compared", "object"): 'other answers have "Threaten" with others more often or nearer in time',
    ("compared", "active"): "other answers are more active around then",
    ("compared", "affinity"): "other answers have more neighbours in common with Vigaband",
    ("compared", "path"): "other answers have more paths to Vigaband",
    ("compared", "recurrence"): 'other answers have had "Threaten" with Vigaband more often or more recently',
    ("compared", "contact"): "other answers have had more or newer events with Vigaband",
    ("compared", "popularity"): 'other answers have had "Threaten" with others more often or more recently',
}


@pytest.mark.parametrize("key", STATEMENTS)
def test_what_is_of_no_rule_is_a_sentence_and_never_the_name_of_a_feature(graph: Graph, key):
    reason = Statements(GraphWords(graph)).show(asked(graph), key, -1.0)
    assert (reason.clause, reason.contribution, reason.events) == (STATEMENTS[key], -1.0, ())


def test_the_nearest_event_stands_for_all_between_the_two(graph: Graph):
    fact = asked(graph)
    index = build_index(graph, EvidenceConfig(use=True))
    between = ReasonFinder(index, np.empty(0, dtype=np.float32)).between(*fact[:3], fact.first)
    reason = Statements(GraphWords(graph)).show(fact, ("met",), 2.0, between=between)
    assert reason.clause == (
        'there were 3 events between the two, the nearest "Accuse" by Vinunia towards Vigaband the same day'
    )
    assert [event.time for event in reason.events] == ["2024-05-12", "2024-05-15", "2024-04-11"]
    shares = [event.contribution for event in reason.events]
    assert shares == sorted(shares, reverse=True)
    assert (sum(shares), reason.rest) == (pytest.approx(2.0), pytest.approx(0.0))


def test_a_co_neighbour_is_named_with_what_it_shares(graph: Graph):
    fact = DatedEvent("before", "Libo", "Threaten", "Kafiti", "2024-01-01")
    shared = SharedNeighbours((CoNeighbour("Libo", "Kafiti", 1, 0.5, (fact,)),) * 3, 1.5)
    reason = Statements(GraphWords(graph)).show(asked(graph), ("shared",), 0.6, shared=shared)
    assert reason.sentence == "Libo, who shares Kafiti with Vigaband, is known with Vinunia too, and so are 2 others"
    assert [event.contribution for event in reason.events] == pytest.approx([0.2, 0.2, 0.2])


def test_names_that_share_words_say_which(tmp_path: Path):
    path = tmp_path / "events.tsv"
    rows = [f"Police (Mexico)\tArrest\tCriminal (Mexico)\t2024-01-{day:02}\n" for day in range(1, 21)]
    path.write_text("".join(rows), encoding="utf-8")
    graph = read_graph(path)
    ids = [graph.entities.id(name) for name in ("Police (Mexico)", "Criminal (Mexico)")]
    fact = FactIds(ids[0], 0, ids[1], {"": 3})
    features = [GraphFeature("name_overlap", 1.2, 0.5), GraphFeature("name_count", 3.0, 0.1)]
    reason = Statements(GraphWords(graph)).show(fact, ("names",), 0.6, features)
    assert reason.clause == 'the names of Police (Mexico) and Criminal (Mexico) share "Mexico"'


def reason(clause: str, contribution: float, topic: str = "between", mark: str = "before", key: int = 0) -> ShownReason:
    event = DatedEvent(mark, clause, "p", "o", "2024-05-12", "", contribution)
    family = "usual" if topic == "general" else "pair"
    return ShownReason(family, topic, clause, clause, clause, events=(event,), groundings=1, key=("pair", key))


RECALLED = reason("there was a recall three days later", 2.0, mark="after")
THREATENED = reason("there was a threat about a month before", 1.5)
ACCUSED = reason("there is no known accusation", -1.0)
USUAL = reason("what is usual", -3.0, "general")
SENTENCES = {
    "Very likely": (0.9, 1, [RECALLED], "Very likely because there was a recall three days later."),
    "Likely": (
        0.6, 1, [RECALLED, THREATENED, ACCUSED, USUAL],
        "Likely because there was a recall three days later, and a threat about a month before; "
        "weak because there is no known accusation.",
    ),
    "Possible": (0.2, 3, [THREATENED], "Possible because there was a threat about a month before."),
    "Unlikely": (
        0.1, 3, [THREATENED, ACCUSED],
        "Unlikely because there is no known accusation; in its favour, there was a threat about a month before.",
    ),
    "unlikely beside others": (
        0.1, 3, [THREATENED],
        "Unlikely: there was a threat about a month before, but other answers have more behind them.",
    ),
    "first of many": (
        0.1, 1, [THREATENED],
        "No answer stands out; this one comes first because there was a threat about a month before.",
    ),
    "nothing": (
        0.1, 2, [USUAL],
        "Unlikely: nothing that is known supports it, but other answers have more behind them.",
    ),
    "known": (
        None, 1, [THREATENED],
        "Already known in train; supported because there was a threat about a month before.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SENTENCES)
def test_the_sentence_names_the_largest_reasons_for_and_against(case: str):
    probability, rank, reasons, sentence = SENTENCES[case]
    assert first_sentences(reasons, rank, probability, "train")[0] == sentence


def test_an_answer_that_leans_on_later_events_says_so():
    assert first_sentences([RECALLED, THREATENED], 1, 0.6, None)[1:] == (
        "It leans on later events: 57% of what supports it.",
    )
    assert len(first_sentences([THREATENED], 1, 0.6, None)) == 1


@pytest.mark.parametrize("slot", ["subject", "predicate", "object", "time"])
def test_the_sentence_of_every_slot_consists_of_its_reasons_alone(evidence_run: Path, slot: str):
    explainer: Explainer = Predictor.open(evidence_run).explainer
    for row in range(4):
        subject, predicate, object_, time = list(explainer.predictor.graph.rows("test"))[row][:4]
        fact = {"subject": subject, "predicate": predicate, "object": object_, "time": time}
        found = explainer.explain(**fact, slot=slot)
        left = found.sentences[0]
        assert left.startswith((*(word for _, word in OPENINGS), "No answer stands out", "Already known"))
        for one in sorted(found.reasons, key=lambda one: -len(one.clause)):
            left = left.replace(one.clause, "").replace(one.clause.removeprefix("there was "), "")
        words = "Very likely Possible Unlikely because and weak in its favour No answer stands out this one comes first"
        words += " Already known train valid test supported but other answers have more behind them"
        allowed = {*words.split(), "Likely"}
        assert {word.strip(".,;:") for word in left.split()} - {""} <= allowed


def test_a_rule_says_how_often_it_came_true_and_which_way_in_time(graph: Graph):
    words, fact = GraphWords(graph), asked(graph)
    own = inverse(graph.predicates.id("Accuse"), len(graph.predicates))

    def counted(distance: int, support: int, rule: float = 1.0) -> tuple[str | None, str | None]:
        part = ReasonPart("pair_offset", distance, "", "", 1.0, 0.1, 0.1, rule, "a <= b")
        given = ShownReason("pair", "between", "", "", "", "a <= b", parts=(part,), rest=1.0, key=("pair", own))
        found = with_counts(words, fact, given, lambda *_: (support, 64))
        return found.counted, found.rule

    way = '"Threaten" the other way'
    assert counted(-10, 12) == (f'"Accuse" was followed by {way} 8–14 days later: came true 12 of 64 times', "a <= b")
    assert counted(3, 40)[0] == f'"Accuse" is usually preceded by {way} 3–4 days before: came true 40 of 64 times'
    assert counted(0, 40)[0] == f'"Accuse" usually comes with {way} the same day: came true 40 of 64 times'
    general = ("in general, events between the two 8–14 days before support such an answer", None)
    assert counted(-10, 0) == counted(-10, 12, rule=0.05) == general


def test_times_are_said_as_people_say_them():
    said = [when_words(distance, "day") for distance in (0, -1, 3, -7, 14, 19, -30, 61, -400)]
    assert said == [
        "the same day", "a day before", "three days later", "a week before", "two weeks later", "19 days later",
        "about a month before", "about two months later", "about a year before",
    ]  # fmt: skip
    assert [span_words(count, "year") for count in (1, 2, 30)] == ["a year", "two years", "30 years"]
    assert span_words(1, "hour") == "an hour"


def test_only_names_from_right_to_left_are_isolated_and_none_can_break_out():
    assert isolated("Côte d’Ivoire") == "Côte d’Ivoire"
    assert isolated("محمود") == "\u2068محمود\u2069"
    assert isolated("a\u202eb\u2069c") == "\u2068a\u202ebc\u2069"


amounts = st.floats(-20, 20)


@given(amounts, st.lists(amounts, max_size=8))
def test_a_split_adds_up_and_gives_no_summand_more_than_its_size(amount: float, sizes: list[float]):
    shares, rest = split(amount, sizes)
    assert sum(shares) + rest == pytest.approx(amount, abs=1e-9)
    for share, size in zip(shares, sizes, strict=True):
        assert abs(share) <= abs(size) * (1 + 1e-9)
        assert share * size * amount * sum(sizes) >= 0 or share * amount >= 0
    assert abs(rest) <= abs(amount) + 1e-9


@given(st.lists(amounts, min_size=7, max_size=7), st.lists(amounts, min_size=7, max_size=7), amounts, amounts)
def test_what_features_add_is_handed_down_whole(contributions, values, size, other):
    of_base = ["score", "evidence_pair", "evidence_pair below the best", "event"]
    names = [*of_base, "pair_now", "same_events", "subject_now"]
    scored = FeatureScore(names, values, contributions, 0.5, [0.0] * 7)
    rules = {("pair", 1): size, ("pair", 2): other}
    found = attribute_features(scored, rules, {"same": (("pair", 1),)})
    total = sum(sum(summands) for summands in found.values())
    assert total == pytest.approx(0.5 + sum(contributions), abs=1e-9)
    assert ("same",) not in found
