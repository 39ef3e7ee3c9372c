"""Which parallel layouts a model's shapes allow, for findings that name them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner import engines
from planner.domain.model import Model
from planner.domain.plan import Plan

LARGEST_TENSOR_PARALLEL = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """A width that tensor parallelism divides. whole: one rank may also hold copies (KV heads)."""

    what: str
    size: int
    whole: bool = False

    def divides(self, tensor: int) -> bool:
        return self.size % tensor == 0 or (self.whole and tensor % self.size == 0)

    def problem(self, tensor: int) -> str:
        copies = f", and {tensor} not of {self.size}" if self.whole else ""
        return f"{self.size:,} {self.what} are no multiple of {tensor}{copies}"


def shapes(model: Model, expert_ranks: int = 1, padding: int = 0, tower_heads: int = 0) -> tuple[Shape, ...]:
    """Every width of the model that tensor parallelism must divide, each once.

    expert_ranks: ranks that hold whole experts; the width of one is then not divided. padding: rows that the engine
    rounds the vocabulary up to before it divides it; 0 where it rounds up to what divides. tower_heads: of an image
    encoder that is divided too.
    """
    found: dict[Shape, None] = {}
    if padding and model.vocabulary:
        found[Shape("rows of the padded vocabulary", -(-model.vocabulary // padding) * padding)] = None
    if tower_heads:
        found[Shape("heads of the image encoder", tower_heads)] = None
    for group in model.groups:
        for mixer in group.mixers:
            if mixer.heads:
                found[Shape("state heads" if mixer.state else "attention heads", mixer.heads)] = None
            if mixer.kv_heads > 1 and mixer.cache:
                found[Shape("KV heads", mixer.kv_heads, whole=True)] = None
        for part in group.feed_forwards:
            if part.width and not (part.experts and expert_ranks > 1):
                found[Shape("columns of an expert" if part.experts else "columns of the feed-forward", part.width)] = (
                    None
                )
    return tuple(found)


def problems(model: Model, tensor: int, expert_ranks: int = 1, padding: int = 0, tower_heads: int = 0) -> list[Shape]:
    return [shape for shape in shapes(model, expert_ranks, padding, tower_heads) if not shape.divides(tensor)]


def valid_sizes(model: Model, expert_ranks: int = 1, padding: int = 0, tower_heads: int = 0) -> list[int]:
    """Every tensor-parallel size that all widths allow."""
    sizes = range(1, LARGEST_TENSOR_PARALLEL + 1)
    return [size for size in sizes if not problems(model, size, expert_ranks, padding, tower_heads)]


def valid_for(plan: Plan) -> list[int]:
    """Every tensor-parallel size that the plan's engine and version take for its model."""
    return valid_sizes(plan.model, plan.engine.expert_parallel_size, padding_of(plan), divided_tower_heads(plan))


def padding_of(plan: Plan) -> int:
    """Rows that the engine rounds the vocabulary up to, 0 where it rounds up to a multiple of the ranks."""
    return int(engines.figure(plan.engine, "vocabulary_padding") or 0)


def divided_tower_heads(plan: Plan) -> int:
    """Heads of the image encoder that the engine divides over ranks; 0 where it is whole on each, or not loaded."""
    flags = {str(key).replace("_", "-").lstrip("-"): value for key, value in plan.engine.arguments.items()}
    whole = flags.get("mm-encoder-tp-mode") == "data" or flags.get("mm-enable-dp-encoder") not in (None, False)
    limits = plan.engine.limit_mm_per_prompt
    unused = bool(limits) and not any(limits.values())
    divides = bool(engines.figure(plan.engine, "tower_over_ranks"))
    return plan.model.tower_heads if divides and not whole and not unused else 0


def layouts(model: Model, count: int, valid: list[int]) -> Iterator[dict[str, Any]]:
    """Layouts of exactly `count` accelerators, the most tensor parallelism first."""
    for tensor in reversed(valid):
        rest, left = divmod(count, tensor)
        if left or tensor > count:
            continue
        if rest > 1 and rest <= model.layers:
            yield {"tensor_parallel_size": tensor, "pipeline_parallel_size": rest}
        yield {"tensor_parallel_size": tensor, "replicas": rest}


def in_words(layout: dict[str, Any]) -> str:
    names = {
        "tensor_parallel_size": "tensor parallel",
        "pipeline_parallel_size": "pipeline stages",
        "replicas": "replicas",
    }
    return " with ".join(
        f"{names[key]} {value}" if key[0] == "t" else f"{value} {names[key]}"
        for key, value in layout.items()
        if value > 1 or key[0] == "t"
    )
