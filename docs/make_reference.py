"""Writes docs/configuration.md from the configuration itself, so that the page cannot go stale.

    python docs/make_reference.py

Every key, its type, its default and its meaning come from the fields of `foretime.config` and of each model's options;
the penalties, their default weights and the losses come from the models. `tests/test_docs.py` compares the page with
this script.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterator
from pathlib import Path

from pydantic.fields import FieldInfo

from foretime.config import MOST_WEIGHT, Config, ModelConfig, Section
from foretime.evidence.module import EvidenceComponent
from foretime.models import MODELS

PAGE = Path(__file__).with_name("configuration.md")
HEAD = """\
# Configuration

This page is made by `python docs/make_reference.py` from the code. Change the code, not the page.

A configuration is a TOML file with the sections below. Every key has a default, so a file holds only what differs. A
key that is not listed here is an error, with the nearest known key in its message. On the command line any key is set
with `--set section.key=value`; in Python with `settings={"section.key": value}`. What it all means for a training is
described in [training.md](training.md).
"""
BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def reference() -> str:
    """Return the page."""
    special = {"model": _model, "penalties": _penalties, "training": _training}
    parts = [special[name]() if name in special else _section(name) for name in Config.model_fields]
    return "\n".join([HEAD, *(line for part in parts for line in part)])


def _section(name: str) -> Iterator[str]:
    section = Config.model_fields[name].annotation
    about = (section.__doc__ or "").partition(": ")[2]
    yield f"## `[{name}]`\n\n{about[:1].upper()}{about[1:]}\n"
    yield from _table(section)


def _model() -> Iterator[str]:
    yield "## `[model]`\n\nThe name of a model; every other key is an option of that model.\n"
    yield from _table(ModelConfig)
    yield f"The models are {', '.join(f'`{name}`' for name in MODELS)}. All of them have these options:\n"
    schemas = {name: model.options() for name, model in MODELS.items()}
    shared = set.intersection(*(set(schema.model_fields) for schema in schemas.values()))
    yield from _table(schemas["rules"], [*shared])
    for name, schema in schemas.items():
        if own := [key for key in schema.model_fields if key not in shared]:
            yield f"`{name}` has also:\n"
            yield from _table(schema, own)


def _penalties() -> Iterator[str]:
    yield "## `[penalties]`\n"
    yield "The weight of each penalty of the model, by name. If the section is left out, the weights are those below."
    yield "If it is there, it must name every penalty of the model; 0 switches one off."
    yield f"A weight lies between -{MOST_WEIGHT:,.10g} and {MOST_WEIGHT:,.10g}.\n"
    yield "| model | penalties and their default weights |\n| --- | --- |"
    for name, model in MODELS.items():
        weights = ", ".join(f"`{key} = {weight:g}`" for key, weight in model.default_penalties.items())
        yield f"| `{name}` | {weights} |"
    beside = ", ".join(f"`evidence_{key} = {weight:g}`" for key, weight in EvidenceComponent.default_penalties.items())
    yield f"\nWith evidence, which `rules` always has, also {beside}.\n"


def _training() -> Iterator[str]:
    yield from _section("training")
    yield "Where neither the file nor a flag names them, `loss` and `margin` are those of the model:\n"
    yield "| model | loss | margin |\n| --- | --- | --- |"
    for name, model in MODELS.items():
        yield f"| `{name}` | `{model.default_loss}` | {model.default_margin:g} |"
    yield ""


def _table(section: type[Section], keys: list[str] | None = None) -> Iterator[str]:
    yield "| key | value | default | meaning |\n| --- | --- | --- | --- |"
    for key, field in section.model_fields.items():
        if keys is None or key in keys:
            meaning = " ".join((field.description or "").split())
            yield f"| `{key}` | {_value(field)} | {_default(field)} | {meaning} |"
    yield ""


def _value(field: FieldInfo) -> str:
    rules = ((rule, name) for rule in field.metadata for name in BOUNDS if hasattr(rule, name))
    limits = ", ".join(f"{BOUNDS[name]} {getattr(rule, name):,.10g}" for rule, name in rules)
    return f"{_type(field.annotation)} {limits}".strip()


def _type(annotation: typing.Any) -> str:
    if typing.get_origin(annotation) is typing.Annotated:
        return _type(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) is typing.Literal:
        return ", ".join(f"`{value}`" for value in typing.get_args(annotation))
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        return " or ".join(_type(part) for part in typing.get_args(annotation) if part is not types.NoneType)
    if typing.get_origin(annotation) is list:
        return f"list of {_type(typing.get_args(annotation)[0])}"
    if typing.get_origin(annotation) is dict:
        return f"table of {_type(typing.get_args(annotation)[1])}"
    names = {str: "text", int: "integer", float: "number", bool: "true or false"}
    return names[annotation]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "not given"
    if value in ("", {}):
        return "empty"
    return f"`{json.dumps(value) if isinstance(value, bool | list) else value}`"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
