"""What one step asks of one rank of one pipeline stage, from the layer groups: bytes, FLOP, messages, kernels.

Nothing here knows how fast anything is: `planner.evaluation.step_cost` divides by achieved rates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from planner.domain import formats
from planner.domain.model import Mixer, Model, Weight
from planner.domain.plan import Plan
from planner.domain.shards import Parallel, entry_bytes, heads_per_rank, stored_bytes, weight_share
from planner.physics.attention import pair_flop

ACTIVATION_BYTES = 2.0
SIXTEEN_BITS = ("bf16", "fp16", "fp32", "tf32")


@dataclass(frozen=True, slots=True)
class Products:
    """Weights of one format: bytes read once, FLOP of one token, what they run in.

    kind: `16`, `fp8`, `int8`, `fp4`, or `weight-only`: stored in fewer bits than they run in.
    """

    kind: str
    compute: str
    read_bytes: float
    flop: float
    parameters: float


@dataclass(frozen=True, slots=True)
class ExpertProducts:
    """Experts of equal layers: `products` for all of the rank's experts, FLOP for those of one token."""

    products: Products
    experts: int
    experts_per_token: int


@dataclass(frozen=True, slots=True)
class AttentionWork:
    """Attention of equal layers: bytes and FLOP for a cached token that a decoding sequence sees, FLOP of a pair."""

    read_bytes: float
    decode_flop: float
    pair_flop: float
    window: float | None


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers of the stage, on average over the stages, by what adds kernels to them."""

    all: float
    expert: float
    latent: float
    normed: float
    recurrent: float


@dataclass(frozen=True, slots=True)
class StepWork:
    """One rank's share of a step. The head is the last stage's; state_bytes are of a sequence.

    elementwise_bytes: activations of a token that norms, rotary embedding and activation functions read and write.
    """

    linear: tuple[Products, ...]
    experts: tuple[ExpertProducts, ...]
    head: Products | None
    attention: tuple[AttentionWork, ...]
    state_bytes: float
    elementwise_bytes: float
    hidden: int
    layers: Layers
    parallel: Parallel


def step_work(plan: Plan, *, windows: bool = True) -> StepWork:
    """Of a configured plan. windows: whether the engine's kernels read no more than a sliding window."""
    model, parallel = plan.model, Parallel.of(plan.engine)
    nominal = plan.engine.name == "ideal"
    available = tuple(plan.hardware.accelerator.arithmetic_flop_per_s)
    reader = _Reader(model, parallel, nominal, available)
    head = model.head or (model.embedding[0] if model.embedding else None)
    return StepWork(
        linear=reader.linear(),
        experts=reader.experts(),
        head=reader.products(head, 1.0, head=True) if head is not None else None,
        attention=_merged(_attention(plan, parallel, windows)),
        state_bytes=_state_bytes(model, parallel),
        elementwise_bytes=_elementwise_bytes(model, parallel),
        hidden=model.hidden,
        layers=_layers(model, parallel.pipeline),
        parallel=parallel,
    )


def format_kind(stored: str, compute: str) -> str:
    """`16`, `fp8`, `int8` or `fp4` by what the products run in; `weight-only` where fewer bits are stored."""
    if compute not in SIXTEEN_BITS:
        return compute
    return "16" if formats.known(stored).bits >= 16 else "weight-only"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Sums weights by format on one rank; layers count 1 / stages."""

    model: Model
    parallel: Parallel
    nominal: bool
    available: tuple[str, ...]

    def products(self, weight: Weight, count: float, *, head: bool = False) -> Products:
        share = self._share(weight)
        stored = weight.format or self.model.dtype
        compute = formats.compute_format(stored, self.model.dtype, self.available)
        flop = 2.0 * weight.active_parameters * share if weight.multiplied or head else 0.0
        size = stored_bytes(weight, self.model, nominal=self.nominal) * share
        values = weight.parameters * share
        return Products(format_kind(stored, compute), compute, count * size, count * flop, count * values)

    def _share(self, weight: Weight) -> float:
        if self.nominal and weight.shard == "vocabulary":  # an ideal engine pads nothing
            return 1.0 / self.parallel.tensor
        return weight_share(weight, self.parallel)

    def linear(self) -> tuple[Products, ...]:
        """All weights that every token uses, by format; final norms are left out of the layers' average."""
        found = [
            self.products(weight, group.count / self.parallel.pipeline)
            for group in self.model.groups
            for weight in group.weights()
            if weight.role != "expert"
        ]
        return _summed([*found, *(self.products(weight, 1.0 / self.parallel.pipeline) for weight in self.model.norms)])

    def experts(self) -> tuple[ExpertProducts, ...]:
        """Experts of all layers that have equally many; what is not multiplied (biases) is read with the rest."""
        found: dict[tuple[int, int], list[Products]] = {}
        for group in self.model.groups:
            for feed_forward in group.feed_forwards:
                weights = [weight for weight in feed_forward.weights if weight.role == "expert"]
                if feed_forward.experts and weights:
                    key = feed_forward.experts, feed_forward.experts_per_token
                    count = group.count / self.parallel.pipeline
                    found.setdefault(key, []).extend(self.products(weight, count) for weight in weights)
        return tuple(
            ExpertProducts(_largest(items), experts, active) for (experts, active), items in sorted(found.items())
        )


