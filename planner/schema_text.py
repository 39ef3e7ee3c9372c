"""Parts of a schema in words: its type with the unit, an example, what holds where it is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from planner.dimensions import DIMENSIONS

_TYPES = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}
_TYPES |= {"object": "section", "array": "list", "null": "null"}
_DEFAULT = re.compile(r"`?([\w.-]+)`? \(default\)")
_LEFT_OUT = re.compile(r"Left out: (.+?)(?:\.(?=\s|$)|;|$)")
_PLAIN = re.compile(r"[A-Za-z./][\w ./%+-]*|\d[\w.]* ?[A-Za-z%][\w ./%]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def type_of(schema: Mapping[str, Any]) -> str:
    """The type: a quantity by its name, a choice by its words, else what JSON calls it, in words."""
    if "const" in schema:
        return f"`{text_of(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{text_of(value)}`" for value in schema["enum"])
    names = schema.get("type", ())
    names = [names] if isinstance(names, str) else list(names)
    quantity = schema.get("quantity")
    if quantity and "string" in names:
        names = [name for name in names if name not in ("string", "number")]
        return " or ".join([f"[{quantity}](#units)", *(_TYPES[name] for name in names)])
    if quantity == "count" and "number" in names:
        names = ["number", *(name for name in names if name != "number")]
    least = f" from {schema['minimum']}" if "minimum" in schema else " above 0" if "exclusiveMinimum" in schema else ""
    counted = {
        "integer": least,
        "number": least,
        "array": most_of(schema, "maxItems", "item"),
        "object": most_of(schema, "maxProperties", "key"),
    }
    words = [_TYPES[name] + counted.get(name, "") for name in names]
    return " or ".join(words) or ("section" if "properties" in schema else "any")


def most_of(schema: Mapping[str, Any], keyword: str = "maxItems", what: str = "item") -> str:
    """` of at most 256 items`, where there is a limit."""
    most = schema.get(keyword)
    return "" if most is None else f" of at most {most} {what}{'s' if most > 1 else ''}"


def example_of(schema: Mapping[str, Any]) -> str:
    """The first example, else one that the schema itself allows, in YAML's flow style."""
    for key in ("examples", "enum"):
        if schema.get(key):
            return text_of(schema[key][0])
    for key in ("const", "default"):
        if key in schema:
            return text_of(schema[key])
    if "properties" in schema:
        return _section(schema)
    return _made(schema)


def _section(schema: Mapping[str, Any]) -> str:
    keys = [*schema.get("required", ())] or [*schema["properties"]][:1]
    shown = {key: schema["properties"].get(key) for key in keys}
    parts = [f"{key}: {example_of(part) if isinstance(part, Mapping) else '…'}" for key, part in shown.items()]
    return f"{{{', '.join(parts)}}}"


def _made(schema: Mapping[str, Any]) -> str:
    names = schema.get("type", "")
    name = names if isinstance(names, str) else names[0]
    quantity = schema.get("quantity")
    if quantity and "string" in names and quantity in DIMENSIONS:
        return DIMENSIONS[quantity].example
    if name in ("integer", "number"):
        return text_of(schema.get("minimum", 1) or 1)
    return {"boolean": "true", "array": "[…]", "object": "{…}", "string": "some-text"}.get(name, "…")


def text_of(value: Any) -> str:
    """A value as YAML would write it on one line; text that would read as something else is quoted."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {text_of(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(text_of(item) for item in value)}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def left_out_of(schema: Mapping[str, Any], otherwise: str) -> str:
    """What holds where the key is left out, as its description says it."""
    if "default" in schema:
        return f"`{text_of(schema['default'])}`"
    description = str(schema.get("description", ""))
    for found, shape in ((_DEFAULT.search(description), "`{}`"), (_LEFT_OUT.search(description), "{}")):
        if found:
            return shape.format(found.group(1))
    return otherwise


def meaning(schema: Mapping[str, Any]) -> str:
    """What the key is for."""
    return str(schema.get("description", ""))
