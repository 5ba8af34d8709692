"""A model that is the mean of several, each trained alone with a seed of its own."""

import shutil
from pathlib import Path

import pytest
import torch

from foretime.config import LARGEST_SEED, Config, override
from foretime.data.graph import Graph, read_graph
from foretime.errors import ConfigError, Interrupted, RunError
from foretime.evaluation import model_scorer, questions_of
from foretime.evidence.module import WithEvidence, evidence_of
from foretime.inference.answers import Question
from foretime.inference.predictor import Predictor
from foretime.models import Ensemble, Model
from foretime.runs.finish import training_seconds
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import Job, jobs_left, member_config
from foretime.runs.life import create_run, resume, train
from foretime.runs.loading import load_model
from foretime.training.checkpoint import read_progress
from foretime.training.trainer import load_weights, new_model
from interruptions import StopAfter, bytes_of

WITH_EVIDENCE = {"evidence.use": True, "rules.support": 2}
RERANKER = {
    "reranker.use": True, "reranker.fit": "refit", "reranker.folds": 3, "reranker.top": 5, "reranker.trees": 8,
    "reranker.leaves": 5, "reranker.leaf_candidates": 4,
}  # fmt: skip


def three_of(small_config: Config, **changes: object) -> Config:
    return override(small_config, {"model.rank": 4, "training.epochs": 2, "training.ensemble_size": 3, **changes})


def members_alone(run: RunFolder, graph: Graph) -> list[Model]:
    """The members as models of their own, the first one with its evidence."""
    config, rules = run.config(), run.rules(graph)
    first = load_weights(run, new_model(config, graph, rules))
    others = [
        load_weights(run.member(number), new_model(member_config(config, number), graph, rules)) for number in (1, 2)
    ]
    return [first, *others]


def scores_on_test(model: Model, graph: Graph) -> torch.Tensor:
    with torch.inference_mode():
        return model_scorer(model)(questions_of(graph.test, len(graph.predicates), "exact"))


@pytest.mark.parametrize("name", ["lcge", "complex", "transe"])
def test_the_score_is_the_mean_of_those_of_the_members(small_graph: Graph, small_config: Config, tmp_path, name):
    config = three_of(Config(training=small_config.training), **{"model.name": name, "training.seed": 4})
    run = train(small_graph, config, tmp_path / "run")
    whole, members = load_model(run, run.config(), small_graph), members_alone(run, small_graph)
    assert isinstance(whole, Ensemble)
    assert whole.uses_time == members[0].uses_time
    expected = torch.stack([scores_on_test(member, small_graph) for member in members])
    torch.testing.assert_close(scores_on_test(whole, small_graph), expected.mean(0))
    assert not torch.allclose(expected[0], expected[1])
    assert not torch.allclose(expected[1], expected[2])
    assert run.report()["ensemble_size"] == 3
    assert run.report()["parameters"] == 3 * sum(weights.numel() for weights in members[1].parameters())
    assert training_seconds(run) > max(run.trace()[-1]["seconds"], run.member(2).trace()[-1]["seconds"])


