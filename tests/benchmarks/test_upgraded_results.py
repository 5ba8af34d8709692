"""Results of earlier versions with the names of this one."""

import json
from pathlib import Path

import pytest
from benchmarks.upgrade import earlier_hashes, hashes_of, upgraded_row

from foretime.config import Config, override, read_config
from foretime.experiments.bench.lists import read_list
from foretime.experiments.bench.rows import read_rows
from foretime.runs.fingerprint import config_hash, seedless_hash, settings_hash, trained_settings
from foretime.runs.upgrade import upgraded

ROOT = Path(__file__).parents[2]
CHANGED = {
    "data.path": "icews14", "reranker.use": True, "training.ensemble_size": 2, "training.seed": 3,
    "training.boundary_relations": "separate",
}  # fmt: skip


def test_keys_and_metrics_have_their_new_names():
    old = {
        "combiner": "out-of-fold of 5 of 5 parts", "members": 2, "ends": "apart", "rank": 5,
        "choice": "the combiner was fitted on valid",
        "valid": {"first_stage": {"all": {"mrr": 0.5, "hits": {"1": 0.4, "10": 0.6}}}, "mrr_interval": [0.4, 0.6]},
    }  # fmt: skip
    new = {
        "reranker": "out-of-fold of 5 of 5 folds", "ensemble_size": 2, "boundary_relations": "separate", "rank": 5,
        "choice": "the re-ranker was fitted on valid",
        "valid": {"base_model": {"all": {"mrr": 0.5, "hits@1": 0.4, "hits@10": 0.6}}, "mrr_interval": [0.4, 0.6]},
    }  # fmt: skip
    assert upgraded(old) == new
    assert upgraded(new) == new


def test_a_hash_follows_the_names_of_the_settings():
    config = override(Config(), CHANGED)
    settings = trained_settings(config)
    names = {"ensemble_size": "members", "boundary_relations": "ends", "separate": "apart"}
    training = {names.get(key, key): names.get(value, value) for key, value in settings["training"].items()}
    old = {**settings, "training": training, "combiner": settings["reranker"]}
    del old["reranker"]
    assert (training["members"], training["ends"]) == (2, "apart")
    hashes = hashes_of([config])
    assert hashes[settings_hash(old)] == config_hash(config)
    unseeded = {**old, "training": {key: value for key, value in training.items() if key != "seed"}}
    assert hashes[settings_hash(unseeded)] == seedless_hash(config)
    assert {config_hash(config), settings_hash(old)} <= set(earlier_hashes(config))
    row = {"config_hash": settings_hash(old), "seedless_hash": "unknown", "earlier": ["gone", settings_hash(old)]}
    found = upgraded_row(row, hashes)
    assert found == {
        "config_hash": config_hash(config), "seedless_hash": "unknown", "earlier": ["gone", config_hash(config)],
    }  # fmt: skip
    assert upgraded_row(found, hashes) == found


def test_everything_committed_has_the_names_of_this_version():
    old = {"combiner", "members", "ends", "first_stage", "first stage", "hits"}
    files = [*ROOT.glob("results/*.json"), *ROOT.glob("results/*/report.json"), *ROOT.glob("benchmarks/results/*.json")]

    def keys(value: object) -> set[str]:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return set(value if isinstance(value, dict) else ()).union(*map(keys, inner))

    assert [path for path in files if keys(json.loads(path.read_text(encoding="utf-8"))) & old] == []
    assert not set().union(*map(keys, read_rows(ROOT / "results" / "bench.jsonl"))) & old
    for path in [*ROOT.glob("configs/*.toml"), *ROOT.glob("configs/ablation/*"), *ROOT.glob("results/*/config.toml")]:
        read_config(path)


@pytest.mark.parametrize("name", ["paper", "candidates"])
def test_the_committed_results_are_those_of_the_committed_lists(name: str):
    rows = {row["name"]: row["config_hash"] for row in read_rows(ROOT / "results" / "bench.jsonl")}
    planned = [run for run in read_list(ROOT / "configs" / "bench" / f"{name}.toml").planned if run.name in rows]
    assert planned
    assert [run.name for run in planned if rows[run.name] != run.hash] == []
