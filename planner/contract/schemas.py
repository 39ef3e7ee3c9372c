"""Validators of the published schemas. They know every reference that they need, and fetch nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators
from referencing import Registry

from planner import engines, levers, resources, schema_composer
from planner.contract.compiling import Compiler, Schema

VERSION = "planner/v1"
_SHARES = ("share", "positive-share")
# What the planner prints is described by a schema too, but is no kind of document.
_NOT_KINDS = frozenset({"result", "simulation", "sweep"})


@cache
def kinds() -> tuple[str, ...]:
    """Every kind of document that has a schema: ("Accelerator", "Base", "Deployment", ...)."""
    folder = resources.folder("schema") / "v1"
    names = sorted(path.name.removesuffix(".schema.json") for path in folder.glob("*.schema.json"))
    return tuple("".join(part.title() for part in name.split("-")) for name in names if name not in _NOT_KINDS)


@cache
def of_kind(kind: str) -> Any:
    """The validator of a kind's documents, less what engines and levers add."""
    schema = _published(kind)
    root = {key: value for key, value in schema.items() if key not in ("$schema", "$id", "$defs")}
    return _validator(_compiler(kind).schema(root))


@cache
def of_lever(use: str) -> Any:
    """The validator of what one lever of a Deployment takes, None where there is no such lever."""
    module = levers.get(use)
    return None if module is None else _branch(schema_composer.lever_branch(module, _common("lever")))


@cache
def of_engine(name: str | None) -> Any:
    """The validator of what one engine takes (of what any takes, where none is named); None for an unknown one."""
    if name is None:
        return _branch(schema_composer.any_engine_branch(_common("engine")))
    module = engines.get(name)
    return None if module is None else _branch(schema_composer.engine_branch(module, _common("engine")))


def engine_keys() -> tuple[str, ...]:
    """The keys that every engine has."""
    return tuple(_common("engine"))


def _common(definition: str) -> Schema:
    found: Schema = _published("Deployment")["$defs"][definition]["properties"]
    return found


def _branch(branch: Schema) -> Any:
    return _validator(_compiler("Deployment").schema(branch))


@cache
def _published(kind: str) -> Schema:
    name = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind).removeprefix("-")
    path = resources.folder("schema") / "v1" / f"{name}.schema.json"
    schema: Schema = json.loads(path.read_text(encoding="utf-8"))
    return schema


@cache
def _compiler(kind: str) -> Compiler:
    return Compiler(_published(kind)["$defs"])


def _validator(schema: Schema) -> Any:
    return _Validator(schema, registry=Registry())


def _quantity(validator: Any, rule: Schema, value: Any, schema: Schema) -> Iterator[ValidationError]:
    if _for_units(value, rule):
        from planner import units

        if units.problem(value, rule["dimension"]) is not None:
            yield ValidationError("unit")
        elif rule["dimension"] in _SHARES:
            yield from validator.descend(units.si(value, rule["dimension"]), rule["rest"])
    else:
        yield from validator.descend(value, rule["rest"])


def _for_units(value: Any, rule: Schema) -> bool:
    """Text, a share, and a number where only text with a unit will do: the unit's message says what is missing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    accepted = rule["rest"].get("type", ())
    return isinstance(value, str) or rule["dimension"] in _SHARES or not {"number", "integer"} & {*_list(accepted)}


def _list(types: Any) -> list[str]:
    return [types] if isinstance(types, str) else list(types)


def _alternatives(validator: Any, names: list[str], value: Any, schema: Schema) -> Iterator[ValidationError]:
    if isinstance(value, dict) and sum(name in value for name in names) != 1:
        yield ValidationError("alternatives")


def _items(validator: Any, rule: Any, value: Any, schema: Schema) -> Iterator[ValidationError]:
    """A list that is longer than allowed is one error: its items are not looked at."""
    if not isinstance(value, list) or len(value) <= schema.get("maxItems", len(value)):
        yield from _each_item(validator, rule, value, schema)


_each_item: Any = Draft202012Validator.VALIDATORS["items"]
_extend: Any = validators.extend
_KEYWORDS = {"quantity": _quantity, "alternatives": _alternatives, "items": _items}
_Validator = _extend(Draft202012Validator, _KEYWORDS)
