"""Living graphs: an updated run is, to the last bit, one whose index had all events from the start."""

from pathlib import Path

import numpy as np
import pytest
import torch
from living_runs import NEW_NAMES, assert_same, built_anew, copied, drawn_rows
from reranked_runs import Reranked, interval_graph

from foretime.config import Config, override
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError, QuestionError
from foretime.evidence.families import RATED
from foretime.inference.predictor import Predictor
from foretime.inference.run import Run
from foretime.reranker.carrying import carry_scorer
from foretime.reranker.other_evidence import EvidenceFilter
from foretime.runs.life import train


@pytest.fixture(scope="module", params=["points", "intervals", "past", "fading", "recent", "evidence", "embeddings"])
def trained(
    request, small_graph: Graph, reranked: dict[str, Reranked], reranked_config: Config, small_run, tmp_path_factory
) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "points":
        return reranked["fold"].run.path
    if request.param == "intervals":
        return train(interval_graph(folder / "lands.tsv"), reranked_config, folder / "run").path
    if request.param in ("past", "fading", "recent"):
        past = {"evidence.past_only": True, "model.name": "rules"}
        past |= {"evidence.families": [*RATED], "reranker.cut": "time"} if request.param != "past" else {}
        past |= {"model.name": "recent"} if request.param == "recent" else {}
        return train(small_graph, override(reranked_config, past), folder / "run").path
    if request.param == "evidence":
        alone = {"reranker.use": False, "model.name": "tntcomplex"}
        return train(small_graph, override(reranked_config, alone), folder / "run").path
    return small_run


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Run:
    return Run(copied(trained, tmp_path / "run"))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_run_that_was_updated_is_one_that_had_all_events_from_the_start(run: Run, seed: int):
    draw, held = np.random.default_rng(seed), []
    opened = Run(run.path)
    _ = opened.predictor  # one that answers while the updates come, and one that opens after them
    for step in range(5):
        if step == 3:
            assert opened.undo_update() is not None
            held.pop()
            continue
        rows = drawn_rows(run, draw, 12)
        report = opened.update(rows)
        assert report.new + report.already_there == 12
        kept = [row for row in dict.fromkeys(rows) if row not in {old for part in held for old in part}]
        there = set(run.graph.rows("train"))
        held.append([row for row in kept if row not in there])
        assert report.new == len(held[-1])
    wanted = built_anew(run, held)
    assert_same(opened.predictor, wanted, seed)
    assert_same(Run(run.path).predictor, wanted, seed + 1, explained=1)
    assert len(opened.updates) == 3


def test_the_same_events_twice_change_nothing_and_undo_takes_the_last_update_back(run: Run):
    first, second = (drawn_rows(run, np.random.default_rng(seed), 8) for seed in (5, 6))
    before = run.predictor
    run.update(first)
    after = run.predictor
    files = sorted(path.name for path in (run.path / "updates").iterdir())
    again = run.update(first)
    assert (again.number, again.new, again.already_there) == (None, 0, 8)
    assert sorted(path.name for path in (run.path / "updates").iterdir()) == files
    assert run.predictor is after
    run.update(second)
    assert_same(run.predictor, built_anew(run, [first, second]), 7, explained=1)
    assert run.undo_update().number == 2
    assert_same(run.predictor, built_anew(run, [first]), 8, explained=1)
    assert run.undo_update().number == 1
    assert run.undo_update() is None
    assert run.predictor is before
    assert run.update(first).number == 3, "numbers are never used twice"


def test_bad_rows_are_reported_as_in_training_and_nothing_is_changed(run: Run, tmp_path: Path):
    file = tmp_path / "new.csv"
    name = run.graph.entities.name(0)
    file.write_text(f"subject,predicate,object,time\n{name},visits,x,2031-02-30\n{name},,x,1900-01-01\n")
    with pytest.raises(DataError) as error:
        run.update(file)
    assert "new.csv:2: the time '2031-02-30' is not a time" in str(error.value)
    assert "new.csv:3: the predicate is empty" in str(error.value)
    with pytest.raises(DataError, match=r"new events: row 1: .* is before the timeline"):
        run.update(
            [(name, "visits", "x", "1700")] if run.graph.timeline.unit == "year" else [(name, "p", "x", "1700-01-01")]
        )
    assert not (run.path / "updates").exists()
    assert run.updates == []


def test_what_has_no_embedding_is_said_and_scores_neither_high_nor_low(run: Run):
    new, old = NEW_NAMES[0], run.graph.entities.name(0)
    time, predicate = run.graph.timeline.label(len(run.graph.timeline) - 1), run.graph.predicates.name(0)
    run.update([(old, predicate, new, time) + ((time,) if run.graph.has_intervals else ())])
    answers = run.predict(subject=old, predicate=predicate, time=time, top=100)
    found = next(answer for answer in answers if answer.name == new)
    assert found.already_known == "update"
    assert found.probability is None
    hidden = run.predict(subject=old, predicate=predicate, time=time, top=100, already_known="hide")
    assert new not in {answer.name for answer in hidden}
    if run.config.model.name == "rules":
        assert answers.note is None
        return
    assert f"no embedding for {new}" in answers.note
    assert f"no embedding for {new}" in run.explain(subject=new, predicate=predicate, object=old, time=time).note
    others = [answer for answer in answers if answer.name != new]
    for term in set(found.terms) - {"evidence", "reranker"}:
        assert np.isclose(found.terms[term], np.mean([answer.terms[term] for answer in others]), atol=1e-4)
    asked = run.predict(subject=new, predicate=predicate, time=time, top=100)
    for term in set(asked[0].terms) - {"evidence", "reranker"}:
        assert {answer.terms[term] for answer in asked} == {0.0}


