"""What a run needs is estimated before it is trained, and compared with what a machine, here a made-up one, has."""

from pathlib import Path

import pytest
import torch

from foretime.config import Config, override
from foretime.data.graph import Graph, load
from foretime.errors import ConfigError
from foretime.models import MODELS, build_model
from foretime.runs import memory
from foretime.runs.life import create_run, resume
from foretime.runs.machine import available_memory
from foretime.training.settings import complete_config
from foretime.training.trainer import sizes_of

GIB = 1 << 30


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    file = tmp_path_factory.mktemp("data") / "events.tsv"
    rows = (f"e{n % 7}\tp{n % 2}\te{(n * 3 + 1) % 7}\t2020-01-{n % 28 + 1:02}\n" for n in range(200))
    file.write_text("".join(rows), encoding="utf-8")
    return load(file)


def configured(**settings: object) -> Config:
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return complete_config(override(Config(), {"model.name": "complex", **named}))


def bytes_for(config: Config, graph: Graph) -> list[int]:
    return [need.bytes for need in memory.training_needs(config, graph)]


@pytest.mark.parametrize("name", MODELS)
def test_the_weights_are_counted_without_being_made(graph: Graph, name: str):
    config = configured(model__name=name)
    made = build_model(config.model, sizes_of(graph), torch.Generator())
    copies = 3  # with their gradients, and what Adagrad keeps
    assert bytes_for(config, graph)[0] == 4 * copies * sum(len(weights.flatten()) for weights in made.parameters())


def test_the_scores_are_those_of_the_distinct_questions_of_a_step(graph: Graph):
    train = graph.train
    asked = {(s, p, t) for s, p, t in zip(train.subject, train.predicate, train.start, strict=True)}
    asked |= {(o, ~p, t) for o, p, t in zip(train.object, train.predicate, train.start, strict=True)}
    config = configured(model__name="tcomplex", training__batch_size=10_000)
    assert bytes_for(config, graph)[1] == len(asked) * 4 * len(graph.entities)
    fewer = configured(
        model__name="tcomplex", training__batch_size=len(train)
    )  # two steps: every fact is two questions
    assert bytes_for(fewer, graph)[1] == len(asked) // 2 * 4 * len(graph.entities)


def test_evidence_alone_holds_no_scores_of_all_entities(graph: Graph):
    alone = {"model__name": "rules", "training__batch_size": 100}
    assert bytes_for(configured(**alone), graph)[1] == 0
    assert bytes_for(configured(**alone, training__softmax="joint"), graph)[1] > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model.rank": 10_000}, r"training needs at least .* MiB of memory \(.* for the weights.*lower model\.rank"),
        (
            {"training.loss": "negatives", "training.negatives": 100_000},
            r"for the wrong answers of a step\), and there are 1 MiB; lower training\.negatives",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_the_setting_to_lower(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict, message: str
):
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 20)
    config = override(Config(), {"model.name": "complex", "training.threads": 1, **settings})
    with pytest.raises(ConfigError, match=message):
        create_run(graph, config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_is_refused_when_it_is_resumed_where_there_is_less(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    create_run(graph, override(Config(), {"model.name": "complex", "training.epochs": 1}), tmp_path / "run")
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(ConfigError, match="training needs at least"):
        resume(tmp_path / "run")


def test_where_the_system_says_nothing_everything_is_tried(graph: Graph, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    memory.check_memory(configured(model__rank=10_000), graph)


def test_the_features_of_the_reranker_are_counted(graph: Graph, monkeypatch: pytest.MonkeyPatch):
    config = configured(reranker__use=True, reranker__folds=2, evidence__use=True)
    (need,) = memory.reranker_needs(config, graph)
    assert 0 < need.bytes <= len(graph.train) * len(graph.entities) * 200
    monkeypatch.setattr(memory, "available_memory", lambda: need.bytes - 1)
    monkeypatch.setattr(memory, "training_needs", lambda *_: [])
    with pytest.raises(ConfigError, match=r"the re-ranker needs at least .*; lower reranker\.top"):
        memory.check_memory(config, graph)


def machine(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


FREE = {"proc/meminfo": f"MemTotal: {64 << 20} kB\nMemAvailable: {8 << 20} kB\nSwapFree: {1 << 20} kB\n"}
SECOND = {
    "proc/self/cgroup": "0::/a/b\n",
    "sys/fs/cgroup/a/b/memory.max": "max\n",
    "sys/fs/cgroup/a/memory.max": f"{4 * GIB}\n",
    "sys/fs/cgroup/a/memory.current": f"{3 * GIB}\n",
    "sys/fs/cgroup/a/memory.stat": f"anon 5\ninactive_file {GIB}\n",
}
FIRST = {
    "proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{3 * GIB}\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
}


@pytest.mark.parametrize(
    ("files", "gib"),
    [(FREE, 9), (FREE | SECOND, 2), (FREE | FIRST, 2), (FREE | {"proc/self/cgroup": "0::/\n"}, 9)],
    ids=["the machine", "a group of the second version", "one of the first", "a group without a limit"],
)
def test_the_memory_is_the_least_that_machine_and_groups_leave(tmp_path: Path, files: dict[str, str], gib: int):
    assert available_memory(machine(tmp_path, files)) == gib * GIB
