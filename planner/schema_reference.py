"""docs/spec-language.md, the reference of the spec language, from the schemas: `python -m planner.schema_reference`.

Every key, its type and unit, what holds where it is left out, what it means, and an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner import schema_composer as composer
from planner.dimensions import DIMENSIONS, spellings
from planner.schema_text import example_of, left_out_of, meaning, most_of, type_of

PAGE = Path("docs") / "spec-language.md"
REFERENCE = composer.REFERENCE
BRANCHES = ("lever:", "engine:", "partial:")
# What repeats the sections of a Deployment with nothing required.
REPEATED = ("partial:", "overlay")
# Kinds beside Deployment, and the keys that are described there already.
OTHERS = ("base", "project", "accelerator", "model", "measurement", "calibration")
_HEAD = "| Key | Type | Left out | Meaning | Example |\n| --- | --- | --- | --- | --- |"
_INTRODUCTION = """\
# Spec language

Written from the schemas by `python -m planner.schema_reference`; do not edit. A spec is YAML 1.2. Every quantity has
its unit; a key that is not listed is an error, and names the nearest one. `a.b` is key `b` of section `a`, `a[].b` that
of each item of the list `a`, `a.NAME.b` that of each entry of `a`, whatever its name. *required* means: wherever its
section is there.
"""


@dataclass
class Walk:
    """Definitions of one kind, and where each larger one was listed first."""

    definitions: Mapping[str, Any]
    listed: dict[str, str] = field(default_factory=dict)

    def rows(self, schema: Mapping[str, Any], path: str, left_out: str) -> Iterator[str]:
        """One row a key below `schema`, depth first. left_out: what holds of a key that says nothing of its own."""
        required = set(schema.get("required", ()))
        for key, part in schema.get("properties", {}).items():
            if not isinstance(part, Mapping):
                continue
            found, name = self.resolved(part)
            here = f"{path}.{key}" if path else key
            first = self.listed.get(name) if name and self.parts(found) else None
            without = "*required*" if key in required else left_out_of(found, left_out)
            yield _row(here, found, without, first)
            if first is None and not name.startswith(REPEATED):
                if name:
                    self.listed[name] = here
                yield from self.below(found, here, left_out)

    def below(self, schema: Mapping[str, Any], path: str, left_out: str) -> Iterator[str]:
        """Keys of the section itself, of each item of a list, and of the forms that it may take."""
        for part, suffix in self.parts(schema):
            yield from self.rows(part, f"{path}{suffix}", left_out)

    def parts(self, schema: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], str]]:
        """What has keys, and how its path goes on: the section, else its forms, else the items of a list."""
        found = [(schema, "")] if schema.get("properties") else []
        for rule in schema.get("allOf", ()):
            then = rule.get("then", {})
            if "$ref" in then and not _target(then).startswith(BRANCHES):
                found += self.parts(self.resolved(then)[0])
        if isinstance(schema.get("additionalProperties"), Mapping):
            each, _ = self.resolved(schema["additionalProperties"])
            found += [(part, f".NAME{suffix}") for part, suffix in self.parts(each)]
        if not found and isinstance(schema.get("items"), Mapping):
            item, _ = self.resolved(schema["items"])
            found += [(part, f"[]{suffix}") for part, suffix in self.parts(item)]
        return found

    def resolved(self, schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
        """(with what it refers to, its own words over it; the name of what it refers to)."""
        if "$ref" not in schema:
            return schema, ""
        name = _target(schema)
        target, _ = self.resolved(self.definitions[name])
        own = {key: value for key, value in schema.items() if key != "$ref"}
        if "properties" in own and "properties" in target:
            own["properties"] = {**target["properties"], **own["properties"]}
        return {**target, **own}, name


def _target(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).removeprefix(REFERENCE)


def _row(path: str, schema: Mapping[str, Any], left_out: str, first: str | None) -> str:
    key = path.rpartition(".")[2].replace("[]", "")
    kind = f"as `{first}`" if first else type_of(schema)
    cells = (f"`{path}`", kind, left_out, meaning(schema), f"`{key}: {example_of(schema)}`")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def page() -> str:
    """The whole page."""
    parts = [_INTRODUCTION, *_deployment(), *_others(), _units()]
    return "\n".join(parts).rstrip("\n") + "\n"


def _deployment() -> Iterator[str]:
    schema = composer.compose("deployment")
    sections = {_target(part): key for key, part in schema["properties"].items() if "$ref" in part}
    walk = Walk(schema["$defs"], sections)
    yield f"## Deployment\n\n{schema['description']}\n"
    for key, part in schema["properties"].items():
        found, _ = walk.resolved(part)
        required = " *Required.*" if key in schema["required"] else ""
        left_out = "the engine version's own" if key == "engine" else "none"
        rows = list(walk.below(found, key, left_out))
        limit = f" At most{most_of(found).removeprefix(' of at most')}." if most_of(found) else ""
        yield f"### {key}\n\n{meaning(found)}{limit}{required} Example: `{key}: {example_of(found)}`\n"
        if rows:
            yield _table(rows)
        if key in ("engine", "levers"):
            yield from _branches(walk, key.removesuffix("s"))


def _branches(walk: Walk, kind: str) -> Iterator[str]:
    """What each engine or lever has beside the common keys."""
    for name in sorted(walk.definitions):
        if not name.startswith(f"{kind}:") or name.endswith(":any"):
            continue
        branch = walk.definitions[name]
        rows = list(walk.rows(branch, "", "none"))
        title = f"`{'name' if kind == 'engine' else 'use'}: {name.partition(':')[2]}`"
        yield f"#### {title}\n\n{branch['description']}\n"
        yield _table(rows) if rows else "No further key.\n"


def _others() -> Iterator[str]:
    """Kinds that are no deployment, without what a deployment has too."""
    common = set(composer.compose("deployment")["properties"])
    for kind in OTHERS:
        schema = composer.compose(kind)
        walk, own = Walk(schema["$defs"]), schema["properties"]
        kept = {key: part for key, part in own.items() if key not in common or (kind == "model" and key == "model")}
        yield f"## {kind.capitalize()}\n\n{schema['description']}\n"
        shared = ", ".join(f"`{key}`" for key in own if key not in kept)
        yield f"As of a Deployment: {shared}.\n"
        if kept:
            yield _table(walk.rows({**schema, "properties": kept}, "", "none"))


def _units() -> str:
    rows = (
        f"| {name} | {dimension.wants} | {_units_of(name)} | {_least(name)} | `{dimension.example}` |"
        for name, dimension in DIMENSIONS.items()
    )
    head = "| Type | What | Units | Least | Example |\n| --- | --- | --- | --- | --- |"
    return "## Units\n\n" + "\n".join((head, *rows)) + "\n"


def _least(name: str) -> str:
    if DIMENSIONS[name].bare and not DIMENSIONS[name].numerators:
        return "as its key says"
    return "0" if DIMENSIONS[name].zero else "above 0"


def _units_of(name: str) -> str:
    """The first dozen; combinations beyond that follow the same pattern."""
    units = [f"`{unit}`" for unit in spellings(name) if re.match(r"\w|%", unit)]
    return ", ".join(units[:12]) + (", …" if len(units) > 12 else "") if units else "none: a number"


def _table(rows: Iterator[str] | list[str]) -> str:
    return "\n".join((_HEAD, *rows)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
