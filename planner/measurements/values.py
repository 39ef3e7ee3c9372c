"""Numbers and words out of maps that may hold anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from planner.domain.workload import Load
from planner.measurements.content import UnreadableError

MOST_REQUESTS = 10**9
LARGEST = 1e15


def dig(node: Any, *keys: str) -> Any:
    """What is under `keys`, None where there is nothing."""
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def number(node: Any, *keys: str) -> float | None:
    """A positive, finite number under `keys`, or the text of one (thousands with commas); else None."""
    value = dig(node, *keys)
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    found = float(value) if abs(value) <= LARGEST else math.inf
    return found if math.isfinite(found) and found > 0.0 else None


def _parsed(text: str) -> float | None:
    try:
        return float(text.replace(",", "")) if len(text) <= 40 else None
    except ValueError:
        return None


def whole(node: Any, *keys: str) -> int | None:
    """A whole number of at least one."""
    found = number(node, *keys)
    return int(found) if found is not None and found == int(found) and found <= MOST_REQUESTS else None


def word(node: Any, *keys: str) -> str:
    """A short text, "" where there is none."""
    value = dig(node, *keys)
    return value.strip()[:200] if isinstance(value, str) else ""


def hub_name(text: str) -> str:
    """A model's name on the hub, `owner/name`; "" of what may be any other name, or a path."""
    owner, slash, name = text.partition("/")
    plain = all(part and not part.startswith((".", "~", "-")) for part in (owner, name))
    return text if slash and plain and "/" not in name and "\\" not in text else ""


def needed(value: float | None, what: str) -> float:
    """Errors: UnreadableError where there is none."""
    if value is None:
        raise UnreadableError(f"states no {what}")
    return value


def closed_loop(concurrency: float, requests: int | None) -> Load:
    """As many at once as allowed, the first of them together."""
    return Load("concurrency", concurrency=concurrency, requests=requests)


def open_loop(rate: float, requests: int | None, variation: float) -> Load:
    """variation: coefficient of variation of the gaps: 0 constant, 1 Poisson."""
    if variation == 0.0:
        return Load("rate", rate_per_s=rate, process="constant", requests=requests)
    if variation == 1.0:
        return Load("rate", rate_per_s=rate, process="poisson", requests=requests)
    return Load("rate", rate_per_s=rate, process="gamma", cv=variation, requests=requests)
