"""The layers of one pipeline stage by what they cache: bytes a token on one rank, window, recurrent state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from planner.domain.model import LayerGroup, Mixer, Model
from planner.domain.plan import Plan
from planner.domain.shards import Parallel, entry_bytes, heads_per_rank, stages


@dataclass(frozen=True, slots=True)
class CacheKind:
    """Layers that cache alike. token_bytes: one token of one layer on one rank; state_bytes: one sequence."""

    token_bytes: float = 0.0
    window: int | None = None
    state_bytes: float = 0.0


def kinds(
    plan_model: Model,
    cache_format: str | None,
    parallel: Parallel,
    stage: int,
    columns: Mapping[str, int] | None = None,
) -> dict[CacheKind, int]:
    """{kind: layers} of the stage's layers; cross-attention, which keeps no tokens of the sequence, left out.

    Entries that the same layers keep with the same window count as one (a latent and its index keys).
    columns: {mixer kind: steps more that its convolution keeps}.
    """
    inside = stages(plan_model.layers, parallel.pipeline)[stage]
    found: dict[CacheKind, int] = {}
    for group in plan_model.groups:
        count = sum(1 for layer in group.layers if layer in inside)
        _add(found, group, count, plan_model, cache_format, parallel, columns or {})
    return found


def add_speculation(found: dict[CacheKind, int], plan: Plan, parallel: Parallel) -> None:
    """Adds what speculation caches beside the model: a draft model's layers, or the prediction layers."""
    speculation = plan.techniques.speculation
    if speculation is None:
        return
    draft = speculation.draft
    if isinstance(draft, Model):
        for kind, count in kinds(draft, plan.cache_format, Parallel(tensor=parallel.tensor), 0).items():
            found[kind] = found.get(kind, 0) + count
    elif speculation.method == "mtp":
        for group in plan.model.prediction_layers:
            _add(found, group, len(group.layers), plan.model, plan.cache_format, parallel, {})


def _add(
    found: dict[CacheKind, int],
    group: LayerGroup,
    count: int,
    model: Model,
    cache_format: str | None,
    parallel: Parallel,
    columns: Mapping[str, int],
) -> None:
    if count == 0:
        return
    for mixer in group.mixers:
        for kind in _of_mixer(mixer, model, cache_format, parallel, columns.get(mixer.kind, 0)):
            found[kind] = found.get(kind, 0) + count


def _of_mixer(
    mixer: Mixer, model: Model, cache_format: str | None, parallel: Parallel, columns: int
) -> Iterable[CacheKind]:
    by_window: dict[int | None, float] = {}
    for entry in mixer.cache:
        if entry.role == "cross":
            continue
        size = entry_bytes(entry, model, cache_format, parallel) / entry.stride
        by_window[entry.window] = by_window.get(entry.window, 0.0) + size
    for window, size in by_window.items():
        yield CacheKind(token_bytes=size, window=window)
    if mixer.state is not None:
        share = heads_per_rank(mixer.state.shards, parallel.tensor) / mixer.state.shards
        yield CacheKind(state_bytes=(mixer.state.bytes_per_sequence + columns * mixer.state.column_bytes) * share)


def full_token_bytes(found: dict[CacheKind, int]) -> float:
    """Bytes of one more token over all layers, windows ignored: what an engine without window support keeps."""
    return sum(count * kind.token_bytes for kind, count in found.items())


def state_bytes(found: dict[CacheKind, int]) -> float:
    return sum(count * kind.state_bytes for kind, count in found.items())


def sequence_bytes(found: dict[CacheKind, int], tokens: float) -> float:
    """Cache and state of one sequence: Σ layers token_bytes x min(tokens, window) + state."""
    cached = sum(
        count * kind.token_bytes * (tokens if kind.window is None else min(tokens, kind.window))
        for kind, count in found.items()
    )
    return cached + state_bytes(found)
