"""What jsonschema found, in the words of this product: what was read, what is expected, the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.contract.compiling import END, MEASURES
from planner.contract.nearest import suggestion
from planner.contract.problem import Problem
from planner.dimensions import COST, DIMENSIONS
from planner.quoting import plain, quoted
from planner.source.document import NodePath

_TYPES = {
    "object": "a map",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
_VERSIONS = ("version", "revision", "compute_capability")
# Enumerations of names that modules define: an unknown one is a name that does not resolve.
_NAMED = {("engine", "name"): ("unknown-engine", "engine"), ("levers", "use"): ("unknown-lever", "lever")}


def problems(error: Any, at: NodePath) -> Iterator[Problem]:
    """The problems of one error; `at` is where the validated part stands in the document."""
    path: NodePath = (*at, *error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        yield _bad_name(error, path)
        return
    make = _WORDS.get(error.validator, _other)
    yield from make(error, path)


def _unknown_key(error: Any, path: NodePath) -> Iterator[Problem]:
    known = list(error.schema.get("properties", {}))
    for key in sorted(set(error.instance) - set(known)):
        where = quoted(str(path[-1])) if path and isinstance(path[-1], str) else "this map" if path else "the document"
        message = f"unknown key {quoted(key)} in {where}"
        yield Problem("unknown-key", (*path, key), message, suggestion(key, known, "Known keys"), at_key=True)


def _missing_key(error: Any, path: NodePath) -> Iterator[Problem]:
    # jsonschema reports each missing key by itself, without saying which; its message starts with it.
    key = next(name for name in error.validator_value if error.message.startswith(repr(name)))
    about = error.schema.get("properties", {}).get(key)
    hint = about.get("description", "") if isinstance(about, dict) else ""
    where = quoted(str(path[-1])) if path and isinstance(path[-1], str) else "it" if path else "the document"
    yield Problem("missing-key", path, f"{where} lacks the key {quoted(key)}", hint, True, {"key": key})


def _wrong_type(error: Any, path: NodePath) -> Iterator[Problem]:
    wanted = [error.validator_value] if isinstance(error.validator_value, str) else list(error.validator_value)
    expected = " or ".join(_TYPES[name] for name in wanted if name in _TYPES)
    value = error.instance
    if path and path[-1] in _VERSIONS and isinstance(value, int | float) and not isinstance(value, bool):
        message = f"{quoted(str(path[-1]))} was read as the number {quoted(value)}: 0.10 and 0.1 would be the same"
        hint = f'Put it in quotes, as it was published: {path[-1]}: "{plain(value)}".'
        yield Problem("version-not-text", path, message, hint)
        return
    dimension = error.schema.get(MEASURES) if "string" in wanted else None
    if dimension is not None:
        kinds = [_measure(dimension), *(_TYPES[name] for name in wanted if name in ("object", "array"))]
        expected = " or ".join(kinds)
    read = "nothing" if value is None else quoted(value)
    yield Problem("wrong-type", path, f"read {read}; expected {expected}", _about(error.schema))


def _measure(dimension: str) -> str:
    """ "an amount of memory, such as `80 GB`" """
    parts = [DIMENSIONS[name] for name in (COST if dimension == "cost" else (dimension,))]
    return f"{parts[0].wants}, such as {' or '.join(quoted(part.example) for part in parts)}"


def _not_allowed(error: Any, path: NodePath) -> Iterator[Problem]:
    allowed = [value for value in error.validator_value if value is not None]
    names = [value for value in allowed if isinstance(value, str)]
    named = _NAMED.get((str(path[0]), str(path[-1]))) if path else None
    if named and len(path) in (2, 3) and isinstance(error.instance, str):
        message = f"there is no {named[1]} {quoted(error.instance)}"
        yield Problem(named[0], path, message, suggestion(error.instance, names, f"Known {named[1]}s"))
        return
    expected = ", ".join(quoted(value) for value in allowed)
    message = f"read {quoted(error.instance)}; expected {'one of ' if len(allowed) > 1 else ''}{expected}"
    hint = suggestion(error.instance, names, "") if names else ""
    yield Problem("not-allowed-value", path, message, hint if hint.startswith("Did") else _about(error.schema))


def _constant(error: Any, path: NodePath) -> Iterator[Problem]:
    message = f"read {quoted(error.instance)}; expected {quoted(error.validator_value)}"
    yield Problem("not-allowed-value", path, message, _about(error.schema))


def _pattern(error: Any, path: NodePath) -> Iterator[Problem]:
    example = next((value for value in error.schema.get("examples", ()) if isinstance(value, str)), None)
    wanted = f"text such as {quoted(example)}" if example else f"text like {_shown(error)}"
    message = f"read {quoted(error.instance)}; expected {wanted}"
    yield Problem("not-allowed-value", path, message, _about(error.schema))


def _shown(error: Any) -> str:
    """The pattern as the schema has it."""
    pattern: str = error.validator_value
    return quoted(f"{pattern.removesuffix(END)}$" if pattern.endswith(END) else pattern)


def _range(word: str) -> Callable[[Any, NodePath], Iterator[Problem]]:
    def make(error: Any, path: NodePath) -> Iterator[Problem]:
        message = f"read {quoted(error.instance)}; expected {word} {error.validator_value:g}"
        yield Problem("out-of-range", path, message, _about(error.schema), values={"limit": error.validator_value})

    return make


def _empty(error: Any, path: NodePath) -> Iterator[Problem]:
    what = "an empty list" if error.validator == "minItems" else "an empty map"
    hint = suggestion(None, error.schema.get("properties", {}), "Known keys")
    yield Problem("empty", path, f"read {what}; expected at least one entry", hint or _about(error.schema))


def _too_long(error: Any, path: NodePath) -> Iterator[Problem]:
    message = f"read {len(error.instance)} of at most {error.validator_value} {_COUNTED[error.validator]}"
    yield Problem("out-of-range", path, message, _about(error.schema), values={"limit": error.validator_value})


def _blank(error: Any, path: NodePath) -> Iterator[Problem]:
    yield Problem("empty", path, "read empty text; expected some", _about(error.schema))


def _unit(error: Any, path: NodePath) -> Iterator[Problem]:
    from planner import units

    found = units.problem(error.instance, error.validator_value["dimension"])
    if found is not None:
        yield Problem("unit-error", path, found[0], found[1])


def _alternatives(error: Any, path: NodePath) -> Iterator[Problem]:
    names: list[str] = error.validator_value
    given = [name for name in names if name in error.instance]
    choice = ", ".join(names[:-1]) + f" and {names[-1]}"
    where = quoted(str(path[-1])) if path and isinstance(path[-1], str) else "it"
    if not given:
        yield Problem("missing-key", path, f"{where} has none of {choice}", f"Give one of {choice}.", True)
    for name in given[1:]:
        message = f"{quoted(given[0])} and {quoted(name)} exclude each other in {where}"
        yield Problem("conflicting-keys", (*path, name), message, f"Keep one of {choice}.", at_key=True)


def _without_partner(error: Any, path: NodePath) -> Iterator[Problem]:
    rules: Mapping[str, list[str]] = error.validator_value
    # jsonschema reports each by itself, without saying which; the message names both.
    for key, partners in rules.items():
        for partner in partners:
            if error.message == f"{partner!r} is a dependency of {key!r}":
                message = f"{quoted(key)} means nothing without {quoted(partner)}"
                others = [name for name in _choices(error.schema) if name in error.instance]
                hint = f"Remove {quoted(key)}{'' if others else f', or add {quoted(partner)}'}."
                message += f", and this has {quoted(others[0])}" if others else ""
                yield Problem("misplaced-key", (*path, key), message, hint, at_key=True)


def _choices(schema: Mapping[str, Any]) -> list[str]:
    """Keys of which one map has exactly one."""
    named: list[str] = schema.get("alternatives", [])
    return named


def _bad_name(error: Any, path: NodePath) -> Problem:
    message = f"{quoted(error.instance)} cannot be a key here; expected text like {_shown(error)}"
    return Problem("unknown-key", (*path, error.instance), message, "", at_key=True)


def _misplaced(error: Any, path: NodePath) -> Iterator[Problem]:
    yield Problem("misplaced-key", path, f"{quoted(str(path[-1]))} has no meaning here", "Remove it.", at_key=True)


def _other(error: Any, path: NodePath) -> Iterator[Problem]:
    yield Problem(
        "not-allowed-value", path, f"read {quoted(error.instance)}, which is not allowed", _about(error.schema)
    )


def _about(schema: Any) -> str:
    """What the schema says about a value, with an example."""
    if not isinstance(schema, dict):
        return ""
    example = next(iter(schema.get("examples", ())), None)
    told = schema.get("description", "")
    if isinstance(example, str | int | float) and not isinstance(example, bool):
        return f"{told} For example: {quoted(example)}.".strip()
    return str(told)


_COUNTED = {"maxItems": "items", "maxLength": "characters", "maxProperties": "keys"}
_WORDS: dict[str, Callable[[Any, NodePath], Iterator[Problem]]] = {
    "additionalProperties": _unknown_key,
    "required": _missing_key,
    "type": _wrong_type,
    "enum": _not_allowed,
    "const": _constant,
    "pattern": _pattern,
    "minimum": _range("at least"),
    "exclusiveMinimum": _range("more than"),
    "maximum": _range("at most"),
    "exclusiveMaximum": _range("less than"),
    "minItems": _empty,
    "minProperties": _empty,
    "minLength": _blank,
    "maxItems": _too_long,
    "maxLength": _too_long,
    "maxProperties": _too_long,
    "quantity": _unit,
    "alternatives": _alternatives,
    "not": _misplaced,
    "dependentRequired": _without_partner,
}
