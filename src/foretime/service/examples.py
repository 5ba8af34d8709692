"""Examples in the schema of the API, made from its types and one table of plausible values."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]
VALUES: dict[str, Any] = {
    "run": "first", "left": "first", "right": "second", "data": "world", "model": "lcge", "granularity": "day",
    "subject": "Libo Pisapo", "predicate": "Make a visit", "object": "Nelivia", "time": "2024-03-19",
    "start": "2024-03-01", "end": "2024-03-31", "from": "2024-01-01", "to": "2024-03-31",
    "first": "2024-01-03", "last": "2024-12-20", "loaded": "2026-11-16T04:44:17.139004+00:00",
    "entity": "Nelivia", "other": "Libo Pisapo", "name": "Nelivia", "answer": "Nelivia", "competitor": "Kafitand",
    "type": "state", "where": "type=state", "alias": "Republic of Nelivia",
    "via": "Nelor", "prefix": "nel", "head": "Host a visit", "body": "Make a visit", "pattern": "accompanies",
    "text": "Host a visit(y, x, t) <= Make a visit(x, y, t)", "rule": "Host a visit(y, x, t) <= Make a visit(x, y, t)",
    "sentence": "Libo Pisapo expressed intent to meet Nelivia 2 days before", "message": "top: should be less than 101",
    "code": "invalid", "field": "top", "rank": 1, "score": 8.44, "probability": 0.41,
    "confidence": 0.41, "facts": 17, "total": 37,
}  # fmt: skip
"""Plausible values by the name of a field; any other field has the plainest value of its type."""
PLAIN = {"string": "", "integer": 1, "number": 0.5, "boolean": False, "null": None}
KINDS: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}


def add_examples(schema: Shape) -> Shape:
    """Return an OpenAPI schema with an example of every parameter and every model."""
    models = schema["components"]["schemas"]
    for operations in schema["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                parameter["schema"].setdefault("examples", [_value(parameter["name"], parameter["schema"], models, ())])
    for name, model in models.items():
        model.setdefault("examples", [_value(name, model, models, (name,))])
    return schema


def _value(name: str, shape: Shape, models: dict[str, Shape], within: tuple[str, ...]) -> Any:
    """Return an example of a shape; a model within itself is left out."""
    if "anyOf" in shape:
        return _value(name, shape["anyOf"][0], models, within)
    if "$ref" in shape:
        model = shape["$ref"].rpartition("/")[2]
        return None if model in within else _value(name, models[model], models, (*within, model))
    if "properties" in shape:
        asked = (within or ("",))[-1].endswith("In")
        shown = shape.get("required", []) if asked and shape.get("required") else shape["properties"]
        if asked and "subject" in shape["properties"]:  # a question: all but the object; a forecast has no time
            given = [name for name in ("subject", "predicate", "time") if name in shape["properties"]]
            shown = dict.fromkeys([*given, *shape.get("required", [])])
        return {key: _value(key, shape["properties"][key], models, within) for key in shown}
    if shape.get("type") == "array":
        one = _value(name, shape["items"], models, within)
        return [] if one is None and "$ref" in shape["items"] else [one]
    if shape.get("type") == "object":
        keys, inner = shape.get("propertyNames", {}).get("enum"), shape.get("additionalProperties", {})
        chosen = ["subject", "predicate", "time"] if keys and "subject" in keys else keys or ["event"]
        return {key: _value(key, inner, models, within) for key in chosen} if inner is not True else {}
    return _scalar(name, shape)


def _scalar(name: str, shape: Shape) -> Any:
    if "const" in shape:
        return shape["const"]
    known = VALUES.get(name)
    if "enum" in shape:
        return known if known in shape["enum"] else shape["enum"][0]
    kind = shape.get("type", "null")
    if known is not None and isinstance(known, KINDS.get(kind, ())):
        return known
    return shape.get("default") if shape.get("default") not in (None, "") else PLAIN[kind]