def renumbered(graph: Graph, seed: int) -> Graph:
    """The same graph with other ids."""
    draw = np.random.default_rng(seed)
    who, what = draw.permutation(len(graph.entities)), draw.permutation(len(graph.predicates))

    def moved(facts: Facts) -> Facts:
        places = np.argsort(who), np.argsort(what)
        return Facts(
            places[0][facts.subject], places[1][facts.predicate], places[0][facts.object], facts.start, facts.end
        )

    return Graph(
        graph.name,
        Vocabulary("entity", [graph.entities.name(i) for i in who]),
        Vocabulary("predicate", [graph.predicates.name(i) for i in what]),
        graph.timeline,
        *(moved(graph.facts(split)) for split in ("train", "valid", "test")),
    )


def test_under_other_ids_a_scorer_scores_the_same(run: Run):
    trained = Predictor.open(run.path)
    graph = renumbered(trained.graph, 3)
    facts = concatenate([graph.facts(split) for split in run.config.evidence.splits])
    scorer = EvidenceFilter(carry_scorer(trained.scorer, graph, share_entities=True), graph, facts).scorer()
    columns = [graph.entities.id(name) for name in trained.graph.entities.names]
    rows = trained.graph.test.take(slice(20)), graph.test.take(slice(20))
    with torch.inference_mode():
        asked = [one.with_inverses(len(graph.predicates)) for one in rows]
        found = [trained.scorer.score(asked[0]), scorer.score(asked[1])[:, columns]]
        close = torch.isclose(*found, atol=1e-3).float().mean()
        assert close > 0.98, "but for ties on the way"
        if trained.scorer.slots is not None:
            places = [graph.predicates.id(name) for name in trained.graph.predicates.names]
            ours, theirs = trained.scorer.score_slot("predicate", rows[0]), scorer.score_slot("predicate", rows[1])
            assert torch.isclose(ours, theirs[:, places], atol=1e-3).float().mean() > 0.95
            assert torch.isclose(
                trained.scorer.score_slot("time", rows[0]), scorer.score_slot("time", rows[1]), atol=1e-3
            ).float().mean() > 0.95  # fmt: skip
            for side in (True, False):
                chances = [
                    one.slots.predicate_chances(some, side)
                    for one, some in ((trained.scorer, rows[0]), (scorer, rows[1]))
                ]
                assert np.allclose(chances[0], chances[1][:, places], atol=1e-5)


def test_as_of_a_day_only_what_was_before_it_is_evidence(run: Run):
    if run.config.evidence.use is False:
        with pytest.raises(QuestionError, match="looks up no events"):
            run.as_of("2020-05-05")
        return
    rows = drawn_rows(run, np.random.default_rng(4), 10)
    run.update(rows)
    graph = run.predictor.graph
    step = len(run.graph.timeline) // 2
    view = run.as_of(graph.timeline.label(step))
    left = view.graph
    for split in left.splits:
        assert np.maximum(left.facts(split).start, left.facts(split).end).max(initial=-1) < step
        begun = np.minimum(*graph.facts(split).known_ends()) < step
        assert len(left.facts(split)) == begun.sum()
    facts = concatenate([left.facts(split) for split in (*run.config.evidence.splits, "update")])
    trained = Predictor.open(run.path)
    scorer = EvidenceFilter(carry_scorer(trained.scorer, left, share_entities=True), left, facts).scorer()
    wanted = trained.on(scorer, left)
    wanted.missing, wanted.absent = run.predictor.missing, view.predictor.absent
    assert_same(view.predictor, wanted, 9, explained=1)
    assert view.note.startswith("as of ")


def test_a_name_that_came_later_is_no_answer_as_of_a_day(run: Run):
    if run.config.evidence.use is False:
        return
    label, steps = run.graph.timeline.label, len(run.graph.timeline)
    subject, predicate, _, *times = next(iter(run.graph.rows("train")))
    run.update([(subject, predicate, "Atlantis", *[label(steps - 2)] * len(times))])
    asked = {"subject": subject, "predicate": predicate, "time": label(steps - 1)}
    early, late = (run.as_of(label(step)) for step in (steps // 2, steps - 1))
    named = [{answer.name for answer in view.predict(**asked, top=1000)} for view in (early, late)]
    assert [("Atlantis" in names) for names in named] == [False, True]
    left = early.graph
    seen = {name for split in left.splits for one, _, other, *_ in left.rows(split) for name in (one, other)}
    assert named[0] == seen, "every name that had an event before the day is an answer, and no other"
    with pytest.raises(QuestionError, match="not among the answers"):
        early.explain(**asked, object="Atlantis")
