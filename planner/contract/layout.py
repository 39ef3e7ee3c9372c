"""Accelerators of a replica against the parallel sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import section, whole

SIZES = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
# Deals the layers to every card that it finds, without being told a size.
_DEALS_BY_ITSELF = "llama-cpp"
# Takes what no other size takes as tensor parallelism.
_TAKES_THE_REST = "ideal"


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    hardware, engine = section(data, "hardware"), section(data, "engine")
    cards = _listed(hardware.get("accelerator"))
    count = whole(hardware.get("count", cards or 1))
    if count is None:
        return
    if cards and cards != count:
        message = f"count is {count}, but the list of accelerators has {cards}"
        yield Problem("count-mismatch", ("hardware", "count"), message, f"Write count: {cards}, or leave it out.")
        return
    yield from _sizes(engine, count, declared="count" in hardware)


def _listed(accelerator: Any) -> int:
    """Cards in a list of unlike ones; 0 where there is no list."""
    if not isinstance(accelerator, list):
        return 0
    return sum((whole(card.get("count", 1)) or 1) if isinstance(card, Mapping) else 1 for card in accelerator)


def _sizes(engine: Mapping[str, Any], count: int, *, declared: bool) -> Iterator[Problem]:
    sizes = {key: whole(engine.get(key, 1)) for key in SIZES}
    given = [key for key in SIZES if key in engine]
    if None in sizes.values() or (engine.get("name") == _DEALS_BY_ITSELF and not given):
        return
    needed = prod(size for size in sizes.values() if size is not None)
    rest_taken = engine.get("name") == _TAKES_THE_REST and SIZES[0] not in engine
    if needed == count or (rest_taken and count % needed == 0):
        return
    layout = " x ".join(str(sizes[key]) for key in SIZES)
    said = f"hardware.count is {count}" if declared else "hardware.count is left out, which is 1"
    message = f"tensor x pipeline x data parallel sizes are {layout} = {needed}, but {said}"
    path = ("engine", given[0]) if given else ("hardware", "count")
    hint = f"Write hardware.count: {needed}" + (f", or sizes whose product is {count}." if count > 1 else ".")
    if not given:
        hint = f"Write engine.tensor_parallel_size: {count}, or another layout of {count} accelerators."
    yield Problem("count-mismatch", path, message, hint, values={"count": count, "parallel_sizes": needed})
