"""Configurations: closed, typed, and the same after a round trip."""

import re
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from foretime.cli.options import parse_settings
from foretime.config import Config, config_text, override, read_config
from foretime.errors import ConfigError
from foretime.models import MODELS, Sizes, build_model, model_options
from foretime.training.objective import check_penalties, penalty_names
from foretime.training.settings import complete_config, evidence_penalties

ROOT = Path(__file__).parents[1]
LISTS = ("bench", "tune")
"""Folders of files that name configurations and are none themselves."""
CONFIGS = sorted(path for path in (ROOT / "configs").glob("**/*.toml") if path.parent.name not in LISTS)


def read(folder: Path, text: str) -> Config:
    (folder / "my.toml").write_text(text, encoding="utf-8")
    return read_config(folder / "my.toml")


@pytest.mark.parametrize("name", MODELS)
def test_a_configuration_is_the_same_after_a_round_trip(tmp_path: Path, name: str):
    settings = {
        "model.name": name,
        "data.path": 'my "odd" \\ päth',
        "data.columns": {"subject": "Actor", "predicate": 2, "object": 3, "time": "Day of event"},
        "data.delimiter": "\t",
        "training.learning_rate": 0.1 + 0.2,
    }
    config = complete_config(override(Config(), settings))
    assert read(tmp_path, config_text(config)) == config
    assert complete_config(config) == config


def test_an_empty_configuration_has_every_default(tmp_path: Path):
    assert read(tmp_path, "") == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training]\nlearning_rat = 1", r"unknown key training\.learning_rat; did you mean 'learning_rate'\?"),
        ("[data]\nzzzz = 1", r"unknown key data\.zzzz$"),
        ("[trainin]\nepochs = 1", r"unknown key trainin; did you mean 'training'\?"),
        ("[training]\nepochs = 'ten'", r"training\.epochs = 'ten': should be a valid integer"),
        ("[training]\nepochs = 1.5", r"training\.epochs = 1\.5: should be a valid integer"),
        ("[training]\nepochs = 0", r"training\.epochs = 0: should be greater than or equal to 1"),
        ("[training]\nseed = -1", r"training\.seed = -1: should be greater than or equal to 0"),
        (f"[training]\nseed = {10**23}", rf"training\.seed = {10**23}: should be less than or equal to 4294967295"),
        ("[training]\nlearning_rate = nan", r"training\.learning_rate = nan: should be a finite number"),
        ("[training]\noptimizer = 'sgd'", r"training\.optimizer = 'sgd': should be 'adagrad' or 'adam'"),
        ("[data]\nvalid_share = 1.0", r"data\.valid_share = 1\.0: should be less than 1"),
        (
            "[data.columns]\nsubject = 1.5",
            r"data\.columns\.subject = 1\.5: should be the name of a column, or its number",
        ),
        ("[penalties]\nevent_n3 = 'big'", r"penalties\.event_n3 = 'big': should be a valid number"),
        ("training = 3", r"training = 3: should be a table, \[training\]"),
        ("[model]\nname = 3", r"model\.name = 3: should be a valid string"),
        ("[training\nepochs = 3", r"not valid TOML: .*line 1"),
        ("[training]\nepochs = 3\nepochs = 4", r"not valid TOML: "),
    ],
)
def test_a_wrong_configuration_names_the_file_and_the_full_key(tmp_path: Path, text: str, message: str):
    with pytest.raises(ConfigError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'my.toml'}: ")
    assert len(str(caught.value).splitlines()) == 1


def test_all_wrong_keys_are_reported_together(tmp_path: Path):
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, "[training]\nepochs = 0\nseeds = 1\n[data]\nregular = 'maybe'\n")
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    for key in ("training.epochs = 0", "unknown key training.seeds", "data.regular = 'maybe'"):
        assert any(key in line for line in lines)


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"none\.toml: no such configuration file"):
        read_config(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes("[data]\npath = 'Côte'\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"latin\.toml: cannot be read as a configuration"):
        read_config(tmp_path / "latin.toml")
    with pytest.raises(ConfigError, match="cannot be read as a configuration"):
        read_config(tmp_path)


def test_override_replaces_some_settings_and_leaves_the_configuration_alone():
    base = Config()
    changed = override(base, {"training.epochs": 3, "model.rank": 7, "data.header": True})
    assert (changed.training.epochs, changed.model.options, changed.data.header) == (3, {"rank": 7}, True)
    assert base == Config()
    assert override(changed, {}) == changed
    with pytest.raises(ValidationError):
        base.training.epochs = 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 3}, "here: 'epochs' is not a setting; write section.key=value, as in training.epochs=20"),
        ({"training.": 3}, "here: 'training.' is not a setting"),
        ({"trianing.epochs": 3}, "here: unknown section 'trianing'; did you mean 'training'?"),
        ({"training.epoch": 3}, "here: unknown key training.epoch; did you mean 'epochs' or 'epoch_limit'?"),
        ({"training.epochs": "x"}, "here: training.epochs = 'x': should be a valid integer"),
    ],
)
def test_override_names_what_it_cannot_set(settings: dict, message: str):
    with pytest.raises(ConfigError, match=re.escape(message)):
        override(Config(), settings, "here: ")


