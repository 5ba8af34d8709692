"""Lists of runs: what they say, and what is wrong with them."""

from pathlib import Path

import pytest
from bench_files import write_list

from foretime.config import Config, override
from foretime.errors import ConfigError
from foretime.experiments.bench.lists import read_list, read_sections
from foretime.models import MODELS
from foretime.runs.fingerprint import config_hash

ROOT = Path(__file__).parents[3]
PAPER = ROOT / "configs" / "bench" / "paper.toml"
THIRTEEN = (
    "transe", "distmult", "complex", "rotate", "quate", "ttranse", "hyte", "tero", "atise", "tcomplex", "tntcomplex",
    "telm", "lcge",
)  # fmt: skip


def test_a_list_gives_one_run_for_each_seed_with_its_own_settings(tmp_path: Path):
    entries = """
    [[run]]
    config = "small.toml"
    seeds = [0, 3]
    [[run]]
    config = "small.toml"
    name = "large"
    data = "icews14"
    variant = "-TIS"
    settings = { "model.rank" = 9 }
    """
    bench = read_list(write_list(tmp_path, entries, budget="seconds_per_run = 7.5"))
    assert [run.name for run in bench.planned] == ["small-0", "small-3", "large-0"]
    assert [run.config.training.seed for run in bench.planned] == [0, 3, 0]
    large = bench.planned[2]
    assert (large.config.model.options["rank"], large.config.data.path, large.variant) == (9, "icews14", "-TIS")
    assert len({run.hash for run in bench.planned}) == 3
    assert (bench.seconds_per_run, bench.seconds_in_all) == (7.5, 0.0)
    assert bench.folder(large) == tmp_path / "runs" / f"large-0-{large.hash[:8]}"
    assert [run.name for run in read_list(bench.path, ["*-3", "large-?"]).planned] == ["small-3", "large-0"]


def test_threads_of_a_list_go_before_those_of_a_configuration_and_train_the_same(tmp_path: Path):
    entries = '[[run]]\nconfig = "small.toml"\nsettings = { "training.threads" = 3 }'
    own = read_list(write_list(tmp_path, entries)).planned[0]
    listed = read_list(write_list(tmp_path, entries, budget="threads = 2"))
    asked = read_list(listed.path, threads=1).planned[0]
    assert [run.config.training.threads for run in (own, listed.planned[0], asked)] == [3, 2, 1]
    assert own.hash == listed.planned[0].hash == asked.hash


ONE = '[[run]]\nconfig = "small.toml"\n'
FAULTS = {
    '[[run]]\nconfig = "none.toml"\n[[run]]\nconfig = "neither.toml"': r"list\.toml: run 1: config = 'none\.toml': "
    r"there is no file .*none\.toml; write it, or take the run out of the list\n.*run 2: config = 'neither\.toml'",
    '[[run]]\nconfg = "small.toml"': r"list\.toml: run 1: config is missing; write it\n.*run 1: unknown key confg; did",
    '[[run]]\nconfig = "small.toml"\nseeds = []': r"run 1: seeds = \[\]: should have at least 1 item",
    '[[run]]\nconfig = "small.toml"\nvariant = "a b"': r"run 1: variant = 'a b': should match pattern",
    '[[runs]]\nconfig = "small.toml"': r"list\.toml: run is missing; write it\n.*unknown key runs; did you mean 'run'",
    '[[run]]\nconfig = "small.toml"\nsettings = { "model.rnk" = 3 }': r"list\.toml: run 1: unknown key model\.rnk",
    '[[run]]\nconfig = "small.toml"\nsettings = { "training.seed" = 3 }': r"training\.seed is .*; write seeds = \[3\]",
    '[[run]]\nconfig = "small.toml"\ndata = "a"\nsettings = { "data.path" = "b" }': r"run 1: data\.path is among",
    '[[run]]\nconfig = "small.toml"\nsettings = { epochs = 3 }': "run 1: 'epochs' is not a setting",
    '[[run]]\nconfig = "small.toml"\n[[run]]\nconfig = "small.toml"': "two runs are called small-0; give one of them",
    ONE + '[[run]]\nconfig = "small.toml"\nseed = 1': r"run 2: unknown key seed; did you mean 'seeds'",
    ONE + "seeds = [0, 1, 0]": r"run 1: seeds = \[0, 1, 0\]: a seed is there twice; each makes one run",
    ONE + "seeds = [true]": r"run 1: seeds\.0 = True: should be a valid integer",
    ONE + "seeds = [99999999999999]": r"run 1: seeds\.0 = 99999999999999: should be less than",
    ONE + 'name = "../away"': r"run 1: name = '\.\./away': should match pattern",
    ONE + "settings = { model.rank = 3 }": 'run 1: settings: model is a table; write "model.rank" = …, with the quotes',
    "": r"list\.toml: run is missing; write it",
    "[[run]": r"list\.toml: not valid TOML",
}


@pytest.mark.parametrize("entries", FAULTS)
def test_a_broken_list_is_named_with_its_place_and_the_remedy(tmp_path: Path, entries: str):
    with pytest.raises(ConfigError, match=FAULTS[entries]):
        read_list(write_list(tmp_path, entries))


def test_other_faults_of_lists(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"none\.toml: no such list; write one with \[\[run\]\] entries"):
        read_list(tmp_path / "none.toml")
    path = write_list(tmp_path, '[[run]]\nconfig = "small.toml"')
    with pytest.raises(ConfigError, match=r"no run matches icews\*; foretime bench status .* names them"):
        read_list(path, ["icews*"])
    (tmp_path / "small.toml").write_text("[model]\nname = 'complex'\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="run 1: neither data nor the configuration names a graph"):
        read_list(path)


def test_the_committed_list_has_the_thirteen_models_and_the_ablation():
    _, entries = read_sections(PAPER)
    plain = [f"{data}-{model}-0" for data in ("icews14", "wikidata12k") for model in THIRTEEN]
    names = [name for entry in entries for name in entry.names()]
    large = ("tcomplex", "tntcomplex", "telm", "lcge", "lcge-evidence", "lcge-evidence-rules")
    assert names == [*plain, *(f"icews05-15-{model}-0" for model in large), "icews14-lcge-RGPR-0", "icews14-lcge-TIS-0"]
    there = [name for entry in entries for name in entry.names() if (PAPER.parent / entry.config).exists()]
    planned = read_list(PAPER, there).planned
    assert [run.name for run in planned] == there
    assert {run.config.model.name for run in planned} <= set(MODELS)
    ablation = {run.variant: run.config for run in read_list(PAPER, ["icews14-lcge-*-0"]).planned}
    assert ablation["-RGPR"].penalties["event_rules"] == 0
    assert ablation["-TIS"].model.options["commonsense_weight"] == 0


def test_a_hash_is_of_what_is_trained_and_nothing_else():
    base = override(Config(), {"model.name": "lcge", "data.path": "icews14"})
    same = [
        {"training.threads": 1},
        {"data.path": "../data/icews14"},
        {"training.checkpoint_seconds": 5.0},
        {"training.epochs": 50},
        {"model.rank": 200},
        {"penalties.event_n3": 0.01, "penalties.event_smoothness": 0.01, "penalties.commonsense_n3": 0.1,
         "penalties.event_rules": 0.0},
    ]  # fmt: skip
    other = [{"training.seed": 1}, {"model.rank": 100}, {"data.path": "icews05-15"}, {"evidence.use": True}]
    assert {config_hash(override(base, changes)) for changes in same} == {config_hash(base)}
    assert len({config_hash(override(base, changes)) for changes in other} | {config_hash(base)}) == 5
