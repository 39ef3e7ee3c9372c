"""A weight on one line of a Model document: its name, its shape, and what is not usual about it.

    self_attn.q_proj 8192x8192 column
    self_attn.k_proj 1024x8192 kv heads=8 fp8-block
    mlp.experts.up_proj 256x2048x7168 column active=8
    input_layernorm 8192

One size is a vector, two are outputs x inputs of a product, three are copies x outputs x inputs of experts; another
role is named. Then how it is split, its heads, the copies that a token uses, and its format.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, get_args

from planner.domain import formats
from planner.domain.model import Role, Shard, Weight
from planner.quoting import quoted

LARGEST = 1 << 50
LONGEST = 400
_ROLES: tuple[str, ...] = get_args(Role)
_SHARDS: tuple[str, ...] = get_args(Shard)
_USUAL_ROLE = {1: "vector", 2: "linear", 3: "expert"}
_SHAPE = re.compile(r"[0-9]{1,16}(?:x[0-9]{1,16}){0,2}")
_COUNTS = {"heads": "heads", "active": "active_copies"}
PATTERN = r"^\S+ [0-9]+(x[0-9]+){0,2}( \S+)*$"


def line_of(weight: Weight) -> str:
    """The line that `weight_of` reads back."""
    sizes = (weight.copies, weight.outputs, weight.inputs)
    shape = sizes if weight.copies != 1 else sizes[1:] if weight.inputs != 1 else sizes[1:2]
    words = ["".join(weight.name.split()) or "weight", "x".join(map(str, shape))]
    if weight.role != _USUAL_ROLE[len(shape)]:
        words.append(weight.role)
    if weight.shard != "replicated":
        words.append(weight.shard)
    if weight.heads != 1:
        words.append(f"heads={weight.heads}")
    if weight.active_copies is not None:
        words.append(f"active={weight.active_copies}")
    return " ".join(words if weight.format is None else (*words, weight.format))


@lru_cache(maxsize=4096)
def weight_of(line: str) -> Weight | str:
    """The weight of one line, or what is wrong with it. Equal lines of a document are read once."""
    if len(line) > LONGEST:
        return f"a weight of {len(line)} characters is longer than {LONGEST}"
    name, *words = line.split() or [""]
    if not words or not _SHAPE.fullmatch(words[0]):
        return f"{quoted(line)} is no weight: a name and a shape such as 1024x4096 are expected"
    sizes = [int(size) for size in words[0].split("x")]
    if not all(1 <= size <= LARGEST for size in sizes):
        return f"{quoted(line)}: sizes from 1 to {LARGEST} are expected"
    copies = sizes[0] if len(sizes) == 3 else 1
    outputs, inputs = sizes[0] if len(sizes) == 1 else sizes[-2], 1 if len(sizes) == 1 else sizes[-1]
    given: dict[str, Any] = {"role": _USUAL_ROLE[len(sizes)]}
    for word in words[1:]:
        found = _word(word)
        if found is None:
            known = ", ".join((*_ROLES, *_SHARDS, "heads=N", "active=N"))
            return f"{quoted(line)}: {quoted(word)} is none of {known}, and no number format"
        given.update(found)
    if (given.get("active_copies") or 0) > copies:
        return f"{quoted(line)}: more copies are active than there are"
    return Weight(name, outputs, inputs, copies=copies, **given)


def _word(word: str) -> dict[str, Any] | None:
    if word in _ROLES:
        return {"role": word}
    if word in _SHARDS:
        return {"shard": word}
    key, _, number = word.partition("=")
    if key in _COUNTS and number.isascii() and number.isdigit() and len(number) < 17 and int(number) <= LARGEST:
        smallest = 1 if key == "heads" else 0
        return {_COUNTS[key]: int(number)} if int(number) >= smallest else None
    return {"format": word} if formats.get(word) else None
