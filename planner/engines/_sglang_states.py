"""SGLang's pool of recurrent states, beside the cache's: how the two share, and how many sequences it holds."""

from __future__ import annotations

from planner.domain.plan import Plan
from planner.engines import _cache_layers
from planner.engines._cache_layers import CacheKind
from planner.engines._catalogue import Figures


def split(plan: Plan, kinds: dict[CacheKind, int], pool: float, chosen: Figures) -> tuple[float, float]:
    """(bytes of the pool left for the cache, sequences whose states the rest holds).

    states = rest r/(1 + r), r = mamba_full_memory_ratio. A sequence takes several slots where prefixes are kept. The
    state after each drafted token is kept until the drafts are verified: of every slot, of every sequence that may run
    (before the two share), or of every sequence that has slots, by version. Source: SGLang, `handle_max_mamba_cache`.
    """
    state = _cache_layers.state_bytes(kinds)
    if not state:
        return pool, float("inf")
    speculation = plan.techniques.speculation
    drafted = speculation.proposed + 1 if speculation else 0
    kept, slots_each = chosen["draft_states"], _slots_each(plan, chosen)
    running = float(plan.engine.max_num_seqs or 1)
    rest = max(0.0, pool - (state * running * drafted if kept == "running" else 0.0))
    ratio = float(chosen["state_ratio"])
    budget = rest * ratio / (1.0 + ratio) if any(kind.token_bytes for kind in kinds) else rest
    beside = {"slot": float(drafted), "sequence": drafted / slots_each}.get(kept, 0.0)
    slots = budget / (state * (1.0 + beside))
    sequences = min(slots / slots_each, running if drafted else float("inf"))
    held = state * drafted * sequences if kept == "sequence" else slots * state * beside
    return max(0.0, rest - slots * state - held), sequences


def _slots_each(plan: Plan, chosen: Figures) -> float:
    return float(chosen["state_slots_per_sequence"]) if plan.engine.enable_prefix_caching else 1.0
