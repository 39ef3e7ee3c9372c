"""vLLM: a share of the card's memory for everything, the cache in pages.

`gpu_memory_utilization` is a share of the total that the framework reports. Weights, the activation peak of a
profiling step and memory outside the framework's allocator come off it, from 0.21 an estimate of the captured
graphs too; the rest is the pool. The driver's context, communicators set up before profiling, and (to 0.20) the
graphs live in what the share leaves.
"""

from __future__ import annotations

from dataclasses import replace

from planner.domain.engine import EngineSettings
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.domain.shards import Parallel
from planner.engines import (
    MemoryLedger,
    _cache_layers,
    _demand,
    _recurrent_prefixes,
    _vllm_budget,
    _vllm_generation,
    _vllm_layers,
    _weights,
)
from planner.engines._cache_layers import CacheKind
from planner.engines._catalogue import Figures
from planner.engines._defaults import fill
from planner.engines._ledger import Capacity, Taken, gib, ledger
from planner.engines._vllm_budget import batch_defaults
from planner.engines._vllm_refusal import refuse
from planner.physics.paged_cache import PagedCache

NAME = _vllm_generation.NAME
TITLE = "vLLM"
STARTER = {"version": "0.11"}
FRACTION_KEY = "gpu_memory_utilization"
PROPERTIES: dict[str, object] = {
    FRACTION_KEY: {
        "$ref": "#/$defs/positive_share",
        "description": "Share of the card's total memory for weights, activations and cache.",
    },
    "use_v1": {
        "type": "boolean",
        "description": "VLLM_USE_V1: the newer engine generation before 0.8, or the older one up to 0.10.",
    },
}
LONGEST = 2**27


def with_defaults(plan: Plan) -> EngineSettings:
    """Every key filled, as the version, the card and the model decide."""
    declared, card = plan.engine, plan.hardware.accelerator
    chosen = _vllm_generation.of_plan(plan)
    length = declared.max_model_len or plan.model.max_context or 2048
    sequences, tokens = batch_defaults(chosen, plan.hardware.capacity_bytes, card.id)
    sequences = declared.max_num_seqs or sequences
    chunked = _chunks(plan, chosen)
    tokens = min(tokens, sequences * length) if chunked else max(length, tokens, 2048)
    return fill(
        declared,
        max_model_len=length,
        max_num_seqs=sequences,
        max_num_batched_tokens=max(tokens, sequences if chunked else 0),
        block_size=int(chosen["block_size"]),
        memory_fraction=float(chosen["gpu_memory_utilization"]),
        enable_chunked_prefill=chunked,
        enforce_eager=False,
        enable_prefix_caching=bool(chosen["engine_generation"]) and plan.model.state_bytes_per_sequence == 0,
        admission="on-demand",
        max_lora_rank=int(chosen["lora_rank"]) if declared.max_loras else None,
    )


def default_levers(
    settings: EngineSettings, model: Model | None = None, compute_capability: str | None = None
) -> tuple[str, ...]:
    """What this version turns on by itself. model, compute_capability: of the plan, where they are known."""
    chosen = _vllm_generation.chosen_figures(settings, model, compute_capability)
    found = ["continuous-batching", "exact-attention-kernel", "cuda-graphs"]
    if _chunks_by_itself(chosen, settings, model, compute_capability, rocm=False, draft=False):
        found.append("chunked-prefill")
    if chosen["engine_generation"] and not (model and model.state_bytes_per_sequence):
        found.append("prefix-caching")
    return tuple(found)


