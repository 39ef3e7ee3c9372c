"""Buffers of fused expert kernels in one step: they grow with the tokens of every rank that shares the experts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from planner.domain import formats
from planner.domain.model import FeedForward, Model
from planner.domain.shards import Parallel
from planner.physics import engine_memory

_INPUT_BYTES = {"fp8": 1.0, "int8": 1.0, "fp4": 0.5}
Layout = Literal["separate", "shared", "double"]


@dataclass(frozen=True, slots=True)
class ExpertKernel:
    """How a version runs its experts.

    layout: of the two products and the activation between them: each a buffer of its own; the first product and the
    output in one; two buffers, each wide enough for hidden. chunk_tokens: tokens that one call takes, 0: all
    (as do kernels of weights alone).
    available: what the card computes in, which decides whether inputs are quantised.
    """

    layout: Layout
    chunk_tokens: int = 0
    available: Collection[str] = ()


def peak_bytes(item: FeedForward, model: Model, parallel: Parallel, tokens: int, kernel: ExpertKernel) -> float:
    """Peak of one layer of experts on one rank.

    Data-parallel ranks gather each other's tokens before the experts and reduce their outputs after, so a rank's
    buffers hold the tokens of all. A buffer has a row for each expert of a token, whichever rank holds the expert.
    """
    gathered = tokens * parallel.data
    chunk = min(gathered, (0 if _weights_only(item, model, kernel) else kernel.chunk_tokens) or gathered)
    width = expert_width(item, parallel)
    values = _row_values(model.hidden, width, kernel.layout) * item.experts_per_token
    quantized = _INPUT_BYTES.get(_compute(item, model, kernel), 0.0) * (model.hidden + width * item.experts_per_token)
    return float(
        engine_memory.expert_peak_bytes(
            tokens=tokens,
            gathered_tokens=gathered if parallel.data > 1 else 0,
            chunk_tokens=chunk,
            hidden=model.hidden,
            buffer_values=values,
            quantized_bytes=quantized * (2 if chunk < gathered else 1),
        )
    )


def expert_width(item: FeedForward, parallel: Parallel) -> float:
    """Columns of one expert on one rank: whole where experts are spread, else split over tensor x data ranks."""
    return item.width / max(1, parallel.tensor * parallel.data // max(1, parallel.expert))


def _row_values(hidden: int, width: float, layout: Layout) -> float:
    """Values of one expert of one token: gate and up (2 width), their product (width), the output (hidden)."""
    if layout == "separate":
        return 3 * width + hidden
    return max(2 * width, hidden) + (max(width, hidden) if layout == "double" else width)


def _compute(item: FeedForward, model: Model, kernel: ExpertKernel) -> str:
    return formats.compute_format(_stored(item, model), model.dtype, kernel.available)


def _stored(item: FeedForward, model: Model) -> str:
    return next((weight.format for weight in item.weights if weight.role == "expert"), None) or model.dtype


def _weights_only(item: FeedForward, model: Model, kernel: ExpertKernel) -> bool:
    """Weights of less than 8 bits beside 16-bit inputs: a kernel of its own, which takes all tokens in one call."""
    return formats.known(_stored(item, model)).bits < 8 and _compute(item, model, kernel) == model.dtype
