"""TensorRT-LLM: a share of what is free after the engine is loaded goes to the cache.

pool = free_gpu_memory_fraction x (total - context - weights - execution context - decoder buffers). The execution
context holds the activations of `max_num_batched_tokens`, the decoder buffers the logits of `max_num_seqs`. Its
default admission reserves a sequence's maximum, so that nothing is preempted.
"""

from __future__ import annotations

import math
from dataclasses import replace

from planner.domain.engine import EngineSettings
from planner.domain.plan import Plan
from planner.domain.shards import Parallel
from planner.engines import MemoryLedger, _cache_layers, _demand, _weights
from planner.engines._activations import peak_bytes
from planner.engines._cache_layers import CacheKind
from planner.engines._catalogue import Figures, figures
from planner.engines._defaults import fill
from planner.engines._expert_buffers import ExpertKernel
from planner.engines._ledger import Capacity, Refusal, Taken, gib, ledger
from planner.engines._links import fabric
from planner.physics import engine_memory
from planner.physics.engine_memory import GIB, MIB
from planner.physics.paged_cache import longest_length

NAME = "tensorrt-llm"
TITLE = "TensorRT-LLM"
STARTER = {"version": "1.0"}
FRACTION_KEY = "free_gpu_memory_fraction"
PROPERTIES: dict[str, object] = {
    FRACTION_KEY: {
        "$ref": "#/$defs/positive_share",
        "exclusiveMaximum": 1,
        "description": "Share of the memory that is free after loading, for the cache.",
    },
}
LONGEST = 2**27


def with_defaults(plan: Plan) -> EngineSettings:
    """Every key filled, as the build configuration's defaults have it."""
    chosen = figures(NAME, plan.engine.release)
    return fill(
        plan.engine,
        max_model_len=plan.model.max_context or 2048,
        max_num_seqs=int(chosen["max_num_seqs"]),
        max_num_batched_tokens=int(chosen["max_num_batched_tokens"]),
        block_size=int(chosen["tokens_per_block"]),
        memory_fraction=float(chosen["free_gpu_memory_fraction"]),
        enable_chunked_prefill=False,
        enforce_eager=False,
        enable_prefix_caching=True,
        admission="reserve-maximum",
    )


def cache_format(plan: Plan) -> str | None:
    """FP8 where the weights are converted to FP8 or NVFP4: its converter writes an FP8 cache into such checkpoints.

    Source: TensorRT-LLM's published FP8 and NVFP4 runs (perf-overview of v0.17 states it). None: as the model says.
    """
    converted = plan.model.quantization in ("fp8", "nvfp4") and plan.model.cache_format is None
    return "fp8" if converted else None


def default_levers(settings: EngineSettings, *_known: object) -> tuple[str, ...]:
    """In-flight batching, fused attention, graphs and block reuse are on; chunked context is not."""
    return ("continuous-batching", "exact-attention-kernel", "cuda-graphs", "prefix-caching")


def memory(plan: Plan, sequences: float | None = None) -> MemoryLedger:
    """The ledger of the tightest pipeline stage. sequences: on one replica, in place of what the load declares."""
    parallel, chosen = Parallel.of(plan.engine), figures(NAME, plan.engine.release)
    weights = _weights.by_stage(plan, parallel)
    start = chosen.by_ranks(f"start_gib_{fabric(plan.hardware.links)}", parallel.ranks) * GIB
    activation = activation_bytes(plan, parallel, chosen)
    free = plan.hardware.capacity_bytes - plan.hardware.reserved_bytes - start - activation
    demand = _demand.of(plan, sequences)
    promised = max(1, demand.promised_tokens)
    found = []
    for index, size in enumerate(weights):
        kinds = _cache_layers.kinds(plan.model, plan.cache_format, parallel, index)
        if index == parallel.pipeline - 1:
            _cache_layers.add_speculation(kinds, plan, parallel)
        pool = (plan.engine.memory_fraction or 0.0) * (free - size)
        found.append((pool / max(1.0, _cache_layers.sequence_bytes(kinds, promised)), pool, size, kinds))
    _, pool, size, kinds = min(found, key=lambda item: item[0])
    taken = Taken(
        weights=size,
        weights_total=_weights.total(plan, parallel, weights),
        activation=activation,
        graphs=graph_bytes(plan, parallel, chosen),
        runtime=start,
        pool=max(0.0, pool),
    )
    return ledger(plan, taken, _capacity(plan, pool, kinds, demand), demand, _refusal(plan, taken, pool, kinds))


