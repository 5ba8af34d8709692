"""The schema of the API as a page: plain HTML, without scripts and without other hosts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

STYLE = "docs.css"


def reference_page(schema: dict[str, Any]) -> str:
    """Return the page that shows a schema."""
    operations = [
        (path, method.upper(), operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    index = "".join(
        f'<li><a href="#{_anchor(path, method)}"><b>{method}</b> <code>{escape(path)}</code></a></li>'
        for path, method, _ in operations
    )
    body = "".join(part for operation in operations for part in _operation(schema, *operation))
    models = "".join(part for name in schema["components"]["schemas"] for part in _model(schema, name))
    info = schema["info"]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="/static/{STYLE}"></head><body><main>'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>"
        f'<p><a href="/api/v1/openapi.json">openapi.json</a> · <a href="/">explorer</a></p>'
        f'<nav><ul class="operations">{index}</ul></nav>{body}<h2>Types</h2>{models}</main></body></html>'
    )


def _anchor(path: str, method: str) -> str:
    return escape(f"{method}{path}".replace("/", "-").replace("{", "").replace("}", ""), quote=True)


def _operation(schema: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f'<section class="operation" id="{_anchor(path, method)}">'
    yield f"<h2><b>{method}</b> <code>{escape(path)}</code></h2>"
    yield f"<p>{escape(operation.get('description') or operation.get('summary', ''))}</p>"
    if parameters := operation.get("parameters"):
        rows = [(p["name"], p["in"], p["schema"], p.get("description", ""), p.get("required")) for p in parameters]
        yield _table(("parameter", "in", "type", "description"), [_row(*row) for row in rows])
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content:
        yield f"<h3>Body</h3><p>{_type(content['schema'])}</p>{_example(_resolve(schema, content['schema']))}"
    found = [
        (escape(status), escape(response["description"]), _type(_content(response)))
        for status, response in operation["responses"].items()
    ]
    yield _table(("status", "when", "type"), found)
    yield "</section>"


def _row(name: str, place: str, shape: dict[str, Any], about: str, required: bool | None) -> tuple[str, ...]:
    name = f"<code>{escape(name)}</code>{' (required)' if required else ''}"
    about = about or shape.get("description", "")
    example = "".join(f" For example <code>{escape(str(value))}</code>." for value in shape.get("examples", []))
    return name, escape(place), _type(shape), escape(about) + example


def _model(schema: dict[str, Any], name: str) -> Iterator[str]:
    model = schema["components"]["schemas"][name]
    yield f'<section class="model" id="{escape(name, quote=True)}"><h3>{escape(name)}</h3>'
    yield f"<p>{escape(model.get('description', ''))}</p>"
    fields = [
        (f"<code>{escape(field)}</code>", _type(shape), escape(shape.get("description", "")))
        for field, shape in model.get("properties", {}).items()
    ]
    if fields:
        yield _table(("field", "type", "description"), fields)
    yield f"{_example(model)}</section>"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def _type(shape: dict[str, Any]) -> str:
    """Return a type in a few words, with its bounds."""
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return f'<a href="#{escape(name, quote=True)}">{escape(name)}</a>'
    if "anyOf" in shape:
        return " or ".join(_type(one) for one in shape["anyOf"])
    if "enum" in shape:
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in shape["enum"])
    words = {"minimum": "≥", "maximum": "≤", "maxLength": "length ≤", "minItems": "items ≥", "maxItems": "items ≤"}
    bounds = [f"{word} {shape[key]}" for key, word in words.items() if key in shape]
    default = [f"default {shape['default']}"] if shape.get("default") not in (None, "") else []
    inner = f" of {_type(shape['items'])}" if "items" in shape else ""
    rest = f" ({escape(', '.join([*bounds, *default]))})" if bounds or default else ""
    return f"{escape(str(shape.get('type', shape.get('const', 'anything'))))}{inner}{rest}"


def _content(response: dict[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = list(response.get("content", {}).values())
    return content[0].get("schema") or {"type": "anything"} if content else {"type": "nothing"}


def _resolve(schema: dict[str, Any], shape: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema["components"]["schemas"].get(shape.get("$ref", "").rpartition("/")[2], shape)
    return found


def _example(shape: dict[str, Any]) -> str:
    examples = [json.dumps(example, ensure_ascii=False, indent=2) for example in shape.get("examples", [])]
    return "".join(f"<pre><code>{escape(text)}</code></pre>" for text in examples)
