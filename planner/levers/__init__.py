"""Levers, one module each. A module is found by its file name: `quantize-weights` is `quantize_weights.py`.

A lever module has a docstring (what it does, for `planner explain` and the documentation) and:

NAME: str                      as `use:` spells it.
CLASS: LeverClass              output-preserving, output-changing or requirement-changing.
ORDER: int                     place in the planner's own order within its class, ascending.
REDUCES: tuple[str, ...]       of "weight memory", "cache memory", "bandwidth", "arithmetic": what it lowers.
EVALUATE: tuple[tuple[str, str], ...]   obligations: (class of evidence, what to evaluate).
PROPERTIES: dict[str, Any]     JSON Schema of its parameters ("quantity" annotates a unit's dimension).
REQUIRED: tuple[str, ...]      parameters that must be given.
EXAMPLE: str                   a YAML list item.
SIMULATED: bool                (may be left out: False) whether its effect shows only where requests are simulated.
INTERACTS: tuple[tuple[str, str], ...]   (other lever, why the two together are not the sum of each alone); a
                               pair is stated once, by either of its levers, and only where it puts a declared
                               rate, a piece of evidence or an effect in doubt.

def bind(parameters, context) -> Mapping     raw parameters to SI; context resolves references (LeverContext).
def applies(plan, lever) -> str              "" or why it does nothing here.
def apply(plan, lever) -> Plan               the plan with the lever pulled.
def idle(plan) -> Plan                       (may be left out: plan) with the lever pulled where it does nothing, but
                                             the engine keeps memory for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from planner import discovery

if TYPE_CHECKING:
    from planner.domain.levers import LeverClass, LeverUse, MeasuredAcceptance
    from planner.domain.model import Model
    from planner.domain.plan import Plan


class LeverContext(Protocol):
    """What binding a lever may ask for."""

    target: Model
    """The model of the spec, as published."""

    def model(self, reference: Mapping[str, Any], parameter: str = "") -> Model:
        """The model that `{ref: …}`, `{config: …}` or `{architecture: …}` names; `weights` beside it is applied."""

    def acceptance(self) -> Sequence[MeasuredAcceptance]:
        """Every table of measured acceptance of the spec's model."""

    def fault(self, parameter: str, message: str, hint: str) -> None:
        """An error at one parameter (at the item where it is ""): what no schema can say. The spec is invalid."""


class LeverModule(Protocol):
    NAME: str
    CLASS: LeverClass
    ORDER: int
    REDUCES: tuple[str, ...]
    EVALUATE: tuple[tuple[str, str], ...]
    PROPERTIES: dict[str, Any]
    REQUIRED: tuple[str, ...]
    EXAMPLE: str
    INTERACTS: tuple[tuple[str, str], ...]

    def bind(self, parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]: ...
    def applies(self, plan: Plan, lever: LeverUse) -> str: ...
    def apply(self, plan: Plan, lever: LeverUse) -> Plan: ...


def names() -> tuple[str, ...]:
    """Every lever, as `use:` spells it."""
    return tuple(name.replace("_", "-") for name in discovery.names(__name__))


def get(name: str) -> Any:
    """The module of the lever `name`, or None."""
    return discovery.module(__name__, name)


def all_levers() -> tuple[ModuleType, ...]:
    return discovery.modules(__name__)


def pulled(plan: Plan, lever: LeverUse) -> Plan:
    """The plan with the lever pulled, or as it is where the lever does nothing."""
    module = get(lever.use)
    if module.applies(plan, lever):
        idle: Callable[[Plan], Plan] | None = getattr(module, "idle", None)
        return idle(plan) if idle else plan
    found: Plan = module.apply(plan, lever)
    return found


def interactions(used: Collection[str]) -> tuple[tuple[str, str, str], ...]:
    """(lever, other lever, why) for every pair in `used` that interacts, by name."""
    return tuple((name, other, why) for name in sorted(used) for other, why in get(name).INTERACTS if other in used)
