"""llama.cpp and what is built on it: whole layers on each card, the cache allocated in full at start.

Nothing is profiled: a card holds the weights of its layers, the cache of every slot's whole context for them, and
one compute buffer that does not shrink with the number of cards. The input embedding stays in host memory. Layers
are dealt out in order, the output counted as one more. `max_model_len` is the context of one slot and
`max_num_seqs` the slots: `-c` is their product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.domain.engine import EngineSettings
from planner.domain.model import LayerGroup, Model
from planner.domain.plan import Plan
from planner.domain.shards import WHOLE, entry_bytes, stored_bytes
from planner.engines import MemoryLedger, _demand
from planner.engines._activations import widest_heads
from planner.engines._catalogue import Figures, figures
from planner.engines._defaults import fill
from planner.engines._ledger import Capacity, Refusal, Taken, gib, ledger
from planner.physics import engine_memory
from planner.physics.engine_memory import MIB
from planner.physics.paged_cache import longest_length

NAME = "llama-cpp"
TITLE = "llama.cpp"
STARTER = {"weights": "q4_k_m"}
FRACTION_KEY: str | None = None
CHARGES_DRAFT = False
STORES_SCORES = False
PROPERTIES: dict[str, object] = {
    "gpu_layers": {
        "type": "integer",
        "quantity": "count",
        "minimum": 0,
        "maximum": 1000000,
        "description": "Layers kept on the accelerators, the head counted as one. Left out: all of them.",
        "examples": [33],
    },
}
LONGEST = 2**27


@dataclass(frozen=True, slots=True)
class _Card:
    """What one card holds: weight bytes, and how many layers of each group."""

    weights: float
    layers: tuple[tuple[LayerGroup, int], ...]


def with_defaults(plan: Plan) -> EngineSettings:
    """Context and slots; every layer on the cards unless `gpu_layers` says otherwise."""
    chosen = figures(NAME, plan.engine.release)
    length = min(int(chosen["context_length"]), plan.model.max_context or LONGEST)
    return fill(
        plan.engine,
        max_model_len=length,
        max_num_seqs=int(chosen["slots"]),
        max_num_batched_tokens=int(chosen["physical_batch"]),
        gpu_layers=plan.model.layers + 1,
        enable_prefix_caching=True,
        enable_chunked_prefill=True,
        enforce_eager=False,
        admission="reserve-maximum",
    )


def default_levers(settings: EngineSettings, *_known: object) -> tuple[str, ...]:
    """Slots decode together, prompts go through in physical batches, flash attention is automatic."""
    return ("continuous-batching", "exact-attention-kernel", "cuda-graphs", "chunked-prefill", "prefix-caching")


def memory(plan: Plan, sequences: float | None = None) -> MemoryLedger:
    """The ledger of the fullest card. sequences: on one replica, in place of what the load declares."""
    settings, chosen = plan.engine, figures(NAME, plan.engine.release)
    length, slots = settings.max_model_len or 1, settings.max_num_seqs or 1
    cards, runtime = cards_of(plan), chosen.gib("runtime_gib")
    usable = plan.hardware.capacity_bytes - plan.hardware.reserved_bytes

    def needed(card: _Card, tokens: int) -> float:
        buffer = compute_bytes(plan, chosen, tokens * slots, len(cards))
        return card.weights + slots * card_cache_bytes(plan, card, tokens, chosen) + buffer + runtime

    fullest = max(cards, key=lambda card: needed(card, length))
    longest = longest_length(lambda tokens: all(needed(card, tokens) <= usable for card in cards), LONGEST)
    taken = Taken(
        weights=fullest.weights,
        weights_total=math.fsum(card.weights for card in cards),
        activation=compute_bytes(plan, chosen, length * slots, len(cards)),
        graphs=0.0,
        runtime=runtime,
        pool=slots * card_cache_bytes(plan, fullest, length, chosen),
    )
    demand = _demand.of(plan, sequences)
    capacity = _capacity(plan, fullest, chosen, longest, demand)
    return ledger(plan, taken, capacity, demand, _refusal(plan, taken, usable, longest))


def _refusal(plan: Plan, taken: Taken, usable: float, longest: int) -> Refusal:
    needed = taken.weights + taken.activation + taken.runtime + taken.pool
    if needed <= usable:
        return Refusal()
    slots, length = plan.engine.max_num_seqs or 1, plan.engine.max_model_len or 1
    text = (
        f"Weights {gib(taken.weights)}, cache of {slots} x {length:,} tokens {gib(taken.pool)} and buffers "
        f"{gib(taken.activation + taken.runtime)} are more than the {gib(usable)} of a card"
        + (f": the longest context that fits is {longest:,} tokens a slot." if longest else ", whatever the context.")
    )
    values = {"needed_bytes": needed, "available_bytes": usable, "largest_max_model_len": longest}
    return Refusal(text, {"reason": "allocation", **values})


def start_line(plan: Plan, result: MemoryLedger) -> str:
    """`KV buffer size = 1,024.00 MiB; compute buffer size = 560.00 MiB`."""
    found = result.memory
    return (
        f"model buffer size = {found.weights_bytes / MIB:,.2f} MiB; "
        f"KV buffer size = {found.kv_pool_bytes / MIB:,.2f} MiB; "
        f"compute buffer size = {found.activation_bytes / MIB:,.2f} MiB"
    )


def cards_of(plan: Plan) -> tuple[_Card, ...]:
    """Layers dealt over the cards in order, the output as one more; the first ones stay on the host if some must."""
    model, count = plan.model, max(1, plan.hardware.count)
    items = model.layers + 1
    first = items - min(items, items if plan.engine.gpu_layers is None else plan.engine.gpu_layers)
    weights: list[float] = [0.0] * count
    layers: list[dict[int, int]] = [{} for _ in range(count)]
    index = {layer: number for number, group in enumerate(model.groups) for layer in group.layers}
    sizes = [math.fsum(stored_bytes(weight, model) for weight in group.weights()) for group in model.groups]
    for item in range(first, items):
        card = (item - first) * count // (items - first)
        if item == model.layers:
            weights[card] += _output_bytes(model)
            continue
        number = index[item]
        weights[card] += sizes[number]
        layers[card][number] = layers[card].get(number, 0) + 1
    return tuple(
        _Card(size, tuple((model.groups[number], held) for number, held in sorted(found.items())))
        for size, found in zip(weights, layers, strict=True)
    )


def card_cache_bytes(plan: Plan, card: _Card, length: float, chosen: Figures) -> float:
    """Cache and state of one slot on one card."""
    return math.fsum(held * layer_cache_bytes(plan, group, length, chosen) for group, held in card.layers)


def _output_bytes(model: Model) -> float:
    """Head and final norms; a tied head is a second copy of the embedding, on the card."""
    around = [*model.norms, *model.towers]
    around += [model.head] if model.head is not None else list(model.embedding[:1])
    return math.fsum(stored_bytes(weight, model) for weight in around)


def layer_cache_bytes(plan: Plan, group: LayerGroup, length: float, chosen: Figures) -> float:
    """One layer's cache and state of one slot: every token of the context, or of the window and a physical batch."""
    padding, batch = int(chosen["window_padding"]), plan.engine.max_num_batched_tokens or 512
    found = 0.0
    for mixer in group.mixers:
        for entry in mixer.cache:
            kept = length
            if entry.window is not None:
                kept = min(length, math.ceil((entry.window + batch) / padding) * padding)
            found += entry_bytes(entry, plan.model, plan.cache_format, WHOLE) * kept / entry.stride
        found += mixer.state.bytes_per_sequence if mixer.state is not None else 0.0
    return found


