"""The published schema, made quick to validate with: references put in place, quantities left to code."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
REFERENCE = "#/$defs/"
# What an engine or a lever adds is checked by the module that is used, not by a branch for every module. The parts
# of a spec in a Base or an overlay are few, and keep their branches.
DISPATCHED = frozenset({"engine", "lever"})
MEASURES = "measures"
"""Beside the rules of a quantity: its dimension, for messages."""
END = r"\Z"
_NOTES = ("description", "examples")
_LISTS = ("allOf",)
_MAPS = ("properties",)
_SINGLE = ("items", "additionalProperties", "propertyNames", "if", "then", "else", "not")


class Compiler:
    """Compiles schemas that share one set of definitions, each definition once."""

    def __init__(self, definitions: Schema) -> None:
        self._definitions = definitions
        self._done: Schema = {}

    def definition(self, name: str) -> Schema:
        if name not in self._done:
            schema = dict(self._definitions[name])
            if name in DISPATCHED:
                schema.pop("allOf")
            self._done[name] = self.schema(schema)
        found: Schema = self._done[name]
        return found

    def schema(self, schema: Any) -> Any:
        """The schema without references. Keywords of its own: `alternatives`, `quantity` with what it replaces."""
        if not isinstance(schema, dict):
            return schema
        parts = {keyword: self._keyword(keyword, value) for keyword, value in schema.items() if keyword != "$ref"}
        if "$ref" in schema:
            parts = self._joined(self.definition(schema["$ref"].removeprefix(REFERENCE)), parts)
        if "oneOf" in parts:
            parts["alternatives"] = [choice["required"][0] for choice in parts.pop("oneOf")]
        if isinstance(parts.get("quantity"), str):
            parts = _quantity(parts)
        return parts

    def _keyword(self, keyword: str, value: Any) -> Any:
        if keyword == "pattern":
            # `$` of Python also matches before a line's end; that of ECMA 262, which the schema is written for, not.
            return f"{value[:-1]}{END}" if value.endswith("$") else value
        if keyword in _LISTS:
            return [self.schema(item) for item in value]
        if keyword in _MAPS:
            # jsonschema gives the error of a bare `false` no path.
            return {name: {"not": {}} if item is False else self.schema(item) for name, item in value.items()}
        return self.schema(value) if keyword in _SINGLE else value

    @staticmethod
    def _joined(target: Schema, beside: Schema) -> Schema:
        """A definition with what stands beside the reference to it: notes replace its own, rules come on top."""
        notes = {key: beside[key] for key in _NOTES if key in beside}
        rules = {key: value for key, value in beside.items() if key not in notes}
        joined = {**target, **notes}
        if isinstance(target.get("quantity"), dict):
            joined["quantity"] = {**target["quantity"], "rest": {**target["quantity"]["rest"], **notes, **rules}}
            return joined
        return {**joined, "allOf": [*target.get("allOf", ()), rules]} if rules else joined


def _quantity(schema: Schema) -> Schema:
    """Text with a unit is judged by `planner.units` alone: its message says more than a pattern's."""
    notes = {key: schema[key] for key in _NOTES if key in schema}
    rest = {key: value for key, value in schema.items() if key not in ("quantity", "pattern")}
    return {**notes, "quantity": {"dimension": schema["quantity"], "rest": {**rest, MEASURES: schema["quantity"]}}}
