"""Models of an open predicate and an open time: features by brute force, no leak, saved and loaded, sums."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from reranked_runs import Reranked

from foretime.config import EvidenceConfig, RerankerConfig
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.errors import RunError
from foretime.evaluation.counting import Counting
from foretime.evaluation.groups import PairHistory
from foretime.evaluation.slot_questions import candidates
from foretime.evaluation.slots import score_filled
from foretime.evidence.events import event_lists
from foretime.evidence.index import EvidenceIndex, build_index
from foretime.inference.explanation.slot_groups import SlotGroups
from foretime.reranker.features.names import name_words
from foretime.reranker.features.words import FAR
from foretime.reranker.scorer import Scorer
from foretime.reranker.slots.extractors import EXTRACTORS, SlotExtractor
from foretime.reranker.slots.softmax import PredicateSoftmax
from foretime.reranker.slots.steps import CLOSEST
from foretime.reranker.slots.traces import table_size
from foretime.reranker.slots.trees import BOOSTING, SlotExamples, fit_trees, load_trees
from foretime.reranker.slots.words import PREDICATE, TIME, in_words, topic_of
from foretime.runs.loading import load_model, load_scorer

ENTITIES, PREDICATES, STEPS = 5, 3, 40
TOPICS = {"between", "others", "activity", "neighbours", "names", "timely", "lasting", "general"}


def index_over(graph: Graph, facts: Facts, past_only: bool = False) -> EvidenceIndex:
    index = build_index(graph, EvidenceConfig(past_only=past_only))
    events = event_lists(facts, len(graph.entities), len(graph.predicates), len(graph.timeline))
    return replace(index, events=events)


def extractor_over(slot: str, graph: Graph, facts: Facts, past_only: bool = False) -> SlotExtractor:
    index, words = index_over(graph, facts, past_only), name_words(graph.entities, graph.train, len(graph.predicates))
    rows = table_size(index.events, words)
    weights = torch.randn(rows, len(graph.predicates), generator=torch.Generator().manual_seed(0))
    return EXTRACTORS[slot](index, words, PredicateSoftmax(weights))


def by_candidate(extractor: SlotExtractor, fact: Facts, hidden: bool) -> dict[int, np.ndarray]:
    shortlist = extractor.extract(fact, hidden)
    return dict(zip(shortlist.chosen[0].tolist(), shortlist.features, strict=True))


@pytest.mark.parametrize("past_only", [False, True])
@pytest.mark.parametrize("slot", ["predicate", "time"])
def test_no_candidate_sees_whether_the_fact_asked_about_is_there(
    slot: str, past_only: bool, small_graph: Graph
) -> None:
    facts = small_graph.train
    for row in range(0, len(facts), 97):
        asked, rest = facts.take(np.array([row])), facts.take(np.arange(len(facts)) != row)
        inside = by_candidate(extractor_over(slot, small_graph, facts, past_only), asked, hidden=True)
        outside = by_candidate(extractor_over(slot, small_graph, rest, past_only), asked, hidden=True)
        unhidden = by_candidate(extractor_over(slot, small_graph, rest, past_only), asked, hidden=False)
        assert inside.keys() == outside.keys() == unhidden.keys()
        own = int(asked.predicate[0] if slot == "predicate" else asked.start[0])
        for candidate, features in inside.items():
            np.testing.assert_allclose(features, outside[candidate], rtol=1e-4, atol=1e-4)
            if slot == "time" or candidate == own:  # no other candidate is hidden from itself if none is asked about
                np.testing.assert_allclose(features, unhidden[candidate], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("slot", ["predicate", "time"])
def test_with_past_only_later_events_change_nothing(slot: str, small_graph: Graph) -> None:
    facts = small_graph.train
    asked = facts.take(np.array([5]))
    time = int(asked.start[0])
    earlier = facts.take(facts.start < time)
    whole = by_candidate(extractor_over(slot, small_graph, facts, True), asked, hidden=True)
    cut = by_candidate(extractor_over(slot, small_graph, earlier, True), asked, hidden=True)
    for candidate in [time] if slot == "time" else range(len(small_graph.predicates)):
        if candidate in whole and candidate in cut:
            counted = [place for place, name in enumerate(EXTRACTORS[slot].all_names) if "behind" not in name]
            np.testing.assert_allclose(whole[candidate][counted], cut[candidate][counted], rtol=1e-4, atol=1e-4)


def rounded(count: float) -> float:
    return float(2.0 ** np.rint(np.log2(1 + count)) - 1)


def met_at(rows: list[tuple[int, ...]], entity: int, step: int) -> list[int]:
    """Return who is at the other end of each event of an entity at a step."""
    own = [row for row in rows if row[3] == step and entity in (row[0], row[2])]
    return [row[2] if row[0] == entity else row[0] for row in own]


def share_with(rows: list[tuple[int, ...]], entity: int, other: int) -> int:
    """Return which share of the events of an entity are with another one, in units of `CLOSEST`."""
    both = [row for row in rows if entity in (row[0], row[2]) and other in (row[0], row[2])]
    either = [row for row in rows if entity in (row[0], row[2])]
    return CLOSEST * len(both) // (len(either) + sum(row[0] == row[2] for row in either))


def test_counts_of_predicates_and_steps_are_those_of_a_loop(small_graph: Graph) -> None:
    train = small_graph.train
    rows = list(
        zip(train.subject.tolist(), train.predicate.tolist(), train.object.tolist(), train.start.tolist(), strict=True)
    )
    for s, p, o, t in rows[::80]:
        others = [row for row in rows if row != (s, p, o, t)]
        asked = Facts(*(np.array([value]) for value in (s, p, o, t, t)))
        found = by_candidate(extractor_over("predicate", small_graph, train), asked, hidden=True)
        for q, features in found.items():
            own = dict(zip(PREDICATE, features.tolist(), strict=True))
            between = [row for row in others if (row[0], row[2]) in ((s, o), (o, s))]
            same = [row[3] for row in others if row[:3] == (s, q, o) and row[3] != t]
            assert own["pair_events"] == pytest.approx(rounded(len(between)))
            assert own["same_events"] == pytest.approx(rounded(len(same)))
            assert own["same_before"] == min((t - time for time in same if time < t), default=FAR)
            by_others = [row for row in others if row[1:3] == (q, o) and row[0] != s]
            assert own["object_events"] == pytest.approx(rounded(len(by_others)))
        at = Counter(row[3] for row in others if s in (row[0], row[2]) and o not in (row[0], row[2]))
        for step, features in by_candidate(extractor_over("time", small_graph, train), asked, hidden=True).items():
            own = dict(zip(TIME, features.tolist(), strict=True))
            same = [row[3] for row in others if row[:3] == (s, p, o) and row[3] != step]
            assert own["subject_now"] == pytest.approx(rounded(at[step]))
            assert own["same_after"] == min((time - step for time in same if time > step), default=FAR)
            close = sum(share_with(others, z, o) for z in met_at(others, s, step) if z not in (s, o))
            assert own["subject_close_now"] == pytest.approx(rounded(close))


def test_every_feature_has_a_topic_and_words() -> None:
    for slot, features in (("predicate", PREDICATE), ("time", TIME)):
        assert {topic_of(slot, feature) for feature in features} <= TOPICS
        assert all(in_words(slot, feature) for feature in features)
    groups = SlotGroups("time")
    assert groups.group_of("subject_same_alike_now") == groups.group_of("alike_week") == ("names", "names")
    assert groups.group_of("object_close_share") == groups.group_of("shared_now") == ("neighbours", "common")


def test_a_loaded_run_scores_all_candidates_and_contributions_add_up(
    small_graph: Graph, reranked: dict[str, Reranked]
) -> None:
    run = reranked["fold"].run
    scorer = load_scorer(run, run.config(), small_graph)
    assert scorer.slots is not None
    facts = small_graph.test.take(slice(0, 10))
    for slot, size in (("predicate", len(small_graph.predicates)), ("time", len(small_graph.timeline))):
        model = scorer.slots.models[slot]
        scores = model.score(facts)
        assert scores.shape == (10, size)
        torch.testing.assert_close(scores, torch.cat([model.score(facts.take(slice(k, k + 1))) for k in range(10)]))
        again = model.on(index_over(small_graph, small_graph.train), model.extractor.words).score(facts)
        torch.testing.assert_close(scores, again)
        features = model.extractor.extract(facts, hidden=False).features
        np.testing.assert_allclose(model.trees.contributions(features).sum(1), model.trees.score(features), atol=1e-6)


def test_a_run_without_slot_models_answers_by_the_base_model(small_graph: Graph, small_run: Path) -> None:
    from foretime.runs.folder import RunFolder

    run = RunFolder.open(small_run)
    model = load_model(run, run.config(), small_graph)
    facts = small_graph.test.take(slice(0, 3))
    expected = score_filled(model, small_graph, "predicate", facts)
    torch.testing.assert_close(Scorer(model, small_graph).score_slot("predicate", facts), expected)


def test_damaged_trees_of_a_slot_say_what_to_do(
    small_graph: Graph, reranked: dict[str, Reranked], tmp_path: Path
) -> None:
    path, names = tmp_path / "slots-time.safetensors", EXTRACTORS["time"].all_names
    path.write_text("foretime slot time 0\ntree", encoding="utf-8")
    with pytest.raises(
        RunError, match=r"slots-time\.safetensors: damaged.* delete slots\*\.safetensors .*train --resume"
    ):
        load_trees(path, "time", names)
    of_predicate = reranked["fold"].run.slot_file("predicate")
    with pytest.raises(RunError, match=r"is 'foretime slot predicate 1': fitted by another version.*train --resume"):
        load_trees(of_predicate, "time", names)
    with pytest.raises(RunError, match=r"has other features: fitted by another version.*train --resume"):
        load_trees(of_predicate, "predicate", names)


def test_trees_of_an_earlier_version_see_the_features_they_were_fitted_on(small_graph: Graph) -> None:
    whole = extractor_over("time", small_graph, small_graph.train)
    asked, fewer = small_graph.test.take(slice(0, 3)), whole.names[5:50:3]
    found = replace(whole, fitted_on=fewer).extract(asked, hidden=False)
    places = [whole.names.index(name) for name in fewer]
    np.testing.assert_array_equal(found.features, whole.extract(asked, hidden=False).features[:, places])


def test_no_tree_takes_a_step_that_later_ones_must_take_back() -> None:
    values = np.tile(np.arange(40, dtype=np.float32), 30)[:, None]  # each question has one candidate with a 39
    examples = SlotExamples([values[:400], values[400:]], (values[:, 0] == 39).astype(np.int8), np.full(30, 40))
    trees = fit_trees(("place",), examples, RerankerConfig(trees=1, leaf_candidates=5, feature_share=1.0), 0, 1)
    scores = trees.score(values[:40])
    assert scores.argmax() == 39
    assert np.abs(scores).max() == pytest.approx(BOOSTING["learning_rate"] * BOOSTING["max_delta_step"])


def test_counting_ranks_what_happened_more_often_first(small_graph: Graph) -> None:
    train, counting = small_graph.train, Counting(small_graph)
    asked = train.take(slice(0, 20))
    rows = list(zip(train.subject.tolist(), train.predicate.tolist(), train.object.tolist(), strict=True))
    for row, scores in enumerate(counting.score_slot("predicate", asked)):
        s, p, o = rows[row]
        counts = [sum(other == (s, q, o) for other in rows) - (q == p) for q in range(len(small_graph.predicates))]
        best = int(scores.argmax())
        assert counts[best] == max(counts)
    for slot in ("subject", "object", "time"):
        asking = candidates(counting.score_slot, small_graph, slot, asked, PairHistory(small_graph))
        found = torch.cat([batch.scores for batch in asking])
        assert found.shape[0] == 20
