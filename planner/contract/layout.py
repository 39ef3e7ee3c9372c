"""A list of unlike accelerators against `count`. The parallel sizes are the check `engine-world-size`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import section, whole

MOST = 10_000


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    hardware = section(data, "hardware")
    cards = _listed(hardware.get("accelerator"))
    if cards > MOST:
        message = f"the list of accelerators has {cards:,}, more than {MOST:,} in one replica"
        yield Problem("out-of-range", ("hardware", "accelerator"), message, values={"limit": MOST})
        return
    count = whole(hardware.get("count", cards or 1))
    if count is None:
        return
    if cards and cards != count:
        message = f"count is {count}, but the list of accelerators has {cards}"
        yield Problem("count-mismatch", ("hardware", "count"), message, f"Write count: {cards}, or leave it out.")


def _listed(accelerator: Any) -> int:
    """Cards in a list of unlike ones; 0 where there is no list."""
    if not isinstance(accelerator, list):
        return 0
    return sum((whole(card.get("count", 1)) or 1) if isinstance(card, Mapping) else 1 for card in accelerator)
