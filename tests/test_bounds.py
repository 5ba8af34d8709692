"""Every number that can be set has an upper bound, and a training with numbers at their bounds ends or is refused."""

import inspect
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import typer

import foretime
from foretime import config as settings
from foretime.cli import app, options
from foretime.config import Config, Section, override
from foretime.data.graph import Graph, load
from foretime.errors import ConfigError, ForetimeError
from foretime.experiments.bench.lists import BudgetSection, EntrySection
from foretime.experiments.tuning.plan import TuneSection
from foretime.models import MODELS
from foretime.runs import memory
from foretime.runs.life import train

HUGE = 10**40
GRAPH_ROWS = 240
OWN_SECTIONS = {name: field.annotation for name, field in Config.model_fields.items() if name != "penalties"}
SECTIONS: dict[str, type[Section]] = {
    **{name: kind for name, kind in OWN_SECTIONS.items() if isinstance(kind, type)},
    "penalties": Config,
    **{f"model {name}": model.options() for name, model in MODELS.items()},
    **{f"import {name}": source.options for name, source in foretime.IMPORTERS.items()},
    "tune": TuneSection,
    "bench": BudgetSection,
    "run": EntrySection,
}
TAKES_LONG = {"trees": "every tree is grown", "ensemble_size": "every model is trained"}
"""Numbers at whose bound a training would end, but not soon."""


def shapes(annotation: Any) -> Iterator[Callable[[Any], Any]]:
    """Yield how a number can stand in a value of a type: by itself, in a list, or in a table."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (int, float):
        yield lambda number: number
    elif origin is typing.Annotated:
        yield from shapes(inner[0])
    elif origin in (types.UnionType, typing.Union):
        for part in inner:
            yield from shapes(part)
    elif origin in (list, tuple):
        yield from (lambda number, own=own: [own(number)] for own in shapes(inner[0]))
    elif origin is dict:
        yield from (lambda number, own=own: {"subject": own(number)} for own in shapes(inner[1]))


NUMBERS = [
    pytest.param(section, key, shape, id=f"{name}.{key}")
    for name, section in SECTIONS.items()
    for key, field in section.model_fields.items()
    for shape in shapes(field.annotation)
]


def test_numbers_are_found():
    assert len(NUMBERS) > 60


@pytest.mark.parametrize(("section", "key", "shape"), NUMBERS)
def test_every_number_of_a_section_has_an_upper_bound(section: type[Section], key: str, shape: Callable[[Any], Any]):
    with pytest.raises(ConfigError, match=key):
        settings.check_section(section, {key: shape(HUGE)}, "")


def commands(group: Any) -> Iterator[Callable[..., Any]]:
    yield from (command.callback for command in group.registered_commands)
    for inner in group.registered_groups:
        yield from commands(inner.typer_instance)


def test_every_number_of_a_command_has_an_upper_bound():
    found = 0
    for command in commands(app):
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
            kind, *about = typing.get_args(parameter.annotation)
            if {kind, *typing.get_args(kind)} & {int, float}:
                found += 1
                assert about[0].max is not None, f"{command.__name__}: {name} has no upper bound"
    assert found > 40


def test_the_bounds_of_commands_are_those_of_settings():
    for name in ("LARGEST_SEED", "MOST_EPOCHS", "MOST_COUNT", "MOST_THREADS", "MOST_SECONDS"):
        assert getattr(options, name) == getattr(settings, name)
    assert isinstance(typer.main.get_command(app), object)


def test_every_number_of_the_service_has_an_upper_bound():
    from foretime.service.server import check_settings
    from foretime.service.settings import MOST, Settings

    numbers = {field.name for field in fields(Settings) if field.type in ("int", "float")}
    assert set(MOST) == numbers
    check_settings(Settings())
    for name in numbers:
        for value in (HUGE, -1, float("nan")):
            with pytest.raises(ConfigError, match=f"{name} is .*; it goes from 0 to"):
                check_settings(replace(Settings(), **{name: value}))


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    file = tmp_path_factory.mktemp("data") / "events.tsv"
    rows = (f"e{n % 9}\tp{n % 3}\te{(n * 5 + n // 9) % 9}\t2020-01-{n % 28 + 1:02}\n" for n in range(GRAPH_ROWS))
    file.write_text("".join(rows), encoding="utf-8")
    return load(file)


def at_the_bounds(name: str, section: type[Section]) -> dict[str, Any]:
    """Every number of a section at its upper bound, by its dotted name."""
    found: dict[str, Any] = {}
    for key, field in section.model_fields.items():
        bound = next((rule.le for rule in field.metadata if hasattr(rule, "le")), None)
        if bound is not None and field.annotation in (int, float) and key not in TAKES_LONG:
            found[f"{name}.{key}"] = bound
    return found


TINY = {
    "model.name": "complex", "model.rank": 4, "training.epochs": 1, "training.threads": 1, "reranker.trees": 2,
    "reranker.slots": False,
}  # fmt: skip
TRAININGS = {
    "training": {},
    "training by drawn answers": {"training.loss": "negatives", "training.candidates": 0},
    "rules": {"model.name": "lcge", "evidence.use": True},
    "evidence": {"evidence.use": True, "evidence.epochs": 1},
    "reranker": {"reranker.use": True, "evidence.use": True},
}


def assert_ends_or_is_refused(graph: Graph, config: Config, folder: Path) -> None:
    """Any error but one of ours is a fault; without one there is a report."""
    try:
        run = train(graph, config, folder)
    except ForetimeError:
        return
    assert run.report_file.is_file()


@pytest.mark.parametrize("what", TRAININGS)
def test_a_training_at_the_bounds_ends_or_is_refused(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
):
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 29)
    name = what.partition(" ")[0]
    bounds = at_the_bounds(name, OWN_SECTIONS[name])  # type: ignore[arg-type]
    if name == "training":  # one number at a time decides when it ends
        bounds |= {"training.epochs": 1, "training.learning_rate": 0.1}
    assert_ends_or_is_refused(graph, override(Config(), TINY | bounds | TRAININGS[what]), tmp_path / "run")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_at_the_bounds_of_its_options_ends_or_is_refused(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 20)
    bounds = at_the_bounds("model", MODELS[name].options())
    chosen = TINY | bounds | {"model.name": name}
    if name != "rules":
        with pytest.raises(ConfigError, match="needs at least"):
            train(graph, override(Config(), chosen), tmp_path / "run")
    small = override(Config(), chosen | {"model.rank": 2})
    assert_ends_or_is_refused(graph, small, tmp_path / "run")
