"""What vLLM caches of each layer, and the pages it cuts that into."""

from __future__ import annotations

from collections.abc import Mapping

from planner.domain.plan import Plan
from planner.domain.shards import Parallel
from planner.engines import _cache_layers, _cache_pages, _recurrent_prefixes
from planner.engines._cache_layers import CacheKind
from planner.engines._catalogue import Figures
from planner.physics.paged_cache import PagedCache


def of_stage(plan: Plan, parallel: Parallel, chosen: Figures, stage: int) -> dict[CacheKind, int]:
    """{kind: layers} of one pipeline stage, with what speculation caches beside the last."""
    widened: Mapping[str, int] = chosen["drafted_convolution_columns"]
    columns = {kind: each * _drafted(plan) for kind, each in widened.items()}
    found = _cache_layers.kinds(plan.model, plan.cache_format, parallel, stage, columns)
    if stage == parallel.pipeline - 1:
        _cache_layers.add_speculation(found, plan, parallel)
    return found


def paged(plan: Plan, chosen: Figures, found: dict[CacheKind, int]) -> PagedCache:
    """The pages of one rank's layers.

    A state has a block more for each drafted token: the one to go on from is known when the drafts are verified.
    """
    settings = plan.engine
    kept = _recurrent_prefixes.mode(plan.model, chosen["recurrent_prefixes"])
    return _cache_pages.pages(
        found,
        settings.block_size or 16,
        settings.max_num_batched_tokens or 2048,
        windows=bool(chosen["hybrid_cache_manager"]),
        kept_states=kept if settings.enable_prefix_caching else "none",
        chunk_tokens=int(chosen["recurrent_chunk_tokens"]),
        drafted=_drafted(plan),
    )


def _drafted(plan: Plan) -> int:
    return plan.techniques.speculation.proposed if plan.techniques.speculation else 0
