"""A warm start: a run on a graph that has grown begins with the weights of an earlier one, name by name."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import foretime as ft
from foretime.config import Config, override
from foretime.data.graph import Graph, read_graph
from foretime.errors import ConfigError, Interrupted, RunError
from foretime.evidence.families import FEATURES, RULED
from foretime.evidence.module import evidence_of
from foretime.models import MODELS
from foretime.models.matching import row_axes
from foretime.runs.folder import RunFolder
from foretime.runs.life import create_run, resume, train
from foretime.runs.loading import load_model
from foretime.runs.warm_start import WarmStart
from foretime.training.checkpoint import read_progress
from interruptions import StopAfter, bytes_of

NEW = [
    ("Atlantis", "joins", "state 3", "2020-11-02"),
    ("state 3", "joins", "Atlantis", "2020-11-03"),
    ("state 1", "praises", "state 2", "2020-11-04"),
    ("state 4", "praises", "Atlantis", "2020-11-05"),
]
BY_TIME = {"valid_share": 0.1, "test_share": 0.1, "by": "time"}


def graph_of(rows: list[tuple[str, ...]], folder: Path) -> Graph:
    file = folder / "events.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return read_graph(file).split(**BY_TIME)


@pytest.fixture(scope="module")
def config(small_config: Config) -> Config:
    settings = {"model.rank": 4, "training.epochs": 2, "evidence.use": True, "evidence.past_only": True}
    return override(small_config, settings)


@pytest.fixture(scope="module")
def rows(small_graph: Graph) -> list[tuple[str, ...]]:
    return list(small_graph.rows("train"))[:400]


@pytest.fixture(scope="module")
def before(rows: list[tuple[str, ...]], config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("before")
    return train(graph_of(rows, folder), config, folder / "run").path


@pytest.fixture(scope="module")
def grown(rows: list[tuple[str, ...]], tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """The same events in another order, and new ones of new names before the borders of the splits."""
    rows = rows + [(s, p, o, "2020-05-06") for s, p, o, _ in NEW]
    return graph_of([rows[i] for i in np.random.default_rng(3).permutation(len(rows))], tmp_path_factory.mktemp("new"))


def weights(file: Path) -> dict[str, torch.Tensor]:
    import safetensors.torch

    return {n.removeprefix("model."): v for n, v in safetensors.torch.load_file(file).items() if n.startswith("model.")}


def weights_by_rule(run: RunFolder) -> dict[tuple[str, str], tuple[float, ...]]:
    """The weights of each pair rule, by the names of its head and its body."""
    graph = run.graph()
    evidence = evidence_of(load_model(run, run.config(), graph))
    names = [*graph.predicates.names, *(f"inverse {name}" for name in graph.predicates.names)]
    rules, first = evidence.index.rules, FEATURES * (1 + len(names))
    heads = np.repeat(np.arange(len(names)), np.diff(rules.pair))
    rows = evidence.weights.detach()[first : first + RULED * len(heads)].view(-1, RULED).tolist()
    pairs = zip(heads, rules.pair_body, rows, strict=True)
    return {(names[head], names[body]): tuple(row) for head, body, row in pairs}


def test_every_table_of_every_model_has_its_axis():
    found = {name: row_axes(Config().model.model_copy(update={"name": name})) for name in MODELS}
    assert found["rules"] == {}
    assert found["rotate"] == {"entities": "entities", "angles": "predicates"}
    assert found["tero"]["angles"] == found["hyte"]["normals"] == "times"
    assert "step" not in found["telm"]
    for name, axes in found.items():
        assert {"entities", "predicates"} <= set(axes.values()) or name == "rules"
    assert found["lcge"]["commonsense.predicates"] == found["lcge"]["event.timed_predicates"] == "predicates"


def test_before_the_first_step_all_old_names_have_their_old_weights(before: Path, config, grown: Graph, tmp_path: Path):
    start = WarmStart(before)
    run = create_run(grown, config, tmp_path / "run", warm_start=start)
    now, then, old = weights(run.last_file), weights(before / "best.safetensors"), start.graph
    assert (read_progress(run.last_file).epoch, read_progress(run.last_file).step) == (1, 0)
    assert {"Atlantis"} == set(grown.entities.names) - set(old.entities.names)
    for name in old.entities.names:
        ids = grown.entities.names.index(name), old.entities.names.index(name)
        for table in ("base.event.entities", "base.commonsense.entities"):
            assert torch.equal(now[table][ids[0]], then[table][ids[1]])
    for name in old.predicates.names:
        here, there = grown.predicates.names.index(name), old.predicates.names.index(name)
        for table in ("base.event.timed_predicates", "base.event.lasting_predicates", "base.commonsense.predicates"):
            assert torch.equal(now[table][here], then[table][there])
            inverses = here + len(grown.predicates), there + len(old.predicates)
            assert torch.equal(now[table][inverses[0]], then[table][inverses[1]])
    for step in range(len(old.timeline)):
        here = grown.timeline.step(old.timeline.label(step))
        assert torch.equal(now["base.event.times"][here], then["base.event.times"][step])
    assert torch.equal(now["base.event.guide.transfer"], then["base.event.guide.transfer"])


def test_every_rule_that_is_left_keeps_its_weights(before: Path, config, grown: Graph, tmp_path: Path):
    """Rules are matched by the names of head and body, so that every old rule that is left weighs what it did."""
    start = WarmStart(before)
    run = create_run(grown, config, tmp_path / "run", warm_start=start)
    now, then = (weights_by_rule(one) for one in (run, start.run))
    assert len(then) > 3
    assert then.items() <= now.items()
    assert any(value for row in then.values() for value in row)


def test_the_updates_of_a_run_are_trained_on_and_the_borders_move_on(before: Path, tmp_path: Path):
    run = Path(shutil.copytree(before, tmp_path / "run"))
    ft.open_run(run).update(NEW)
    trained = ft.train(warm_start=run, folder=tmp_path / "next", settings={"training.epochs": 1})
    graph, old = trained.graph, RunFolder(run).graph()
    assert set(graph.entities.names) == {*old.entities.names, "Atlantis"}
    assert len(graph.facts()) == len(old.facts()) + len(NEW)
    assert graph.train.start.max() >= old.train.start.max()
    assert graph.train.start.max() < graph.valid.start.min() <= graph.valid.start.max() < graph.test.start.min()
    assert trained.config.model.name == "lcge"
    assert trained.report["warm_start"]["path"] == str(run)
    assert len(trained.report["warm_start"]["fingerprint"]) == 64
    assert trained.predict(subject="Atlantis", predicate="joins", time="2020-11-07", top=1)


def test_given_borders_stay(before: Path, tmp_path: Path):
    run = Path(shutil.copytree(before, tmp_path / "run"))
    ft.open_run(run).update(NEW)
    borders = {"data.valid_from": "2020-10-10", "data.test_from": "2020-11-03", "training.epochs": 1}
    graph = ft.train(warm_start=run, folder=tmp_path / "next", settings=borders).graph
    assert (len(graph.test), graph.timeline.label(int(graph.test.start.min()))) == (3, "2020-11-03")


def test_updates_of_a_random_split_join_train(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = train(small_graph, override(small_config, {"training.epochs": 1}), tmp_path / "run").path
    ft.open_run(run).update(NEW)
    graph = WarmStart(run).grown_graph(Config().data)
    assert len(graph.train) == len(small_graph.train) + len(NEW)
    assert (len(graph.valid), len(graph.test)) == (len(small_graph.valid), len(small_graph.test))


@pytest.mark.parametrize("optimizer", ["adagrad", "adam"])
def test_it_resumes_bit_for_bit_and_without_the_earlier_run(before, config, grown, tmp_path: Path, optimizer: str):
    config = override(config, {"training.optimizer": optimizer})
    source = Path(shutil.copytree(before, tmp_path / "source"))
    whole = create_run(grown, config, tmp_path / "whole", warm_start=WarmStart(source)).path
    broken = create_run(grown, config, tmp_path / "broken", warm_start=WarmStart(source)).path
    shutil.rmtree(source)
    resume(whole)
    for steps in (0, 3, 4):
        with pytest.raises(Interrupted):
            resume(broken, StopAfter(steps))
    resume(broken)
    assert bytes_of(broken) == bytes_of(whole)
    cold = train(grown, config, tmp_path / "cold").path
    assert bytes_of(cold) != bytes_of(whole)


def test_a_start_whose_making_was_interrupted_leaves_nothing_behind(before, config, grown, tmp_path: Path):
    run = create_run(grown, config, tmp_path / "run", warm_start=WarmStart(before))
    run.config_file.unlink()
    again = create_run(grown, config, run.path)
    assert not again.last_file.exists()
    assert again.warm_start() is None


@pytest.mark.parametrize("content", ['{"max_gap": 3, "questions": 9}', '{"path": 1}', "[]"])
def test_a_file_of_another_kind_does_not_stand_for_a_start(before, config, grown, tmp_path: Path, content: str):
    run = create_run(grown, config, tmp_path / "run", warm_start=WarmStart(before))
    assert run.warm_start()["path"] == str(before)
    run.warm_start_file.write_text(content)
    with pytest.raises(RunError, match=r"warm_start\.json: damaged .*; restore the file or remove it"):
        run.warm_start()


def test_a_fold_begins_anew_where_the_earlier_model_has_seen_it(small_graph, small_config: Config, tmp_path: Path):
    folds = {"reranker.use": True, "reranker.fit": "refit", "reranker.folds": 3, "reranker.trees": 3}
    config = override(small_config, {"model.rank": 4, "training.epochs": 1, "training.ensemble_size": 2, **folds})
    run = train(small_graph, config, tmp_path / "run").path
    again = create_run(small_graph, config, tmp_path / "same", warm_start=WarmStart(run))
    assert again.fold(0).last_file.exists()  # the same fold, which that model has not seen
    other = override(config, {"training.seed": 5})
    anew = create_run(small_graph, other, tmp_path / "other", warm_start=WarmStart(run))
    assert anew.member(1).last_file.exists()
    assert not anew.fold(0).last_file.exists()
    with pytest.raises(ConfigError, match=r"fitted on a fold of train .* reranker\.fit=refit"):
        create_run(small_graph, override(other, {"reranker.fit": "fold"}), tmp_path / "x", warm_start=WarmStart(run))


def test_what_cannot_be_started_from_is_refused(before: Path, grown: Graph, tmp_path: Path):
    out = tmp_path / "out"
    for changes, words in (
        ({"model": "complex"}, "is a run of lcge, not of complex"),
        ({"settings": {"model.rank": 5}}, "has rank 4, not 5"),
        ({"settings": {"model.commonsense_rank": 3}}, r"the options of \[model\]"),
        ({"preset": "quick"}, "leave out preset and config"),
    ):
        with pytest.raises(ConfigError, match=words):
            ft.train(grown, warm_start=before, folder=out, **changes)
        assert not (out / "config.toml").exists()
    with pytest.raises(RunError, match="no such run folder"):
        ft.train(grown, warm_start=tmp_path / "none", folder=out)
    with pytest.raises(ConfigError, match="is read already; name a graph"):
        ft.train(warm_start=before, folder=out, settings={"data.granularity": "week"})
    with pytest.raises(ConfigError, match="facts of valid and test were training facts of"):
        ft.train(grown.split(seed=1), warm_start=before, folder=out)
