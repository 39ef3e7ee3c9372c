"""SGLang: a share of the card for weights and cache, the rest left for activations and graphs.

`mem_fraction_static` is a share of what is free before the weights are loaded: pool = free x fraction - weights.
Activations and graphs live in the rest and are not profiled. A share below what the weights take is refused.
Recurrent state gets a pool of its own, in proportion to the cache; window layers a smaller one. kv_pool_bytes is
all of them.
"""

from __future__ import annotations

from dataclasses import replace

from planner.domain.engine import EngineSettings
from planner.domain.plan import Plan
from planner.domain.shards import Parallel
from planner.engines import MemoryLedger, _cache_layers, _demand, _sglang_share, _sglang_states, _weights
from planner.engines._activations import peak_bytes
from planner.engines._cache_layers import CacheKind
from planner.engines._catalogue import Figures, figures
from planner.engines._defaults import fill
from planner.engines._expert_buffers import ExpertKernel
from planner.engines._ledger import Capacity, Refusal, Taken, gib, ledger
from planner.engines._links import fabric
from planner.physics import engine_memory
from planner.physics.engine_memory import GIB, MIB

NAME = "sglang"
TITLE = "SGLang"
STARTER = {"version": "0.5"}
FRACTION_KEY = "mem_fraction_static"
PROPERTIES: dict[str, object] = {
    FRACTION_KEY: {
        "$ref": "#/$defs/positive_share",
        "exclusiveMaximum": 1,
        "description": "Share of the memory that is free before loading, for weights and cache.",
    },
}
LONGEST = 2**27


def with_defaults(plan: Plan) -> EngineSettings:
    """Every key filled, by the card, the ranks and the version."""
    declared, chosen = plan.engine, figures(NAME, plan.engine.release)
    batched = declared.max_num_batched_tokens or _sglang_share.by_card(plan, chosen)[0]
    rows = "longest_pool_rows_with_drafts" if plan.techniques.speculation else "longest_pool_rows"
    return fill(
        declared,
        max_model_len=plan.model.max_context or 2048,
        max_num_seqs=int(chosen[rows]),
        max_num_batched_tokens=batched,
        block_size=1,
        memory_fraction=_sglang_share.default_share(plan, chosen),
        enable_chunked_prefill=True,
        enforce_eager=False,
        enable_prefix_caching=True,
        admission="on-demand",
    )


def default_levers(settings: EngineSettings, *_known: object) -> tuple[str, ...]:
    """Radix cache, chunked prefill and graphs are on in every version."""
    return ("continuous-batching", "exact-attention-kernel", "cuda-graphs", "chunked-prefill", "prefix-caching")


def memory(plan: Plan, sequences: float | None = None) -> MemoryLedger:
    """The ledger of the tightest pipeline stage. sequences: on one replica, in place of what the load declares."""
    parallel, chosen = Parallel.of(plan.engine), figures(NAME, plan.engine.release)
    weights = _weights.by_stage(plan, parallel)
    start = chosen.by_ranks(f"start_gib_{fabric(plan.hardware.links)}", parallel.ranks) * GIB
    before = plan.hardware.capacity_bytes - start - plan.hardware.reserved_bytes
    static = before * (plan.engine.memory_fraction or 0.0)
    found = []
    for index, size in enumerate(weights):
        kinds = _cache_layers.kinds(plan.model, plan.cache_format, parallel, index)
        if index == parallel.pipeline - 1:
            _cache_layers.add_speculation(kinds, plan, parallel)
        cache, states = _sglang_states.split(plan, kinds, static - size, chosen)
        found.append((tokens_of(kinds, cache, chosen), size, kinds, states))
    tokens, size, kinds, states = min(found, key=lambda item: item[0])
    taken = Taken(
        weights=size,
        weights_total=_weights.total(plan, parallel, weights),
        activation=_activation(plan, parallel, chosen),
        graphs=_graphs(plan, parallel, chosen),
        runtime=start,
        pool=max(0.0, static - size),
    )
    demand = _demand.of(plan, sequences)
    refusal = _refusal(plan, taken, static, before, tokens, kinds)
    return ledger(plan, taken, _capacity(plan, tokens, kinds, states, demand), demand, refusal)


