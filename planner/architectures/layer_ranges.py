"""Positions of layers as a person writes them: `0-31`, `5-59/6` for every sixth, `0-2, 7, 9`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planner.architectures.fields import MOST_LAYERS

PATTERN = r"^[0-9]+(-[0-9]+(/[0-9]+)?)?(, ?[0-9]+(-[0-9]+(/[0-9]+)?)?)*$"
_RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4})(?:/([0-9]{1,4}))?)?")


def written(layers: Sequence[int]) -> str:
    """The shortest runs from the left: two neighbours or three of one distance make a range."""
    parts: list[str] = []
    start = 0
    while start < len(layers):
        end = _run(layers, start)
        first, last, step = layers[start], layers[end], 1
        if end > start:
            step = layers[start + 1] - first
        if end == start or (step > 1 and end - start < 2):
            parts.append(str(first))
            start += 1
            continue
        parts.append(f"{first}-{last}" + (f"/{step}" if step > 1 else ""))
        start = end + 1
    return ", ".join(parts)


def _run(layers: Sequence[int], start: int) -> int:
    """The last index of the run of equal, positive distances that begins at `start`."""
    end = start + 1
    if end >= len(layers) or layers[end] <= layers[start]:
        return start
    step = layers[end] - layers[start]
    while end + 1 < len(layers) and layers[end + 1] - layers[end] == step:
        end += 1
    return end


def read(text: object) -> tuple[int, ...] | None:
    """The positions, in the order written; None if it is no such text, or names more layers than any model has."""
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str) or len(text) > 6 * MOST_LAYERS:
        return None
    found: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            return None
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if last < first or step < 1 or last >= 2 * MOST_LAYERS:
            return None
        found.extend(range(first, last + 1, step))
        if len(found) > MOST_LAYERS:
            return None
    return tuple(found)
