"""Presets: the measured settings on a graph of the usual size, others on small and large ones; explicit ones win."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from foretime.config import Config, read_config
from foretime.data.facts import Facts
from foretime.data.graph import Graph, read_graph
from foretime.data.vocabulary import Vocabulary
from foretime.errors import ConfigError
from foretime.models import MODELS
from foretime.runs.fingerprint import config_hash, trained_settings
from foretime.runs.life import train
from foretime.runs.presets import PRESETS, preset_config
from foretime.training.settings import complete_config

CONFIGS = Path(__file__).parents[2] / "configs"
FOR_COMPLETION = [name for name in PRESETS if name != "forecast"]


def sized(graph: Graph, facts: int, entities: int, valid: int) -> Graph:
    """The graph with so many facts, all the same one, and so many entities."""

    def some(count: int) -> Facts:
        return Facts(*(np.zeros(count, dtype=np.int64) for _ in range(5)))

    names = Vocabulary("entity", [f"e{number}" for number in range(entities)])
    return replace(graph, entities=names, train=some(facts), valid=some(valid), test=some(valid))


MEASURED = {
    "icews14": ("rules", "lcge-evidence", "lcge-evidence-oof-mean"),
    "icews05-15": ("rules", "lcge-evidence", "lcge-evidence-mean"),
    "wikidata12k": ("rules", "lcge-evidence", "lcge-evidence-oof"),
}
"""The configurations of quick, balanced and best that were chosen by valid."""


def check_measured(data: str, graph: Graph) -> None:
    """Each preset trains on the graph what the committed configuration of the data trains."""
    rules = 100.0 if data == "icews14" else 0.0  # as mining would find; it takes long
    for name, measured in zip(FOR_COMPLETION, MEASURED[data], strict=True):
        given = {"data.path": data} | ({} if name == "quick" else {"penalties.event_rules": rules})
        found, wanted = preset_config(name, graph, given), read_config(CONFIGS / f"{data}-{measured}.toml")
        assert trained_settings(found) == trained_settings(wanted)
        assert config_hash(found) == config_hash(wanted)


@pytest.mark.parametrize(
    ("data", "facts", "entities", "valid", "intervals"),
    [
        ("icews14", 72_826, 7_128, 8_941, False),
        ("icews05-15", 368_962, 10_488, 46_275, False),
        ("wikidata12k", 32_497, 12_554, 4_062, True),
    ],
)
def test_graphs_of_measured_sizes_and_kinds_get_the_measured_settings(
    small_graph: Graph, data: str, facts: int, entities: int, valid: int, intervals: bool
):
    graph = sized(small_graph, facts, entities, valid)
    check_measured(data, replace(graph, train=replace(graph.train, end=graph.train.end + intervals)))


@pytest.mark.real
@pytest.mark.parametrize("data", MEASURED)
def test_the_benchmarks_get_the_measured_settings(real_data: Path, data: str):
    check_measured(data, read_graph(real_data / data))


def numbers(config: Config) -> dict[str, object]:
    training, reranker = config.training, config.reranker
    return {
        "batch": training.batch_size, "epochs": training.epochs, "every": training.valid_every,
        "candidates": training.candidates, "limit": training.valid_limit, "rank": config.model.options.get("rank"),
        "folds": reranker.folds, "fitted": reranker.fitted_folds, "evidence": config.evidence.epochs,
        "paths": "path" in config.evidence.families,
    }  # fmt: skip


def test_a_million_events_get_numbers_that_fit_into_time_and_memory(small_graph: Graph):
    large = sized(small_graph, 800_000, 6_486, 100_000)
    shared = {"batch": 1000, "candidates": 0, "limit": 3000, "folds": 44, "fitted": 0, "evidence": 1, "paths": False}
    wanted = {"quick": (1, 1, None), "balanced": (6, 3, 100), "best": (6, 3, 100)}
    for name, (epochs, every, rank) in wanted.items():
        found = preset_config(name, large)
        assert numbers(found) == {**shared, "epochs": epochs, "every": every, "rank": rank}
        assert found.penalties.get("event_rules", 0.0) == 0.0
        complete_config(found)
    many = preset_config("balanced", sized(small_graph, 800_000, 200_000, 100_000))
    assert (many.training.batch_size, many.training.candidates) == (1000, 4_000)
    assert preset_config("quick", sized(small_graph, 800_000, 200_000, 0)).training.candidates == 0


def test_rules_learn_from_a_bounded_number_of_questions(small_graph: Graph):
    for facts, epochs in ((70_000, 6), (368_962, 3), (1_200_000, 1)):
        training = preset_config("quick", sized(small_graph, facts, 10_000, 0)).training
        assert (training.epochs, training.epoch_limit) == (epochs, 0)
    for name, limit in {"quick": 2_400_000, "balanced": 0, "best": 0, "forecast": 0}.items():
        assert preset_config(name, sized(small_graph, 10_000_000, 10_000, 0)).training.epoch_limit == limit


@pytest.mark.parametrize(("facts", "valid"), [(400, 0), (400, 5), (3, 0), (1, 1)])
def test_little_or_no_valid_leaves_the_last_epoch_to_be_taken(small_graph: Graph, facts: int, valid: int):
    for name in PRESETS:
        config = preset_config(name, sized(small_graph, facts, 12, valid))
        assert config.training.valid_every == config.training.epochs
        assert config.reranker.use == (facts >= 20)
        assert config.reranker.folds <= max(2, facts)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("model", MODELS)
def test_every_preset_goes_with_every_model(small_graph: Graph, name: str, model: str):
    settings = {"model.name": model, "training.seed": 5}
    for graph in (small_graph, sized(small_graph, 800_000, 30_000, 100_000)):
        config = complete_config(preset_config(name, graph, settings))
        assert (config.model.name, config.training.seed) == (model, 5)


@pytest.mark.parametrize(
    "settings",
    [
        {"evidence.use": False},
        {"training.softmax": "joint"},
        {"training.loss": "margin", "model.rank": 7},
        {"penalties.event_n3": 0.5, "training.epochs": 3},
        {"reranker.fit": "valid", "reranker.folds": 3},
    ],
)
def test_explicit_settings_win(small_graph: Graph, settings: dict[str, object]):
    for name in ("balanced", "best"):
        values = complete_config(preset_config(name, small_graph, settings)).model_dump()
        for key, value in settings.items():
            section, option = key.split(".")
            assert values[section][option] == value


def test_no_more_than_five_folds_are_fitted_on(small_graph: Graph):
    large = sized(small_graph, 800_000, 6_486, 100_000)
    for folds, fitted in ((44, 5), (3, 0)):
        found = preset_config("best", large, {"reranker.fit": "out-of-fold", "reranker.folds": folds})
        assert (found.reranker.folds, found.reranker.fitted_folds) == (folds, fitted)


def test_an_unknown_preset_and_a_wrong_setting_are_refused(small_graph: Graph):
    with pytest.raises(
        ConfigError, match=r"unknown preset 'quik'; the presets are quick, balanced, best, forecast; did"
    ):
        preset_config("quik", small_graph)
    with pytest.raises(ConfigError, match=r"unknown key training\.epoch"):
        preset_config("quick", small_graph, {"training.epoch": 3})


@pytest.fixture(scope="module")
def five_hundred(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """500 events in which each of 12 states visits its two hosts in turn."""
    draw, rows = np.random.default_rng(1), {}
    while len(rows) < 500:
        subject, day = int(draw.integers(12)), int(draw.integers(200))
        host = (subject + 1 + (day // 30) % 2) % 12
        rows[f"state {subject}\tvisits\tstate {host}\t{np.datetime64('2020-01-01') + day}"] = None
    path = tmp_path_factory.mktemp("events") / "events.tsv"
    path.write_text("\n".join(rows) + "\n")
    return read_graph(path)


@pytest.mark.parametrize(("name", "shorter"), [("quick", {}), ("balanced", {"training.epochs": 10})])
def test_five_hundred_events_are_learned_without_a_warning(
    five_hundred: Graph, tmp_path: Path, name: str, shorter: dict[str, object]
):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = preset_config(name, five_hundred, {"training.threads": 1, **shorter})
        report = train(five_hundred, config, tmp_path / "run").report()
    assert report["reranker"] == "fold"
    only = "one predicate only: is another column the predicate? --columns says which is which"
    assert report["data_warnings"] == [only]
    assert report["test"]["all"]["mrr"] > 0.7