def memory(plan: Plan, sequences: float | None = None) -> MemoryLedger:
    """The ledger of the tightest pipeline stage. sequences: on one replica, in place of what the load declares."""
    settings, parallel = plan.engine, Parallel.of(plan.engine)
    chosen = _vllm_generation.of_plan(plan)
    weights = _weights.by_stage(plan, parallel, chosen["expert_padding"], rotary_tables=True)
    stages = [_stage(plan, parallel, chosen, index, size) for index, size in enumerate(weights)]
    blocks, taken, paged, found = min(stages, key=lambda item: (item[0], item[1].pool))
    taken = replace(taken, weights_total=_weights.total(plan, parallel, weights))
    if settings.num_gpu_blocks_override:
        blocks = settings.num_gpu_blocks_override
        taken = replace(taken, pool=blocks * paged.block_bytes)
    demand = _demand.of(plan, sequences)
    length = settings.max_model_len or LONGEST
    checked = _checked(plan, parallel, chosen, paged)
    refusal = refuse(plan, chosen, taken, checked, blocks)
    usable = replace(taken, pool=max(0.0, taken.pool))
    capacity = _capacity(plan, paged, blocks, length, demand, found)
    if checked is not paged:
        capacity = replace(capacity, longest=checked.longest(checked.pool_blocks(taken.pool), LONGEST))
    return ledger(plan, usable, capacity, demand, refusal)


def prefix_block(plan: Plan) -> int | None:
    """Tokens of a block that prefix caching finds again; None where this version keeps no prefixes of the model."""
    chosen = _vllm_generation.of_plan(plan)
    if _recurrent_prefixes.mode(plan.model, chosen["recurrent_prefixes"]) == "none":
        return None
    caching = replace(plan, engine=replace(plan.engine, enable_prefix_caching=True))
    kinds = _vllm_layers.of_stage(plan, Parallel.of(plan.engine), chosen, 0)
    return max(group.block_tokens for group in _vllm_layers.paged(caching, chosen, kinds).groups) or None


def start_line(plan: Plan, result: MemoryLedger) -> str:
    """`GPU KV cache size: 459,280 tokens, maximum concurrency for 8,192 tokens per request: 56.06x`."""
    settings = plan.engine
    parallel = Parallel.of(settings)
    length = settings.max_model_len or 0
    chosen = _vllm_generation.of_plan(plan)
    paged = _vllm_layers.paged(plan, chosen, _vllm_layers.of_stage(plan, parallel, chosen, 0))
    blocks = paged.pool_blocks(result.memory.kv_pool_bytes)
    if blocks == 0 or length == 0:
        return f"Available KV cache memory: {gib(result.memory.kv_pool_bytes)}"
    concurrency = blocks / max(1, paged.sequence_blocks(length))
    tokens = blocks // paged.tables * paged.block_tokens
    if chosen["printed_tokens_are_capacity"] or paged.tables == 1:
        tokens = int(concurrency * length) if paged.tables > 1 else blocks * paged.block_tokens
    return (
        f"GPU KV cache size: {tokens:,} tokens. "
        f"Maximum concurrency for {length:,} tokens per request: {concurrency:.2f}x"
    )


def _chunks(plan: Plan, chosen: Figures) -> bool:
    if plan.engine.enable_chunked_prefill is not None or plan.techniques.chunked_prefill:
        return bool(plan.engine.enable_chunked_prefill) or plan.techniques.chunked_prefill
    speculation, card = plan.techniques.speculation, plan.hardware.accelerator
    return _chunks_by_itself(
        chosen,
        plan.engine,
        plan.model,
        card.compute_capability,
        rocm=card.vendor.lower() == "amd",
        draft=speculation is not None,
    )


def _chunks_by_itself(
    chosen: Figures, settings: EngineSettings, model: Model | None, capability: str | None, *, rocm: bool, draft: bool
) -> bool:
    """The newer generation always; the older for long contexts, where kernels and features beside it allow.

    Not with images, latent attention, a window on every layer, adapters, drafts, nor on ROCm.
    Source: vLLM, `EngineArgs._set_default_args_v0`.
    """
    if chosen["engine_generation"]:
        return True
    above = int(chosen["chunked_prefill_above_tokens"])
    length = settings.max_model_len or (model.max_context if model else None) or 0
    if (
        not above
        or length <= above
        or _vllm_generation.number(capability) < float(chosen["chunked_prefill_capability"])
    ):
        return False
    if settings.max_loras or draft or (rocm and chosen["chunked_prefill_not_on_rocm"]):
        return False
    latent = bool(chosen["chunked_prefill_not_latent"]) and model is not None and _latent(model)
    return model is None or not (model.multimodal or latent or _one_window(model))


