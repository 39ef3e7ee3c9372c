"""The closed loop takes arrays in every argument and coefficient, and gives what it gives one by one."""

from __future__ import annotations

from dataclasses import fields

import pytest

from planner.physics.collectives import LatencyTable
from planner.physics.serving import Engine, Requests, closed_loop, static_batch_s
from planner.physics.step import AttentionCost, CollectiveCost, ExpertCost, StepCost

numpy = pytest.importorskip("numpy")

READS, PRODUCTS = (1e-3, 2e-3, 5e-4), (1e-6, 5e-7, 2e-6)
PROMPTS, OUTPUTS, CONCURRENCY, SEATS = (
    (100.0, 3000.0, 9000.0),
    (1.0, 50.0, 700.0),
    (1.0, 40.0, 300.0),
    (8.0, 64.0, 256.0),
)


def cost(read: object, product: object) -> StepCost:
    return StepCost(
        linear_read_s=read, linear_arithmetic_s=product, head_read_s=1e-4, head_arithmetic_s=1e-7,
        experts=(ExpertCost(read, product, 64.0, 4.0),), attention=(AttentionCost(1e-9, 1e-11, 1e-11, 4096.0),),
        collectives=(CollectiveCost(64.0, 8192.0, LatencyTable.of(((1e4, 1e-5), (1e6, 3e-5), (1e8, 1e-3)))),),
        elementwise_s=1e-7, kernels_s=1e-4, launch_s=2e-3, captured_tokens=512.0, captured_launches=0.4, host_s=3e-4,
        sequence_s=2e-5,
    )  # fmt: skip


def test_arrays_are_many_numbers() -> None:
    array = numpy.array
    requests = Requests(array(PROMPTS), 0.0, array(OUTPUTS))
    engine = Engine(2048.0, array(SEATS), first_token_s=5e-3, first_token_steps=0.5)
    together = closed_loop(cost(array(READS), array(PRODUCTS)), requests, engine, array(CONCURRENCY))
    batch = static_batch_s(cost(array(READS), array(PRODUCTS)), requests, engine, array(SEATS))
    for index in range(3):
        one = Engine(2048.0, SEATS[index], first_token_s=5e-3, first_token_steps=0.5)
        asked = Requests(PROMPTS[index], 0.0, OUTPUTS[index])
        each = cost(READS[index], PRODUCTS[index])
        alone = closed_loop(each, asked, one, CONCURRENCY[index])
        for field in fields(alone):
            value = numpy.broadcast_to(getattr(together, field.name), (3,))[index]
            assert value == pytest.approx(getattr(alone, field.name), rel=1e-12), field.name
        assert batch[index] == pytest.approx(static_batch_s(each, asked, one, SEATS[index]), rel=1e-12)
