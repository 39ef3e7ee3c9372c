"""The published schemas: a hand-written core, and a branch for every lever and engine module.

`schema/v1/core/<kind>.json` is the root of a kind, `schema/v1/core/parts/*.json` hold the definitions that kinds
share. A published file is its root with every definition that it reaches, so that it stands alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from planner import dimensions, discovery, engines, levers, resources
from planner.schema_partial import PREFIX, partial

Schema = dict[str, Any]
REFERENCE = "#/$defs/"


def folder() -> Path:
    """Where the published schemas of version 1 are."""
    return resources.folder("schema") / "v1"


def kinds() -> tuple[str, ...]:
    """Every schema, by file name: ("accelerator", "base", "deployment", ...)."""
    return tuple(sorted(path.stem for path in (folder() / "core").glob("*.json")))


def file_of(kind: str) -> Path:
    return folder() / f"{kind}.schema.json"


def compose(kind: str) -> Schema:
    """The schema of one kind, with all definitions that it reaches."""
    root: Schema = json.loads((folder() / "core" / f"{kind}.json").read_text(encoding="utf-8"))
    own = root.pop("$defs", {})
    found = {**_definitions(), **own}
    reached = _reached(root, found)
    whole: Schema = _with_patterns({**root, "$defs": {name: reached[name] for name in sorted(reached)}})
    return whole


def text(kind: str) -> str:
    """The published file of one kind, to the byte."""
    return json.dumps(compose(kind), indent=2, ensure_ascii=False) + "\n"


def stale() -> tuple[str, ...]:
    """Names of published files that are not what the core and the modules compose to."""
    return tuple(file_of(kind).name for kind in kinds() if _committed(kind) != text(kind))


def write() -> tuple[str, ...]:
    """Compose the published files; the names of those that changed."""
    changed = stale()
    for kind in kinds():
        if file_of(kind).name in changed:
            file_of(kind).write_text(text(kind), encoding="utf-8", newline="\n")
    return changed


def lever_branch(module: ModuleType, common: Mapping[str, Any]) -> Schema:
    """What an item of the stack may hold when its `use` is this module's NAME; `common` keys are checked apart."""
    return {
        "description": _summary(module),
        "properties": {**dict.fromkeys(common, True), **module.PROPERTIES},
        **({"required": list(module.REQUIRED)} if module.REQUIRED else {}),
        "additionalProperties": False,
    }


def engine_branch(module: ModuleType, common: Mapping[str, Any]) -> Schema:
    """What the engine section may hold when its `name` is this module's NAME."""
    return {
        "description": _summary(module),
        "properties": {**dict.fromkeys(common, True), **engine_properties(module)},
        "additionalProperties": False,
    }


def engine_properties(module: ModuleType) -> Schema:
    """The keys that this engine alone has, its memory fraction included."""
    own: Schema = dict(module.PROPERTIES)
    fraction = module.FRACTION_KEY
    if fraction is not None and fraction not in own:
        own[fraction] = {
            "$ref": f"{REFERENCE}positive_share",
            "description": f"Share of memory that {module.TITLE} takes, under the engine's own name.",
            "examples": [0.9],
        }
    return own


def any_engine_branch(common: Mapping[str, Any]) -> Schema:
    """Where no engine is named, as in a Base: the keys of every engine."""
    own = {key for module in discovery.modules(engines.__name__) for key in engine_properties(module)}
    return {"properties": dict.fromkeys([*common, *sorted(own)], True), "additionalProperties": False}


@cache
def _definitions() -> Schema:
    found: Schema = {}
    for path in sorted((folder() / "core" / "parts").glob("*.json")):
        found.update(json.loads(path.read_text(encoding="utf-8"))["$defs"])
    _add_levers(found)
    _add_engines(found)
    return found


def _add_levers(found: Schema) -> None:
    item = found["lever"]
    item["properties"]["use"] = _choice(item["properties"]["use"], levers.names())
    item.pop("$comment")
    for module in levers.all_levers():
        name = f"lever:{module.NAME}"
        found[name] = lever_branch(module, item["properties"])
        item["allOf"].append(_when("use", module.NAME, name))


def _add_engines(found: Schema) -> None:
    section = found["engine"]
    section["properties"]["name"] = _choice(section["properties"]["name"], engines.names())
    section.pop("$comment")
    for module in discovery.modules(engines.__name__):
        name = f"engine:{module.NAME}"
        found[name] = engine_branch(module, section["properties"])
        section["allOf"].append(_when("name", module.NAME, name))
    found["engine:any"] = any_engine_branch(section["properties"])
    section["allOf"].append({"if": {"not": {"required": ["name"]}}, "then": {"$ref": f"{REFERENCE}engine:any"}})


def _when(key: str, value: str, definition: str) -> Schema:
    return {
        "if": {"properties": {key: {"const": value}}, "required": [key]},
        "then": {"$ref": f"{REFERENCE}{definition}"},
    }


def _choice(schema: Schema, names: tuple[str, ...]) -> Schema:
    return {"enum": list(names), **{key: value for key, value in schema.items() if key not in ("enum", "$comment")}}


def _summary(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().split("\n", 1)[0]


def _reached(root: Schema, found: Schema) -> Schema:
    """The definitions that `root` refers to, and those that they refer to. A missing one is a KeyError: a bug."""
    reached: Schema = {}
    waiting = list(references(root))
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached[name] = partial(name, found) if name.startswith(PREFIX) else found[name]
        waiting += references(reached[name])
    return reached


def _with_patterns(node: Any) -> Any:
    """The pattern of its text beside every `quantity` that may be text, so that editors check units too."""
    if isinstance(node, list):
        return [_with_patterns(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {key: _with_patterns(value) for key, value in node.items()}
    if isinstance(found.get("quantity"), str) and "string" in found.get("type", ()):
        found["pattern"] = dimensions.pattern(found["quantity"])
    return found


def references(node: Any) -> Iterator[str]:
    """Names of the definitions that a schema refers to."""
    if isinstance(node, dict):
        target = node.get("$ref")
        if isinstance(target, str):
            yield target.removeprefix(REFERENCE)
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def _committed(kind: str) -> str:
    path = file_of(kind)
    return path.read_text(encoding="utf-8") if path.is_file() else ""
