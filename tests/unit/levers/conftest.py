"""A model, a card and a plan whose figures are easy to work out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from planner import levers
from planner.domain.accelerator import Accelerator, Derate, Hardware
from planner.domain.engine import EngineSettings
from planner.domain.levers import LeverUse
from planner.domain.model import CacheEntry, FeedForward, LayerGroup, Mixer, Model, RecurrentState, Weight
from planner.domain.plan import Plan
from planner.domain.workload import Length, Load, Objectives, RequestClass, Workload


def attention() -> Mixer:
    """8 KV heads of 128: 2 x 8 x 128 = 2,048 values a token, 4,096 bytes in 16 bits."""
    return Mixer(
        "full-attention", cache=(CacheEntry(2048, shards=8),), heads=32, kv_heads=8, key_dim=128, value_dim=128
    )


def seven_billion(**changes: Any) -> Model:
    """32 layers of 218,750 x 1,000 values: 7e9 parameters, 14 GB; 131,072 cache bytes a token."""
    dense = FeedForward("dense", (Weight("matrix", 218_750, 1_000, shard="row"),), width=1_000)
    group = LayerGroup(tuple(range(32)), (attention(),), (dense,))
    return replace(Model("seven-billion", 1_000, 32_000, (group,), dtype="fp16"), **changes)


def small_draft(parameters: int = 700_000_000, vocabulary: int = 32_000) -> Model:
    """One layer without attention: 0.7e9 parameters, 1.4 GB in 16 bits."""
    dense = FeedForward("dense", (Weight("matrix", parameters // 1_000, 1_000, shard="row"),), width=1_000)
    return Model("draft", 1_000, vocabulary, (LayerGroup((0,), (), (dense,)),), dtype="fp16")


def recurrent() -> Model:
    """Layers that keep a state and no cache."""
    mixer = Mixer("mamba-2", state=RecurrentState(state_elements=1_000), heads=8)
    dense = FeedForward("dense", (Weight("matrix", 1_000, 1_000),), width=1_000)
    return Model("recurrent", 1_000, 32_000, (LayerGroup((0, 1), (mixer,), (dense,)),), dtype="fp16")


def length(mean: float, longest: float | None = None) -> Length:
    """A length with the mean, up to the longest; one number where none is given."""
    longest = mean if longest is None else longest
    return Length({"mean": mean, "p50": mean, "p90": longest, "p95": longest, "p99": longest, "max": longest})


def a_plan(
    model: Model | None = None,
    classes: tuple[RequestClass, ...] = (RequestClass("all", context_tokens=8192),),
    concurrency: float = 16,
    engine: str = "ideal",
    **settings: Any,
) -> Plan:
    """The textbook's card: 80 GB, 1 TB/s, 40 TFLOP/s in 16 bits, everything achieved."""
    card = Accelerator(
        "card",
        "card",
        capacity_bytes=80e9,
        bandwidth_bytes_per_s=1e12,
        arithmetic_flop_per_s={"fp16": 40e12},
        derate=Derate(1.0, 1.0),
    )
    return Plan(
        name="hand-worked",
        model=model or seven_billion(),
        hardware=Hardware((card,)),
        engine=EngineSettings(engine, **settings),
        workload=Workload(Load("concurrency", concurrency=concurrency), classes),
        objectives=Objectives(),
    )


class Worked:
    """The builders above, for tests."""

    model = staticmethod(seven_billion)
    draft = staticmethod(small_draft)
    recurrent = staticmethod(recurrent)
    attention = staticmethod(attention)
    length = staticmethod(length)
    plan = staticmethod(a_plan)


@pytest.fixture
def worked() -> Worked:
    return Worked()


class Context:
    """What binding may ask for; collects faults."""

    def __init__(self, models: Mapping[str, Model]) -> None:
        self.target = seven_billion()
        self.models = models
        self.faults: list[tuple[str, str, str]] = []

    def model(self, reference: Mapping[str, Any], parameter: str = "") -> Model:
        return self.models[reference["ref"]]

    def fault(self, parameter: str, message: str, hint: str) -> None:
        self.faults.append((parameter, message, hint))


@pytest.fixture
def context() -> Context:
    return Context({"small": small_draft(), "target": seven_billion(), "recurrent": recurrent()})


@pytest.fixture
def use(context: Context) -> Callable[..., LeverUse]:
    """A lever as binding makes it."""

    def bound(name: str, **parameters: Any) -> LeverUse:
        module = levers.get(name)
        return LeverUse(name, module.CLASS, parameters=module.bind(parameters, context))

    return bound