def test_evidence_is_learned_once_and_counts_in_full(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = train(small_graph, three_of(small_config, **WITH_EVIDENCE), tmp_path / "run")
    whole, (first, *others) = load_model(run, run.config(), small_graph), members_alone(run, small_graph)
    assert isinstance(whole, WithEvidence)
    assert isinstance(first, WithEvidence)
    assert all(evidence_of(member) is None for member in others)
    bases = torch.stack([scores_on_test(member, small_graph) for member in (first.base, *others)])
    evidence = scores_on_test(first, small_graph) - bases[0]
    assert evidence.abs().max() > 0.1
    torch.testing.assert_close(scores_on_test(whole, small_graph), bases.mean(0) + evidence, atol=1e-4, rtol=1e-4)


def test_stopping_anywhere_changes_no_member_and_no_re_ranker(small_graph: Graph, small_config: Config, tmp_path: Path):
    config = three_of(small_config, **WITH_EVIDENCE, **RERANKER)
    whole = train(small_graph, config, tmp_path / "whole")
    broken, stops = create_run(small_graph, config, tmp_path / "broken"), 0
    while True:
        try:
            resume(broken.path, StopAfter(7))
            break
        except Interrupted:
            stops += 1
    assert stops >= 6
    for member in ("", "member-1", "member-2", "fold-0", "fold-0/member-1", "fold-0/member-2"):
        assert bytes_of(broken.path / member) == bytes_of(whole.path / member)
    assert whole.reranker_file.read_bytes() == broken.reranker_file.read_bytes()
    assert whole.report()["test"] == broken.report()["test"]


def test_an_explanation_of_a_mean_adds_up(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = train(small_graph, three_of(small_config, **WITH_EVIDENCE), tmp_path / "run")
    explainer, fact = Predictor.open(run).explainer, small_graph.test
    question = Question(
        subject=small_graph.entities.name(fact.subject[0]),
        predicate=small_graph.predicates.name(fact.predicate[0]),
        time=small_graph.timeline.label(fact.start[0]),
    )
    for answer in explainer.predictor.predict_many([question], top=5)[0]:
        found = explainer.explain_answer(question, answer, top=3)
        assert set(found.terms) == {"event", "commonsense", "evidence"}
        assert found.score == pytest.approx(answer.score, abs=1e-4)
        assert sum(found.terms.values()) == pytest.approx(found.score, abs=1e-9)


def test_a_run_without_one_of_its_members_is_not_asked(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = train(small_graph, three_of(small_config), tmp_path / "run")
    before = run.report()["test"]
    shutil.rmtree(run.member(2).path)
    with pytest.raises(RunError, match=r"run: member-2, one of its 3 members, is empty; put it back, or remove re"):
        load_model(run, run.config(), small_graph)
    assert not run.member(2).path.exists()
    run.report_file.unlink()
    with pytest.raises(RunError, match=r"run: member-2, one of its 3 members, is empty; resume with .*--resume .*run$"):
        load_model(run, run.config(), small_graph)
    assert resume(run.path).report()["test"] == before


def test_an_ensemble_is_trained_when_all_its_members_are(small_graph: Graph, small_config: Config, tmp_path: Path):
    run = create_run(small_graph, three_of(small_config, **RERANKER), tmp_path / "run")
    trained: list[int] = []
    while 6 not in trained:
        assert jobs_left(run, run.config())
        try:
            resume(run.path, StopAfter(30))
        except Interrupted:
            assert not run.reranker_file.exists()
        files = run.path.rglob("last.safetensors")
        trained.append(sum(read_progress(file).finished for file in files))
    assert jobs_left(run, run.config()) == []
    assert len(trained) > 2
    shutil.rmtree(run.fold(0).member(1).path)
    assert jobs_left(run, run.config()) == []  # its re-ranker is fitted already
    run.reranker_file.unlink()
    assert jobs_left(run, run.config()) == [Job(0, 1)]


def test_boundary_relations_are_separate_in_an_ensemble(tmp_path: Path, small_config: Config):
    rows = [f"club {k % 5}\thas\tplayer {k % 7}\t{1990 + k % 9}\t{1992 + k % 9}" for k in range(60)]
    (tmp_path / "spans.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    graph = read_graph(tmp_path / "spans.tsv")
    run = train(graph, three_of(small_config, **{"training.boundary_relations": "separate"}), tmp_path / "run")
    whole, members = load_model(run, run.config(), graph), members_alone(run, graph)
    assert whole.end_offset == 2 * len(graph.predicates)
    expected = torch.stack([scores_on_test(member, graph) for member in members]).mean(0)
    torch.testing.assert_close(scores_on_test(whole, graph), expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.name": "rules"}, "training.ensemble_size: rules has no embeddings"),
        ({"evidence.use": True, "training.softmax": "joint"}, 'only under training.softmax = "each"'),
    ],
)
def test_members_that_cannot_be_are_refused_before_anything_is_written(
    small_graph: Graph, small_config: Config, tmp_path: Path, changes, message
):
    base = Config(training=small_config.training) if "model.name" in changes else small_config
    with pytest.raises(ConfigError, match=message):
        create_run(small_graph, override(base, {"training.ensemble_size": 2, **changes}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_largest_seed_is_one_of_every_generator(small_graph: Graph, small_config: Config, tmp_path: Path):
    settings = {
        "training.seed": LARGEST_SEED,
        "training.ensemble_size": 2,
        "training.epochs": 1,
        "training.valid_limit": 5,
    }
    second = {"reranker.use": True, "reranker.trees": 2, "reranker.leaf_candidates": 4}
    run = train(small_graph, override(small_config, {**settings, **second}), tmp_path / "run")
    assert run.report()["test"]["all"]["questions"] > 0