def start_line(plan: Plan, result: MemoryLedger) -> str:
    """`KV Cache is allocated. #tokens: 367404`: it prints GB and means GiB."""
    tokens = int((result.memory.kv_capacity_tokens or 0.0) / plan.engine.data_parallel_size)
    return f"KV Cache is allocated. #tokens: {tokens}, size: {result.memory.kv_pool_bytes / GIB:.2f} GB"


def tokens_of(kinds: dict[CacheKind, int], cache: float, chosen: Figures) -> float:
    """Tokens of the full pool: cache / (full bytes + ratio x window bytes), where some layers keep a window.

    Source: swa_full_tokens_ratio.
    """
    full = sum(count * kind.token_bytes for kind, count in kinds.items() if kind.window is None)
    window = sum(count * kind.token_bytes for kind, count in kinds.items() if kind.window is not None)
    each = full + (float(chosen["window_ratio"]) if full else 1.0) * window
    return max(0.0, float(int(cache / each))) if each else 0.0


def _activation(plan: Plan, parallel: Parallel, chosen: Figures) -> float:
    tokens = plan.engine.max_num_batched_tokens or 2048
    prefill = peak_bytes(plan.model, replace(parallel, data=1), tokens, ExpertKernel("separate"))
    running = min(plan.engine.max_num_seqs or 1, 512)
    sampler = engine_memory.sampler_bytes(running, plan.model.vocabulary, chosen["sampler_bytes_per_logit"])
    return float(max(prefill, sampler))


def _graphs(plan: Plan, parallel: Parallel, chosen: Figures) -> float:
    if plan.engine.enforce_eager and not plan.techniques.cuda_graphs:
        return 0.0
    largest = min(_sglang_share.by_card(plan, chosen)[1], plan.engine.max_num_seqs or 1)
    layers = -(-plan.model.layers // parallel.pipeline)
    each = float(chosen["graph_mib_per_layer_and_size"]) * MIB
    sizes = engine_memory.captured_sizes(largest)
    return float(engine_memory.graph_bytes(layers, sizes, each, chosen.gib("graph_base_gib")))


def _capacity(
    plan: Plan, tokens: float, kinds: dict[CacheKind, int], states: float, demand: _demand.Demand
) -> Capacity:
    ranks, state = plan.engine.data_parallel_size, _cache_layers.state_bytes(kinds)
    promised, expected = max(1, demand.promised_tokens), max(1.0, demand.expected_tokens)
    return Capacity(
        tokens=tokens * ranks,
        concurrency=min(tokens / promised, states) * ranks,
        expected=min(tokens / expected, states) * ranks,
        longest=min(int(tokens), LONGEST),
        promised_cache=demand.mean(lambda length: _cache_layers.sequence_bytes(kinds, length)) - state,
        promised_state=state,
    )


def _refusal(
    plan: Plan, taken: Taken, static: float, before: float, tokens: float, kinds: dict[CacheKind, int]
) -> Refusal:
    """Weights above the static share; a context that the pool does not hold.

    A context that nobody declared is no promise: there the longest request counts (`context-beyond-cache` says so).
    """
    length = plan.engine.max_model_len or 0
    if plan.engine.origins.get("max_model_len") == "default":
        length = min(length, max(1, _demand.of(plan).promised_tokens))
    if taken.weights >= static:
        smallest = taken.weights / before if before > 0 else float("inf")
        text = f"Weights of {gib(taken.weights)} are above the static share of {gib(static)}"
        text += f": it takes a fraction of {smallest:.3f}." if smallest < 1 else ", and above the card."
        values = {"weights_bytes": taken.weights, "static_bytes": static, "smallest_fraction": smallest}
        return Refusal(text, {"reason": "weights", **values})
    if tokens < length:
        needed = _cache_layers.sequence_bytes(kinds, length)
        text = (
            f"One sequence of {length:,} tokens needs {gib(needed)} of cache; the pool holds {int(tokens):,} tokens: "
            "SGLang starts, and refuses longer requests."
        )
        values = {"needed_bytes": needed, "available_bytes": taken.pool, "largest_max_model_len": int(tokens)}
        return Refusal(text, {"reason": "one-sequence", **values})
    return Refusal()


def inside_fraction(plan: Plan) -> str:
    """The static part alone."""
    return f"Inside {FRACTION_KEY} are weights and the cache pool; activations, CUDA graphs and runtime are outside."
