"""The agenda: which events the coming steps bring, from the past alone, with probabilities that can be believed."""

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from altered_runs import sealed
from foretime.config import Config, DataConfig, override
from foretime.data.facts import Facts, concatenate
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.errors import QuestionError
from foretime.evidence.rates import TAU
from foretime.inference.agenda.counts import FadingCounts
from foretime.inference.agenda.history import COLUMNS, STEP_COLUMNS, EventHistory
from foretime.inference.agenda.maker import FILE
from foretime.inference.agenda.model import AgendaModel, window_odds
from foretime.inference.agenda.outlook import Limits
from foretime.inference.run import Run
from foretime.runs.life import train

SETTINGS = {
    "model.name": "rules", "evidence.use": True, "evidence.past_only": True, "rules.support": 2,
    "evidence.splits": ["train", "valid", "test"], "training.epochs": 1, "training.batch_size": 200,
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = generate_world(1500).write(tmp_path_factory.mktemp("agenda") / "world")
    return read_graph(folder, DataConfig(split="time"))


@pytest.fixture(scope="module")
def run(world: Graph, small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(train(world, override(small_config, SETTINGS), tmp_path_factory.mktemp("agenda") / "run").path)


def test_a_fading_count_is_the_sum_over_the_events_before_the_step():
    generator = np.random.default_rng(0)
    keys, times = generator.integers(5, size=60), generator.integers(30, size=60)
    counts = FadingCounts(keys, times)
    for start in (0, 1, 7, 30, 44):
        found = counts.at(np.arange(7), start)
        for key in range(7):
            seen = times[(keys == key) & (times < start)]
            assert found.events[key] == len(seen)
            assert found.last[key] == max(seen, default=-1)
            sums = [np.exp((seen + 1 - start) / tau).sum() for tau in TAU]
            assert found.rates[:, key] == pytest.approx(sums, rel=1e-4)
        assert set(counts.before(start)) == set(keys[times < start])


def test_a_window_is_at_least_one_of_its_steps():
    odds = window_odds(np.array([[0.5, 0.5], [0.1, 0.0]]))
    assert 1 / (1 + np.exp(-odds)) == pytest.approx([0.75, 0.1])


def test_a_forecast_begins_after_the_last_event_and_its_events_are_in_order(run: Run, world: Graph):
    found = run.forecast(top=15)
    last = int(world.facts().start.max())
    assert (found.known_until, found.start) == (world.timeline.label(last), world.timeline.label(last + 1))
    assert found.end == world.timeline.label(last + 7)
    probabilities = [event.probability for event in found]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len(probabilities) == 15
    assert all(
        0 < one < 1 and found.start <= event.time <= found.end for one, event in zip(probabilities, found, strict=True)
    )
    assert list(found.to_frame().columns)[:4] == ["rank", "subject", "predicate", "object"]
    assert found.to_dict()["events"][0] == found[0].to_dict()


def test_more_steps_make_an_event_more_likely(run: Run):
    one, seven = (run.forecast(steps=steps, top=1)[0].probability for steps in (1, 7))
    assert one < seven


def test_slots_limit_the_events_alone_and_together(run: Run):
    best = run.forecast(top=1)[0]
    slots = {"subject": best.subject, "predicate": best.predicate, "object": best.object}
    for given in ({"subject"}, {"predicate"}, {"object"}, {"subject", "object"}, {"subject", "predicate"}):
        wanted = {slot: slots[slot] for slot in given}
        found = run.forecast(**wanted, top=5)
        assert found
        assert all(getattr(event, slot) == name for event in found for slot, name in wanted.items())
    assert [str(event) for event in run.forecast(**slots)] == [str(best)]


def test_an_event_is_explained_by_what_came_before_the_start(run: Run, world: Graph):
    day = world.timeline.label(int(world.valid.start.max()))
    for start in (None, day):
        found = run.forecast(start=start, top=1)
        why = found[0].explain()
        assert (why.answer, why.question["time"]) == (found[0].object, found[0].time)
        days = [event.time for reason in why.reasons for event in reason.events]
        assert days
        assert max(days) <= found.known_until < found.start


def test_what_happens_at_and_after_the_start_changes_nothing(run: Run, world: Graph, tmp_path: Path):
    """All that is not before the start is replaced, in a copy of the run."""
    start = int(world.test.start.min()) + 2
    generator, facts = np.random.default_rng(1), world.test
    later = facts.start >= start
    rows = [generator.permutation(column[later]) for column in (facts.subject, facts.predicate, facts.object)]
    times = generator.permutation(facts.start[later])
    other = concatenate([facts.take(~later), Facts(*rows, times, times)])
    changed = copy_of(run, replace(world, test=other), tmp_path / "changed")
    asked = {"start": world.timeline.label(start), "top": 50}
    assert run.forecast(**asked) == changed.forecast(**asked)
    assert run.forecast(**asked, subject=world.entities.name(0)) == changed.forecast(
        **asked, subject=world.entities.name(0)
    )
    leaking = {**asked, "start": world.timeline.label(start + 3)}
    assert run.forecast(**leaking) != changed.forecast(**leaking)  # the replaced events are seen once they are over


def copy_of(run: Run, graph: Graph, folder: Path) -> Run:
    copytree(run.path, folder)
    (folder / FILE).unlink(missing_ok=True)
    graph.save(folder)
    return Run(sealed(folder))


def test_the_model_is_kept_as_named_weights_and_fitted_anew_if_the_file_is_damaged(run: Run):
    first, file = run.forecast(), run.path / FILE
    content = file.read_text(encoding="utf-8")
    assert all(f'"{name}"' in content for name in (*COLUMNS, *STEP_COLUMNS))
    assert Run(run.path).forecast() == first
    file.write_text("{}", encoding="utf-8")
    assert Run(run.path).forecast() == first
    assert file.read_text(encoding="utf-8") == content


def test_the_probabilities_say_how_many_events_of_test_come(run: Run, world: Graph):
    maker = run._forecasts
    said, came = 0.0, 0
    for start in range(int(world.test.start.min()), int(world.test.start.max()) - 6, 7):
        found = maker.outlook(start, 7, Limits())
        said += found.probability.sum()
        came += np.isin(maker.history.key("spo", found.triples), maker.history.between(start, start + 7)).sum()
    assert 0.6 < said / came < 1.6


def test_an_update_moves_the_start(run: Run, tmp_path: Path):
    copy = copy_of(run, run.graph, tmp_path / "copy")
    best = copy.forecast(top=1)
    copy.update([(best[0].subject, best[0].predicate, best[0].object, best.end)])
    assert copy.forecast(top=1).known_until == best.end
    assert copy.forecast(start=best.start, top=1) == best


def test_what_cannot_be_forecast_says_why(run: Run, evidence_run: Path):
    with pytest.raises(QuestionError, match="foretime train GRAPH --forecast"):
        Run(evidence_run).forecast()
    with pytest.raises(QuestionError, match="ask for 1 to 366 steps"):
        run.forecast(steps=0)
    with pytest.raises(QuestionError, match="nothing has happened before"):
        run.forecast(start=run.graph.timeline.label(0))
    with pytest.raises(QuestionError, match="nobody"):
        run.forecast(subject="nobody")


def test_a_model_of_another_format_is_refused():
    with pytest.raises(ValueError, match="format 0 is not 3"):
        AgendaModel.from_dict({"format": 0})


def test_history_has_its_columns(world: Graph):
    history = EventHistory(world, world.train)
    known = history.happened(100)
    assert history.features(known, 100).shape == (len(known.subject), len(COLUMNS))
    assert history.step_features(known, 100, 103).shape == (len(known.subject), len(STEP_COLUMNS))


def test_the_agenda_is_fitted_by_a_reranker_that_has_not_learned_from_valid(
    world: Graph, small_config: Config, tmp_path: Path
):
    trees = {"reranker.use": True, "reranker.fit": "refit", "reranker.cut": "time", "reranker.folds": 4}
    trees |= {"reranker.with_valid": True, "reranker.trees": 5, "reranker.top": 8, "reranker.slots": False}
    later = Run(train(world, override(small_config, SETTINGS | trees), tmp_path / "later").path)
    copytree(later.path, tmp_path / "earlier")
    (tmp_path / "earlier" / "reranker_without_valid.safetensors").replace(tmp_path / "earlier" / "reranker.safetensors")
    earlier = Run(sealed(tmp_path / "earlier"))
    weights = [run._forecasts.model for run in (later, earlier)]
    assert weights[0].to_dict() == weights[1].to_dict(), "what has seen valid is not asked about valid"
    answers = [
        run.predict(**dict(zip(("subject", "predicate", "time"), _asked(world), strict=True)))
        for run in (later, earlier)
    ]
    assert [one.score for one in answers[0]] != [one.score for one in answers[1]], "what answers has learned from valid"


def _asked(world: Graph) -> tuple[str, str, str]:
    subject, predicate, _, time = next(iter(world.rows("test")))
    return subject, predicate, time
