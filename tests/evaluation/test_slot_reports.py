from pathlib import Path

import numpy as np
import pytest
import torch

from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.errors import ConfigError
from foretime.evaluation import Evaluation
from foretime.evaluation.calibration import Calibration
from foretime.evaluation.groups import COUNT_KINDS, KINDS, PairHistory
from foretime.evaluation.slot_questions import OpenCandidates, kinds_asked, kinds_for
from foretime.evaluation.slot_reports import evaluate_slot, rank_slot
from foretime.inference.run import open_run


def noise(slot: str, facts: Facts, width: int) -> torch.Tensor:
    seeds = facts.subject * 31 + facts.object * 7 + facts.predicate + facts.start
    return torch.stack([torch.rand(width, generator=torch.Generator().manual_seed(int(seed))) for seed in seeds])


def known(graph: Graph, splits: list[str]) -> set[tuple[int, ...]]:
    return {row for split in splits for row in zip(*(c.tolist() for c in graph.facts(split).columns()), strict=True)}


@pytest.mark.parametrize("slot", ["predicate", "time"])
def test_ranks_of_predicates_and_times_are_those_of_a_loop(small_graph: Graph, slot: str):
    width = len(small_graph.predicates) if slot == "predicate" else len(small_graph.timeline)
    facts, history = small_graph.test.take(slice(12)), PairHistory(small_graph)
    calibration = Calibration.of_temperature(1.0, len(kinds_for(slot)))
    ranked = rank_slot(lambda slot, some: noise(slot, some, width), small_graph, slot, facts, calibration, history)
    every, scores = known(small_graph, ["train", "valid", "test"]), noise(slot, facts, width)
    for row, (s, p, o, t, _) in enumerate(zip(*(column.tolist() for column in facts.columns()), strict=True)):
        answer = p if slot == "predicate" else t
        filled = [(s, c, o, t, t) if slot == "predicate" else (s, p, o, c, c) for c in range(width)]
        rivals = [c for c in range(width) if c != answer and filled[c] not in every]
        higher = sum(scores[row, c] > scores[row, answer] for c in rivals)
        assert ranked.ranks.realistic[row] == 1 + higher
        if slot == "time":
            best = max([answer, *rivals], key=lambda c: scores[row, c])
            assert ranked.off[0][row] == abs(best - t)
    whole = evaluate_slot(slot, ranked)
    assert whole.model.metrics.questions == whole.counting.metrics.questions == 12
    assert whole.model.within.keys() == ({1, 7, 30} if slot == "time" else set())


def test_the_kind_of_a_question_is_that_of_its_best_candidate_and_not_of_its_answer(small_graph: Graph):
    facts, history = small_graph.test.take(slice(20)), PairHistory(small_graph)
    scores = noise("object", facts, len(small_graph.entities))
    events = small_graph.train.with_inverses(len(small_graph.predicates)).events()
    met = list(zip(events.subject.tolist(), events.object.tolist(), events.time.tolist(), strict=True))
    for row, kind in enumerate(kinds_asked(history, "object", facts, scores)):
        pair = int(facts.subject[row]), int(scores[row].argmax())
        away = [abs(time - int(facts.start[row])) for *two, time in met if tuple(two) == pair]
        wanted = sum(min(away) > edge for edge in (0, 1, 7, 30)) if away else len(KINDS) - 1
        assert kind == wanted
    counts = [sum(two == [int(s), int(o)] for *two, _ in met) for s, o in zip(facts.subject, facts.object, strict=True)]
    edges = [sum(count > edge for edge in (0, 1, 4, 15, 60)) for count in counts]
    assert kinds_asked(history, "time", facts, scores).tolist() == edges
    assert max(edges) < len(COUNT_KINDS)


def test_what_is_to_come_makes_nobody_near_where_only_the_past_counts(small_graph: Graph):
    first = small_graph.train.take(np.array([int(small_graph.train.start.argmin())]))
    assert PairHistory(small_graph).kinds_by_distance(first)[0] == 0
    assert PairHistory(small_graph, past_only=True).kinds_by_distance(first)[0] == len(KINDS) - 1


def test_open_candidates_are_those_that_train_and_valid_do_not_have(small_graph: Graph):
    facts = small_graph.test.take(slice(10))
    left = OpenCandidates(small_graph, "object", PairHistory(small_graph)).of(
        facts, noise("object", facts, len(small_graph.entities))
    )
    settled = known(small_graph, ["train", "valid"])
    for row, (s, p, answer, t, _) in enumerate(zip(*(column.tolist() for column in facts.columns()), strict=True)):
        for object_ in range(len(small_graph.entities)):
            gone = object_ != answer and (s, p, object_, t, t) in settled
            assert bool(left.scores[row, object_].isinf()) == gone


def test_a_report_has_every_slot_beside_counting_and_is_read_again(small_run: Path, tmp_path: Path):
    found = open_run(small_run).evaluate("test")
    assert Evaluation.from_dict(found.to_dict()) == found
    assert found.by_slot.column("by") == ["run", "counting"] * 4
    assert {"subject", "predicate", "object", "time"} == set(found.calibration.column("slot"))
    assert found.slots["object"].model.metrics == found.objects
    assert found.calibration_error["time"] == found.slots["time"].reliability.ece
    assert found.plot_reliability(tmp_path / "plot.svg") is None
    assert (tmp_path / "plot.svg").read_text().startswith("<?xml")
    with pytest.raises(ConfigError, match=r"plot\.gif: a plot is written as \.svg or \.png"):
        Evaluation.check_plot_file(tmp_path / "plot.gif")


def test_a_report_without_slots_is_read(small_run: Path):
    values = open_run(small_run).report["test"]
    old = Evaluation.from_dict({name: value for name, value in values.items() if name != "slots"})
    assert old.slots == {}
    assert len(old.by_slot) == len(old.calibration) == 0
