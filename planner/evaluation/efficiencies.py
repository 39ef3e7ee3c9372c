"""Measured constants of a step: what of its peaks the hardware reaches, what the engine spends beside. By version.

`planner/catalogue/efficiencies/` has one file for each architecture generation (and memory family where a
generation has two) and one for each engine; `default.yaml` stands in for what neither has.
docs/decisions/0020-latency-constants.md says what each rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from planner.domain.accelerator import Accelerator
from planner.domain.plan import Plan
from planner.evaluation.calibrated import multipliers_of
from planner.resources import PACKAGE

FOLDER = PACKAGE / "catalogue" / "efficiencies"
MEMORY_FAMILIES = ("HBM", "GDDR")
FITTED = "fitted"
"""Key of hardware whose constants rest on measurements: of its generation, or of the engine's own there."""
HALF_RATE = "half-rate"
"""Key of cards whose peaks with sums in 32 bits are half of what the chip multiplies: they come close to them."""
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NEWEST = 10**6


@dataclass(frozen=True, slots=True)
class Efficiencies:
    """The figures of one plan. keys: what tables are looked up by, the nearest first.

    multipliers: {figure: factor} of the plan's calibration.
    """

    layers: tuple[Mapping[str, Any], ...]
    release: tuple[int, ...]
    keys: tuple[str, ...]
    multipliers: Mapping[str, float] = field(default_factory=dict)

    @property
    def fitted(self) -> bool:
        return FITTED in self.keys

    def __call__(self, name: str, *keys: str) -> float:
        """The figure `name`; keys: what its table may be keyed by, before the plan's own. KeyError: none has it."""
        for layer in self.layers:
            if name in layer:
                found = _select(self._at_release(layer[name]), (*keys, *self.keys))
                if found is not None:
                    return found * self.multipliers.get(name, 1.0)
        raise KeyError(name)

    def _at_release(self, entry: Any) -> Any:
        """A figure, or one of a list by version: the last whose `from` is reached; no version is the newest."""
        if not isinstance(entry, list):
            return entry["value"]
        reached = (*self.release, _NEWEST) if self.release else (_NEWEST,)
        fitting = [item for item in entry if _numbers(item.get("from", "0")) <= reached]
        return (fitting or entry[:1])[-1]["value"]


def _select(value: Any, keys: tuple[str, ...]) -> float | None:
    """Down through tables by the first key that each has; None where one has none of them."""
    while isinstance(value, Mapping):
        key = next((item for item in (*keys, "default") if item in value), None)
        if key is None:
            return None
        value = value[key]
    return float(value)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in str(version).split("."))


@cache
def _figures(name: str) -> Mapping[str, Any]:
    """The figures of one file; {} where there is no such file."""
    path = FOLDER / f"{name}.yaml"
    if not path.is_file():
        return {}
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    figures: Mapping[str, Any] = content["figures"]
    return figures


def memory_family(card: Accelerator) -> str:
    """`HBM`, `GDDR`, or `unified` (anything else)."""
    return next((family for family in MEMORY_FAMILIES if card.memory_type.startswith(family)), "unified")


def efficiencies_of(plan: Plan) -> Efficiencies:
    """Of a plan's engine, its version and its accelerator: the engine's own figures first, then the hardware's."""
    card, engine = plan.hardware.accelerator, plan.engine
    family = memory_family(card)
    both = f"{card.generation}-{family.lower()}"
    known = _names()
    files = (engine.name, both, card.generation, "default")
    layers = tuple(_figures(name) for name in files if name in known)
    own = layers[0] if engine.name in known else {}
    measured = own.get("measured", {"value": 1})["value"] if own else 0
    fitted = (FITTED,) if measured and ("bandwidth" in own or {both, card.generation} & known) else ()
    halved = (HALF_RATE,) if card.efficiencies.get("fp32_accumulate_rate", 1.0) < 1.0 else ()
    return Efficiencies(layers, engine.release, (*fitted, *halved, both, card.generation, family), multipliers_of(plan))


@cache
def _names() -> frozenset[str]:
    """Names come from specs: only those of files that are there are opened."""
    return frozenset(path.stem for path in FOLDER.glob("*.yaml"))
