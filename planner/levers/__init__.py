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
PENDING: str                   "" or why the effect is not evaluated yet (reported as `effect: null`).

def bind(parameters, context) -> Mapping     raw parameters to SI; context resolves references (LeverContext).
def applies(plan, lever) -> str              "" or why it does nothing here.
def apply(plan, lever) -> Plan               the plan with the lever pulled.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from planner import discovery

if TYPE_CHECKING:
    from planner.domain.levers import LeverClass, LeverUse
    from planner.domain.model import Model
    from planner.domain.plan import Plan


class LeverContext(Protocol):
    """What binding a lever may ask for."""

    def model(self, reference: Mapping[str, Any]) -> Model:
        """The model that `{ref: …}`, `{config: …}` or `{architecture: …}` names; `weights` beside it is applied."""


class LeverModule(Protocol):
    NAME: str
    CLASS: LeverClass
    ORDER: int
    REDUCES: tuple[str, ...]
    EVALUATE: tuple[tuple[str, str], ...]
    PROPERTIES: dict[str, Any]
    REQUIRED: tuple[str, ...]
    EXAMPLE: str
    PENDING: str

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