def _one_window(model: Model) -> bool:
    """Whether every layer that caches keeps a window only, so that the model's config names one."""
    entries = [entry for group in model.groups for mixer in group.mixers for entry in mixer.cache]
    return bool(entries) and all(entry.window is not None for entry in entries)


def _latent(model: Model) -> bool:
    return any("latent" in mixer.kind for group in model.groups for mixer in group.mixers)


def _checked(plan: Plan, parallel: Parallel, chosen: Figures, paged: PagedCache) -> PagedCache:
    """The pages that one sequence is checked with at start: of the stage, or of every stage together."""
    if parallel.pipeline == 1 or not chosen["pipeline_check_whole_model"] or plan.engine.num_gpu_blocks_override:
        return paged
    return _vllm_layers.paged(plan, chosen, _vllm_layers.of_stage(plan, replace(parallel, pipeline=1), chosen, 0))


def _stage(
    plan: Plan, parallel: Parallel, chosen: Figures, index: int, weights: float
) -> tuple[int, Taken, PagedCache, dict[CacheKind, int]]:
    """Blocks of one pipeline stage, what its rank takes, its pages and layers."""
    last = index == parallel.pipeline - 1
    found = _vllm_layers.of_stage(plan, parallel, chosen, index)
    activation = _vllm_budget.activation_bytes(plan, parallel, chosen, last)
    graphs = _vllm_budget.graph_bytes(plan, parallel, chosen)
    inside, start = _vllm_budget.runtime_bytes(plan, parallel, chosen)
    budget = plan.hardware.capacity_bytes * (plan.engine.memory_fraction or 0.0)
    pool = budget - weights - activation - inside
    pool -= (graphs if chosen["graphs_in_budget"] else 0.0) + (start if chosen["context_in_budget"] else 0.0)
    paged = _vllm_layers.paged(plan, chosen, found)
    blocks = paged.pool_blocks(pool)
    return blocks, Taken(weights, 0.0, activation, graphs, inside + start, pool), paged, found


def _capacity(
    plan: Plan, paged: PagedCache, blocks: int, length: int, demand: _demand.Demand, found: dict[CacheKind, int]
) -> Capacity:
    """Tokens that the pool holds, and sequences at the promised and the expected length."""
    ranks = plan.engine.data_parallel_size
    plain = paged.tables == 1 and paged.groups[0].window is None and paged.groups[0].block_tokens > 0
    tokens = float(blocks * paged.block_tokens) if plain else blocks / max(1, paged.sequence_blocks(length)) * length
    promised, expected = max(1, demand.promised_tokens), max(1.0, demand.expected_tokens)
    # Of a plain cache the tokens divide; of unlike layers a sequence's blocks do not grow in step with its length.
    concurrency = tokens / promised if plain else blocks / max(1, paged.sequence_blocks(promised))
    state = _cache_layers.state_bytes(found)
    return Capacity(
        tokens=tokens * ranks,
        concurrency=concurrency * ranks,
        expected=blocks / max(1, paged.sequence_blocks(max(1, round(expected)))) * ranks,
        longest=paged.longest(blocks, LONGEST),
        promised_cache=demand.mean(lambda tokens: _cache_layers.sequence_bytes(found, tokens)) - state,
        promised_state=state,
    )


def inside_fraction(plan: Plan) -> str:
    """By version: the driver's context and the graphs are inside its share or beside it."""
    chosen = _vllm_generation.of_plan(plan)
    inside: list[str] = ["weights", "activations", "communication buffers"]
    outside: list[str] = []
    (inside if chosen["context_in_budget"] else outside).append("the driver's context (runtime)")
    if plan.techniques.cuda_graphs or not plan.engine.enforce_eager:
        (inside if chosen["graphs_in_budget"] else outside).append("CUDA graphs")
    beside = f"; {' and '.join(outside)} {'are' if len(outside) > 1 else 'is'} outside" if outside else ""
    return f"Inside {FRACTION_KEY} are {', '.join(inside)} and the cache pool{beside}."
