"""Serving engines, one module each: what each reserves, what its version turns on, what it prints.

An engine module is found by its file name (`llama-cpp` is `llama_cpp.py`) and has a docstring and:

NAME: str                  as the spec spells it.
FRACTION_KEY: str | None   its own name of the memory fraction (`gpu_memory_utilization`, ...).
PROPERTIES: dict           JSON Schema of keys beyond the common ones.
TITLE: str                 as its authors write it.
CHARGES_DRAFT: bool        False where a draft model is charged by `planner.evaluation` (left out: True).
STARTER: dict[str, str]    what `planner init` writes: `version`, and `weights` to consider (left out: none, and fp8).
STORES_SCORES: bool        False where stored scores are charged by the engine, or not at all (left out: True).

def with_defaults(plan) -> EngineSettings     every key filled; `origins` says "default" where it was not declared.
def default_levers(settings, model=None, compute_capability=None) -> tuple[str, ...]
                           levers that this version turns on by itself; old versions decide by length and card.
def memory(plan, sequences=None) -> MemoryLedger   of a plan whose engine has its defaults and whose levers are
                           applied. sequences: over one replica, in place of what a closed-loop load declares.
def inside_fraction(plan) -> str              one sentence: what of the account is inside its fraction, what outside.
def prefix_block(plan) -> int | None   tokens of a block that prefix caching finds again, None where this version keeps
                           no prefixes of the model (left out: `block_size`, and recurrent layers by the catalogue).
def start_line(plan, ledger) -> str           the line that the engine would print, "" where it prints none.

Modules whose name begins with `_` are what several engines share.
Measured constants live in `planner/catalogue/engines/<name>.yaml`, by version range, with their source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner import discovery
from planner.domain.engine import EngineSettings
from planner.domain.evaluation import Memory
from planner.domain.plan import Plan
from planner.engines import _recurrent_prefixes


@dataclass(frozen=True, slots=True)
class MemoryLedger:
    """Memory of the fullest rank, what decides whether it starts, and how it adds up.

    needed, reserved: {line: bytes} in the order to print them: what the declared load needs, and what the
    engine takes whatever the load. refusal: "" or why it would not start; refusal_values: the numbers, and
    `reason`: weights, free-at-start, no-blocks, one-sequence, state-blocks, allocation or load.
    largest_context: the longest max_model_len of which one sequence would fit, tokens.
    guaranteed_concurrency: sequences of one replica when each reserves its promised maximum; expected_concurrency:
    at what a running sequence holds on average (more may run, and be preempted). Shared prefixes count for neither.
    """

    memory: Memory
    needed: Mapping[str, float] = field(default_factory=dict)
    reserved: Mapping[str, float] = field(default_factory=dict)
    refusal: str = ""
    refusal_values: Mapping[str, Any] = field(default_factory=dict)
    largest_context: int | None = None
    guaranteed_concurrency: float | None = None
    expected_concurrency: float | None = None
    notes: tuple[str, ...] = ()


def names() -> tuple[str, ...]:
    """Every engine, as the spec spells it."""
    return tuple(name.replace("_", "-") for name in discovery.names(__name__))


def get(name: str) -> Any:
    """The module of the engine `name`, or None."""
    return discovery.module(__name__, name)


def figure(settings: EngineSettings, key: str) -> Any:
    """The figure `key` of the engine's catalogue file at the declared version; None where it has none."""
    from planner.engines._catalogue import document, figures

    known = get(settings.name) is not None and settings.name != "ideal"
    if not known or key not in document(settings.name)["figures"]:
        return None
    return figures(settings.name, settings.release)[key]


def prefix_block(plan: Plan) -> int | None:
    """Tokens of a block that the engine finds again in its prefix cache; None where it keeps none of the model."""
    own = getattr(get(plan.engine.name), "prefix_block", None)
    if own is not None:
        found: int | None = own(plan)
        return found
    supported = figure(plan.engine, "recurrent_prefixes") or {}
    kept = _recurrent_prefixes.mode(plan.model, supported)
    return None if kept == "none" else plan.engine.block_size or 1
