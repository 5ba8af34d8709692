"""The schema of the API as a page: plain HTML, without scripts and without other hosts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

Shape = dict[str, Any]
BOUNDS = {"minimum": "≥", "maximum": "≤", "maxLength": "length ≤", "minItems": "items ≥", "maxItems": "items ≤"}


def reference_page(schema: Shape) -> str:
    """Return the page that shows an OpenAPI schema."""
    info, models = schema["info"], schema["components"]["schemas"]
    operations = [(path, method, one) for path, all_ in schema["paths"].items() for method, one in all_.items()]
    index = "".join(
        f'<li><a href="#{_id(path, method)}">{_title(path, method)}</a></li>' for path, method, _ in operations
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/static/docs.css"></head><body><main>'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>"
        '<p><a href="/api/v1/openapi.json">openapi.json</a> · <a href="/">explorer</a></p>'
        f'<nav><ul class="operations">{index}</ul></nav>{"".join(_operation(*one) for one in operations)}'
        f"<h2>Types</h2>{''.join(_model(name, model) for name, model in models.items())}</main></body></html>"
    )


def _id(path: str, method: str) -> str:
    return escape(f"{method}{path}".translate(str.maketrans("/", "-", "{}")), quote=True)


def _title(path: str, method: str) -> str:
    return f"<b>{method.upper()}</b> <code>{escape(path)}</code>"


def _operation(path: str, method: str, operation: Shape) -> str:
    parameters = [
        (_code(one["name"]) + " (required)" * one.get("required", False), one["in"], _type(one["schema"]), _about(one))
        for one in operation.get("parameters", [])
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    responses = [
        (status, escape(one["description"]), _type(one["content"]["application/json"]["schema"]))
        for status, one in operation["responses"].items()
    ]
    return (
        f'<section class="operation" id="{_id(path, method)}"><h2>{_title(path, method)}</h2>'
        f"<p>{escape(operation['description'])}</p>"
        + (_table(("parameter", "in", "type", "description"), parameters) if parameters else "")
        + (f"<h3>Body</h3><p>{_type(body['schema'])}</p>" if body else "")
        + _table(("status", "when", "type"), responses)
        + "</section>"
    )


def _about(parameter: Shape) -> str:
    examples = "".join(f" For example {_code(value)}." for value in parameter["schema"]["examples"])
    return escape(parameter.get("description", "")) + examples


def _model(name: str, model: Shape) -> str:
    fields = [
        (_code(field), _type(shape), escape(shape.get("description", "")))
        for field, shape in model.get("properties", {}).items()
    ]
    examples = [json.dumps(one, ensure_ascii=False, indent=2) for one in model["examples"]]
    return (
        f'<section class="model" id="{escape(name, quote=True)}"><h3>{escape(name)}</h3>'
        f"<p>{escape(model.get('description', ''))}</p>{_table(('field', 'type', 'description'), fields)}"
        f"{''.join(f'<pre><code>{escape(text)}</code></pre>' for text in examples)}</section>"
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = "".join(f"<th>{name}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def _code(value: object) -> str:
    return f"<code>{escape(str(value))}</code>"


def _type(shape: Shape) -> str:
    """Return a type in a few words, with its bounds."""
    if "$ref" in shape:
        name = escape(shape["$ref"].rpartition("/")[2], quote=True)
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in shape:
        return " or ".join(map(_type, shape["anyOf"]))
    if "enum" in shape:
        return " or ".join(map(_code, shape["enum"]))
    notes = [f"{word} {shape[key]}" for key, word in BOUNDS.items() if key in shape]
    notes += [f"default {shape['default']}"] if shape.get("default") not in (None, "") else []
    inner = f" of {_type(shape['items'])}" if "items" in shape else ""
    rest = f" ({escape(', '.join(notes))})" if notes else ""
    return f"{escape(str(shape.get('type', shape.get('const', 'anything'))))}{inner}{rest}"