def test_settings_are_read_as_toml_and_as_text_where_that_fails():
    texts = ["a.i=3", "a.f = 1e-3", "a.b=true", "a.t=day", 'a.q="3"', "a.l=[1, 2]", "a.e=", "a.eq=x=y"]
    values = parse_settings(texts)
    assert values == {
        "a.i": 3, "a.f": 1e-3, "a.b": True, "a.t": "day", "a.q": "3", "a.l": [1, 2], "a.e": "", "a.eq": "x=y",
    }  # fmt: skip
    with pytest.raises(ConfigError, match=r"'training\.epochs' is not a setting; write section\.key=value"):
        parse_settings(["training.epochs"])


@given(st.dictionaries(st.sampled_from(["training.epochs", "training.seed", "model.rank"]), st.integers(1, 9999)))
def test_what_a_shell_sets_is_what_python_sets(settings: dict[str, int]):
    texts = [f"{key}={value}" for key, value in settings.items()]
    assert override(Config(), parse_settings(texts)) == override(Config(), settings)


def test_an_unknown_model_is_named_with_the_nearest_one_and_all():
    with pytest.raises(
        ConfigError, match=r"unknown model 'tcomplx'; the models are .*complex, .*; did you mean 'tcomplex'.*\?$"
    ):
        complete_config(override(Config(), {"model.name": "tcomplx"}))


@pytest.mark.parametrize("name", MODELS)
def test_the_options_of_every_model_are_closed_and_typed(name: str):
    for option, value, message in (
        ("rnak", 3, r"unknown key model\.rnak; did you mean 'rank'\?"),
        ("rank", 0, r"model\.rank = 0: should be greater than or equal to 1"),
        ("init_scale", "big", r"model\.init_scale = 'big': should be a valid number"),
    ):
        with pytest.raises(ConfigError, match=message):
            complete_config(override(Config(), {"model.name": name, f"model.{option}": value}))


def small(config: Config) -> Config:
    return complete_config(override(config, {"model.rank": 2}))


@pytest.mark.parametrize("name", MODELS)
def test_the_default_penalties_of_every_model_are_its_own(name: str):
    config = small(override(Config(), {"model.name": name}))
    names = penalty_names(build_model(config.model, Sizes(2, 2, 2), torch.Generator()))
    check_penalties(names | set(evidence_penalties(config)), config.penalties)
    assert config.penalties == {**MODELS[name].default_penalties, **evidence_penalties(config)}


@pytest.mark.parametrize(
    ("penalties", "message"),
    [
        ({"n33": 0.1}, r"unknown key penalties\.n33; this model has n3.*; did you mean 'n3'\?$"),
        ({"n3": 0.1, "smoothness": 0.1}, r"unknown key penalties\.smoothness; this model has n3"),
    ],
)
def test_a_penalty_that_the_model_lacks_is_an_error(penalties: dict[str, float], message: str):
    model = build_model(small(override(Config(), {"model.name": "complex"})).model, Sizes(2, 2, 2), torch.Generator())
    with pytest.raises(ConfigError, match=message):
        check_penalties(penalty_names(model), penalties)


def test_a_penalty_without_a_weight_is_an_error():
    model = build_model(small(Config()).model, Sizes(2, 2, 2), torch.Generator())
    with pytest.raises(ConfigError, match=r"penalties\.event_n3 is missing: write its weight, 0 to switch it off"):
        check_penalties(penalty_names(model), {"commonsense_n3": 0.1, "event_smoothness": 0.1})


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_configuration_that_comes_along_is_valid(path: Path):
    config = read_config(path)
    assert model_options(config.model).rank >= 1
    model = build_model(small(config).model, Sizes(2, 2, 2), torch.Generator())
    check_penalties(penalty_names(model) | set(evidence_penalties(config)), complete_config(config).penalties)
