"""What levers add to an engine's memory: a draft model's weights, and scores that a kernel stores."""

from __future__ import annotations

from dataclasses import replace

from planner import engines
from planner.domain.plan import Plan
from planner.domain.remembering import by_object
from planner.domain.shards import Parallel, kv_bytes_per_token, prediction_bytes, weight_bytes
from planner.engines import MemoryLedger
from planner.physics.attention_scores import stored_score_bytes

SCORE_BYTES = 2.0


@by_object
def ledger_of(plan: Plan) -> MemoryLedger:
    """What the engine and the levers take of an accelerator's memory, for a configured plan."""
    return charged(plan, engines.get(plan.engine.name).memory(plan))


def charged(plan: Plan, ledger: MemoryLedger) -> MemoryLedger:
    """The ledger with both taken out of the pool (out of what is free, for an engine that reserves none)."""
    draft, draft_cache = _draft(plan)
    scores = _scores(plan)
    extra = draft + scores
    memory = ledger.memory
    if extra == 0.0 and draft_cache == 0.0:
        return ledger
    ideal = plan.engine.name == "ideal"
    own = kv_bytes_per_token(plan.model, plan.cache_format, Parallel.of(plan.engine))
    pool = memory.kv_pool_bytes if ideal else max(memory.kv_pool_bytes - extra, 0.0)
    share = (pool / memory.kv_pool_bytes if memory.kv_pool_bytes else 1.0) * (own / (own + draft_cache) if own else 1.0)
    short = extra > memory.kv_pool_bytes and not ideal
    free = None if memory.free_bytes is None else memory.free_bytes - extra
    changed = replace(
        memory,
        weights_bytes=memory.weights_bytes + draft,
        activation_bytes=memory.activation_bytes + scores,
        free_bytes=free,
        kv_pool_bytes=pool,
        kv_capacity_tokens=_times(memory.kv_capacity_tokens, share),
        max_concurrency=_times(memory.max_concurrency, share),
        fits=memory.fits and not short and not (ideal and free is not None and free < 0),
    )
    added = {name: size for name, size in (("draft model", draft), ("stored attention scores", scores)) if size}
    return replace(
        ledger,
        memory=changed,
        needed={**ledger.needed, **added},
        reserved={**ledger.reserved, **added},
        guaranteed_concurrency=_times(ledger.guaranteed_concurrency, share),
        expected_concurrency=_times(ledger.expected_concurrency, share),
    )


def _times(value: float | None, share: float) -> float | None:
    return None if value is None else value * share


def _draft(plan: Plan) -> tuple[float, float]:
    """Weight bytes of the draft on a rank, and its cache bytes a token, where the engine's module charges neither."""
    speculation = plan.techniques.speculation
    if speculation is None or getattr(engines.get(plan.engine.name), "CHARGES_DRAFT", True):
        return 0.0, 0.0
    parallel = Parallel.of(plan.engine)
    if speculation.draft is not None:
        draft = speculation.draft
        return weight_bytes(draft, parallel), kv_bytes_per_token(draft, plan.cache_format, parallel)
    return (prediction_bytes(plan.model, parallel), 0.0) if speculation.method == "mtp" else (0.0, 0.0)


def _scores(plan: Plan) -> float:
    """One layer's score matrix of the longest prompt, where the kernel stores it."""
    if plan.techniques.exact_attention_kernel or not getattr(engines.get(plan.engine.name), "STORES_SCORES", True):
        return 0.0
    heads = max((mixer.heads for group in plan.model.groups for mixer in group.mixers if mixer.attends), default=0)
    prompts = [item.prompt.maximum for item in plan.workload.classes if item.prompt]
    tokens = max(prompts, default=0.0)
    return float(stored_score_bytes(max(1.0, heads / plan.engine.tensor_parallel_size), tokens, tokens, SCORE_BYTES))
