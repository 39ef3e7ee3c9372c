"""Definitions for parts of a spec (a Base, an overlay): nothing is required, and null removes what was inherited."""

from __future__ import annotations

from typing import Any

PREFIX = "partial:"
REFERENCE = "#/$defs/"
# By these an item of a list is merged, so a part of it must still say which it is.
MERGE_KEYS = ("use", "name")
# Schemas below these only ask what there is; they stay as they are.
_CONDITIONS = ("if", "not", "propertyNames", "examples")


def partial(name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """The twin of a definition whose name, less the prefix, is in `definitions`."""
    plain = name.removeprefix(PREFIX)
    keep = MERGE_KEYS if plain in _items(definitions) else ()
    found: dict[str, Any] = _relaxed(definitions[plain], keep)
    return found


def _items(definitions: dict[str, Any]) -> set[str]:
    """Names of the definitions that are items of a list."""
    return {
        schema["items"]["$ref"].removeprefix(REFERENCE)
        for definition in definitions.values()
        for schema in (definition, *definition.get("properties", {}).values())
        if isinstance(schema, dict) and "$ref" in schema.get("items", {})
    }


def _relaxed(schema: Any, keep: tuple[str, ...] = ()) -> Any:
    if not isinstance(schema, dict):
        return schema
    relaxed: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword == "required":
            kept = [key for key in value if key in keep]
            relaxed |= {keyword: kept} if kept else {}
        elif keyword not in ("oneOf", "minProperties"):
            relaxed |= _keyword(keyword, value)
    return relaxed


def _keyword(keyword: str, value: Any) -> dict[str, Any]:
    if keyword in _CONDITIONS:
        return {keyword: value}
    if keyword == "$ref":
        return {keyword: f"{REFERENCE}{PREFIX}{value.removeprefix(REFERENCE).removeprefix(PREFIX)}"}
    if keyword == "type":
        return {keyword: [*([value] if isinstance(value, str) else value), "null"]}
    if keyword == "enum":
        return {keyword: [*value, None]}
    if keyword == "const":
        return {"enum": [value, None]}
    if keyword == "properties":
        return {keyword: {name: _relaxed(schema) for name, schema in value.items()}}
    if keyword == "allOf":
        return {keyword: [_relaxed(schema) for schema in value]}
    return {keyword: _relaxed(value)}