def compute_bytes(plan: Plan, chosen: Figures, context: int, cards: int) -> float:
    """The compute buffer: 32-bit scores, or where they are not stored 32-bit logits of a physical batch, and inputs."""
    model, batch = plan.model, min(512, plan.engine.max_num_batched_tokens or 512)
    latent = any(mixer.kind == "latent-attention" for group in model.groups for mixer in group.mixers)
    stored = not plan.techniques.exact_attention_kernel or (latent and bool(chosen["latent_scores"]))
    scores = engine_memory.score_buffer_bytes(widest_heads(model.groups), context, batch) if stored else 0.0
    logits = engine_memory.logits_buffer_bytes(model.vocabulary, batch)
    copies = float(chosen["pipeline_copies_mib"]) if cards > 1 else 0.0
    return float(max(scores, logits) + (float(chosen["compute_base_mib"]) + copies) * MIB)


def _capacity(plan: Plan, card: _Card, chosen: Figures, longest: int, demand: _demand.Demand) -> Capacity:
    """A slot takes one sequence of up to its context: as many sequences as slots, none where the promise is longer."""
    length, slots = plan.engine.max_model_len or 1, plan.engine.max_num_seqs or 1
    state = math.fsum(
        held * mixer.state.bytes_per_sequence
        for group, held in card.layers
        for mixer in group.mixers
        if mixer.state is not None
    )
    cached = demand.mean(lambda tokens: card_cache_bytes(plan, card, min(tokens, length), chosen))
    return Capacity(
        tokens=float(length * slots),
        concurrency=float(slots) if demand.promised_tokens <= length else 0.0,
        expected=float(slots),
        longest=longest,
        promised_cache=cached - state,
        promised_state=state,
    )


def inside_fraction(plan: Plan) -> str:
    """None is taken."""
    return "It takes no fraction: the cache of its whole context is reserved at start, whatever the load."