def start_line(plan: Plan, result: MemoryLedger) -> str:
    """`Allocated 122.61 GiB for max tokens in paged KV cache (803520)`."""
    tokens = int((result.memory.kv_capacity_tokens or 0.0) / plan.engine.data_parallel_size)
    return f"Allocated {result.memory.kv_pool_bytes / GIB:.2f} GiB for max tokens in paged KV cache ({tokens})"


def activation_bytes(plan: Plan, parallel: Parallel, chosen: Figures) -> float:
    """Execution context and decoder buffers, both allocated when the engine is loaded."""
    settings = plan.engine
    tokens = settings.max_num_batched_tokens or 8192
    prefill = peak_bytes(plan.model, replace(parallel, data=1), tokens, ExpertKernel("separate"))
    sequences = settings.max_num_seqs or 1
    decoder = engine_memory.sampler_bytes(sequences, plan.model.vocabulary, chosen["decoder_bytes_per_logit"])
    return float(prefill + decoder)


def graph_bytes(plan: Plan, parallel: Parallel, chosen: Figures) -> float:
    if plan.engine.enforce_eager and not plan.techniques.cuda_graphs:
        return 0.0
    sizes = engine_memory.captured_sizes(min(256, plan.engine.max_num_seqs or 1))
    each = float(chosen["graph_mib_per_layer_and_size"]) * MIB
    layers = -(-plan.model.layers // parallel.pipeline)
    return float(engine_memory.graph_bytes(layers, sizes, each, chosen.gib("graph_base_gib")))


def _blocks_bytes(plan: Plan, kinds: dict[CacheKind, int], tokens: float) -> float:
    """Cache and state of one sequence in whole blocks."""
    block = plan.engine.block_size or 32
    return _cache_layers.sequence_bytes(kinds, math.ceil(tokens / block) * block)


def _capacity(plan: Plan, pool: float, kinds: dict[CacheKind, int], demand: _demand.Demand) -> Capacity:
    """Plain caches divide into blocks; with windows or states, as many sequences of the full context as fit."""
    ranks, block = plan.engine.data_parallel_size, plan.engine.block_size or 32
    held, state = max(0.0, pool), _cache_layers.state_bytes(kinds)
    each = _cache_layers.full_token_bytes(kinds)
    length = plan.engine.max_model_len or 1
    if each and all(kind.window is None and not kind.state_bytes for kind in kinds):
        tokens = held // (each * block) * block
        concurrency = tokens / max(1, demand.promised_tokens)
    else:
        tokens = held / max(1.0, _blocks_bytes(plan, kinds, length)) * length
        concurrency = held / max(1.0, _blocks_bytes(plan, kinds, demand.promised_tokens))
    return Capacity(
        tokens=tokens * ranks,
        concurrency=concurrency * ranks,
        expected=held / max(1.0, _blocks_bytes(plan, kinds, max(1.0, demand.expected_tokens))) * ranks,
        longest=longest_length(lambda size: _blocks_bytes(plan, kinds, size) <= held, LONGEST),
        promised_cache=demand.mean(lambda size: _cache_layers.sequence_bytes(kinds, size)) - state,
        promised_state=state,
    )


def _refusal(plan: Plan, taken: Taken, pool: float, kinds: dict[CacheKind, int]) -> Refusal:
    """An engine that does not load, no room for the cache, or less than one sequence of the full context."""
    length, total = plan.engine.max_model_len or 0, plan.hardware.capacity_bytes
    if pool <= 0:
        needed = taken.weights + taken.activation + taken.runtime
        text = f"Weights, execution context and runtime take {gib(needed)} of {gib(total)}: no cache is left."
        return Refusal(text, {"reason": "no-blocks", "needed_bytes": needed, "available_bytes": total})
    needed = _blocks_bytes(plan, kinds, length)
    if needed <= pool:
        return Refusal()
    longest = longest_length(lambda size: _blocks_bytes(plan, kinds, size) <= pool, length)
    text = (
        f"One sequence of {length:,} tokens needs {gib(needed)} of cache, {gib(pool)} is available: "
        f"the longest that fits is {longest:,} tokens."
    )
    values = {"needed_bytes": needed, "available_bytes": pool, "largest_max_model_len": longest}
    return Refusal(text, {"reason": "one-sequence", **values})


def inside_fraction(plan: Plan) -> str:
    """The pool alone: a share of what the rest leaves."""
    return f"{FRACTION_KEY} is the cache pool's share of what weights, activations and runtime leave; they are outside."