def _largest(found: list[Products]) -> Products:
    """All of them as one, by the format that most of the bytes have."""
    main = max(_summed(found), key=lambda item: item.read_bytes)
    return Products(
        main.kind,
        main.compute,
        math.fsum(item.read_bytes for item in found),
        math.fsum(item.flop for item in found),
        math.fsum(item.parameters for item in found),
    )


def _summed(found: list[Products]) -> tuple[Products, ...]:
    sums: dict[tuple[str, str], list[Products]] = {}
    for item in found:
        sums.setdefault((item.kind, item.compute), []).append(item)
    return tuple(
        Products(
            kind,
            compute,
            math.fsum(item.read_bytes for item in items),
            math.fsum(item.flop for item in items),
            math.fsum(item.parameters for item in items),
        )
        for (kind, compute), items in sorted(sums.items())
    )


def _merged(found: Iterator[AttentionWork]) -> tuple[AttentionWork, ...]:
    """Layers that see equally many tokens are one entry."""
    sums: dict[float | None, list[AttentionWork]] = {}
    for item in found:
        sums.setdefault(item.window, []).append(item)
    return tuple(
        AttentionWork(
            math.fsum(item.read_bytes for item in items),
            math.fsum(item.decode_flop for item in items),
            math.fsum(item.pair_flop for item in items),
            window,
        )
        for window, items in sums.items()
    )


def _attention(plan: Plan, parallel: Parallel, windows: bool) -> Iterator[AttentionWork]:
    """One entry for each mixer that attends; caches of one mixer are read together, an index apart."""
    for group in plan.model.groups:
        count = group.count / parallel.pipeline
        for mixer in group.mixers:
            sizes = {"kv": 0.0, "index": 0.0}
            for entry in mixer.cache:
                if entry.role == "cross":
                    continue
                size = entry_bytes(entry, plan.model, plan.cache_format, parallel) / entry.stride
                sizes["index" if entry.role == "index" else "kv"] += size
            if sizes["index"]:
                flop = count * _index_flop(mixer)
                yield AttentionWork(count * sizes["index"], flop, flop, None)
            if mixer.attends or sizes["kv"]:
                yield _attends(mixer, count, sizes["kv"], parallel, windows)


def _attends(mixer: Mixer, count: float, size: float, parallel: Parallel, windows: bool) -> AttentionWork:
    """Without a known number of query heads no arithmetic is charged; the cache is read all the same."""
    heads = max(1.0, mixer.heads / parallel.tensor) if mixer.heads else 0.0
    decode = pair_flop(heads, mixer.decode_key_dim or mixer.key_dim, mixer.decode_value_dim or mixer.value_dim)
    limits = [value for value in (mixer.window if windows else None, mixer.sparse_tokens) if value is not None]
    return AttentionWork(
        count * size,
        count * decode,
        count * pair_flop(heads, mixer.key_dim, mixer.value_dim),
        float(min(limits)) if limits else None,
    )


def _index_flop(mixer: Mixer) -> float:
    """Scores of the indexer: 2 heads x width a pair, not divided over ranks."""
    return 2.0 * mixer.index_heads * mixer.index_dim


def _state_bytes(model: Model, parallel: Parallel) -> float:
    """Recurrent state of a sequence on one rank of a stage, read and written in each step."""
    total = math.fsum(
        count * state.bytes_per_sequence * heads_per_rank(state.shards, parallel.tensor) / state.shards
        for count, state in model.states()
    )
    return 2.0 * total / parallel.pipeline


def _elementwise_bytes(model: Model, parallel: Parallel) -> float:
    """Bytes a token in and out of memory between the products of a stage.

    A layer: 8 hidden (two norms with their residuals), 4 x heads x width (queries and outputs of attention),
    4 x feed-forward width, and 2 x hidden for each expert of the token (sent in, summed). Two bytes a value.
    """
    values = 0.0
    for group in model.groups:
        layer = 8.0 * model.hidden
        for mixer in group.mixers:
            layer += 4.0 * mixer.heads * mixer.value_dim / parallel.tensor
        for feed_forward in group.feed_forwards:
            experts = feed_forward.experts_per_token
            width = feed_forward.width * max(1, experts) + feed_forward.shared_width
            layer += 4.0 * width / parallel.tensor + 2.0 * experts * model.hidden
        values += group.count * layer
    return values * ACTIVATION_BYTES / parallel.pipeline


def _layers(model: Model, pipeline: int) -> Layers:
    def count(which: list[bool]) -> float:
        return sum(group.count for group, yes in zip(model.groups, which, strict=True) if yes) / pipeline

    groups = model.groups
    return Layers(
        all=model.layers / pipeline,
        expert=count([any(item.experts for item in group.feed_forwards) for group in groups]),
        latent=count([any("latent" in mixer.kind for mixer in group.mixers) for group in groups]),
        normed=count([any(mixer.query_key_norm for mixer in group.mixers) for group in groups]),
        recurrent=count([any(mixer.state is not None for mixer in group.mixers) for group in groups]),
    )
