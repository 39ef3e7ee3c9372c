"""Recurrent states of drafted tokens: a block each in vLLM, slots or a buffer of their own in SGLang."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner.domain.levers import Speculation, Techniques
from planner.domain.model import LayerGroup, Mixer, Model, RecurrentState
from planner.domain.plan import Plan
from planner.domain.shards import Parallel
from planner.engines import _cache_layers, _sglang_states
from planner.engines._cache_layers import CacheKind
from planner.engines._cache_pages import pages
from planner.engines._catalogue import figures

GIB = 2**30
MakePlan = Callable[..., Plan]

STATE = RecurrentState(10_240 * 3, 48 * 128 * 128, shards=48)
"""Of Qwen3.5-27B: 48 heads of 128 x 128 in 32 bits, a convolution of 10,240 channels over 4 steps in 16."""


def test_a_drafted_token_widens_the_convolution_and_keeps_a_block() -> None:
    model = Model("m", 1, 1, (LayerGroup(tuple(range(48)), (Mixer("gated-delta-net", state=STATE),)),))
    found = _cache_layers.kinds(model, None, Parallel(tensor=2), 0, {"gated-delta-net": 3})
    # (10,240 x 6 x 2 + 786,432 x 4) / 2 ranks; 16 layers of attention of the model, one of its prediction layer.
    assert found == {CacheKind(state_bytes=1_634_304.0): 48}
    cache = pages({CacheKind(1024.0): 17, **found}, 16, 8192, kept_states="align", drafted=3)
    assert cache.block_tokens == 1600
    # 164 of attention, 3 tables x (running + kept + 3); printed for 5.33 GiB: 300,220 tokens, 1.15x (club-3090, 594).
    assert cache.sequence_blocks(262_144) == 179
    assert int(cache.pool_blocks(5.33 * GIB) / 179 * 262_144) == 300_220


def test_a_state_a_block_has_those_of_the_drafts_on_top() -> None:
    found = {CacheKind(1024.0): 16, CacheKind(state_bytes=1_000_000.0): 16}
    plain, drafted = (pages(found, 16, 8192, kept_states="all", chunk_tokens=256, drafted=n) for n in (0, 2))
    assert drafted.sequence_blocks(8192) == plain.sequence_blocks(8192) + 2


@pytest.mark.parametrize(
    ("version", "sequences", "cache"),
    [
        # 19 GiB, of which 9 for states of 0.1 GiB each, and 4 more of each while 3 drafts are verified.
        ("0.5.6", 9 / 0.5 / 3, 10.0),
        # 10 sequences x 4 x 0.1 GiB before the two share: 7.105 of 15 GiB are for states.
        ("0.5.9", 10.0, 15.0 / 1.9),
        # 0.1 x (1 + 4 / 3) GiB a slot; 10 may run, so that the buffers of the others are left to the cache.
        ("0.5.15", 10.0, 19.0 - 9.0 / (7 / 3) - 10 * 0.4),
    ],
)
def test_shares_of_states_by_version(make_plan: MakePlan, version: str, sequences: float, cache: float) -> None:
    plan = _plan(make_plan, version, 10)
    kinds = {CacheKind(token_bytes=1.0): 1, CacheKind(state_bytes=0.1 * GIB): 1}
    left, running = _sglang_states.split(plan, kinds, 19.0 * GIB, figures("sglang", plan.engine.release))
    assert running == pytest.approx(sequences)
    assert left / GIB == pytest.approx(cache)


@pytest.mark.parametrize(
    ("version", "caching", "sequences"), [("0.5.3", True, 90), ("0.5.9", True, 30), ("0.5.9", False, 90)]
)
def test_kept_prefixes_take_slots(make_plan: MakePlan, version: str, caching: bool, sequences: float) -> None:
    plan = _plan(make_plan, version, 4096)
    plan = replace(plan, techniques=Techniques(), engine=replace(plan.engine, enable_prefix_caching=caching))
    kinds = {CacheKind(token_bytes=1.0): 1, CacheKind(state_bytes=0.1 * GIB): 1}
    left, running = _sglang_states.split(plan, kinds, 19.0 * GIB, figures("sglang", plan.engine.release))
    assert running == pytest.approx(sequences)
    assert left / GIB == pytest.approx(10.0)


def test_speculation_runs_48_sequences(make_plan: MakePlan) -> None:
    assert _plan(make_plan, "0.5.9", None).engine.max_num_seqs == 48


def _plan(make_plan: MakePlan, version: str, sequences: int | None) -> Plan:
    drafts = Techniques(speculation=Speculation("mtp", 3, 2.5))
    return make_plan("llama-3.1-8b", "sglang", 79.15, version=version, techniques=drafts, max_num_seqs=sequences)
