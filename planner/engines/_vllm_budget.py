"""What vLLM takes from its share before the cache: activations, graphs, and what is outside the allocator."""

from __future__ import annotations

from planner.domain.engine import EngineSettings
from planner.domain.plan import Plan
from planner.domain.shards import Parallel
from planner.engines._activations import peak_bytes
from planner.engines._catalogue import Figures
from planner.engines._expert_buffers import ExpertKernel
from planner.engines._links import fabric
from planner.physics import engine_memory
from planner.physics.engine_memory import GIB, MIB


def batch_defaults(chosen: Figures, capacity_bytes: float, card: str) -> tuple[int, int]:
    """(max_num_seqs, max_num_batched_tokens) of a server, by what the driver reports and the card's name."""
    largest = chosen.gib("largest_card_gib")
    large = capacity_bytes >= chosen.gib("large_card_gib")
    large = large and not any(name in card.lower() for name in chosen["large_cards_left_out"])
    if largest and capacity_bytes >= largest:
        return int(chosen["max_num_seqs_large"]), int(chosen["max_num_batched_tokens_largest"])
    suffix = "_large" if large else ""
    return int(chosen["max_num_seqs" + suffix]), int(chosen["max_num_batched_tokens" + suffix])


def activation_bytes(plan: Plan, parallel: Parallel, chosen: Figures, last: bool) -> float:
    """Peak of the profiling step: the larger of prefill and sampling (on the stage with the head), or the encoder."""
    settings = plan.engine
    tokens = settings.max_num_batched_tokens or 2048
    expanded = _expanded_tokens(settings, chosen)
    peak = peak_bytes(plan.model, parallel, tokens, expert_kernel(plan, chosen), expanded)
    if last:
        sequences = min(settings.max_num_seqs or 1, tokens)
        if chosen["profile_all_logits"]:
            peak = max(peak, tokens * 2.0 * (plan.model.vocabulary + plan.model.hidden))
        sampler = engine_memory.sampler_bytes(sequences, plan.model.vocabulary, chosen["sampler_bytes_per_logit"])
        peak = max(peak, sampler)
    return float(
        max(peak, _modalities(plan, chosen) * chosen.gib("multimodal_profile_gib") * _encoder_share(plan, chosen))
    )


def _encoder_share(plan: Plan, chosen: Figures) -> float:
    """What one rank has of the encoder's activations: projections are divided, hidden states and pixels are not."""
    flags = {str(key).replace("_", "-").lstrip("-"): value for key, value in plan.engine.arguments.items()}
    whole = not chosen["tower_over_ranks"] or flags.get("mm-encoder-tp-mode") == "data"
    divided = 0.0 if whole else float(chosen["multimodal_profile_divided"])
    return 1.0 - divided + divided / plan.engine.tensor_parallel_size


def _expanded_tokens(settings: EngineSettings, chosen: Figures) -> int:
    """Cached tokens whose latents one prefill expands: 8 whole sequences or 4 blocks each, at most a limit.

    Source: vLLM, `determine_chunked_prefill_workspace_size`; profiled since the figure's version.
    """
    limit = int(chosen["expanded_latent_tokens"])
    pages = (settings.max_num_seqs or 1) * (settings.block_size or 16)
    return max(min(max(8 * (settings.max_model_len or 0), 4 * pages), limit), pages) if limit else 0


def expert_kernel(plan: Plan, chosen: Figures) -> ExpertKernel:
    available = plan.hardware.accelerator.arithmetic_flop_per_s
    return ExpertKernel(chosen["expert_buffers"], int(chosen["expert_chunk_tokens"]), available)


def _modalities(plan: Plan, chosen: Figures) -> int:
    """Modalities that one profiling step holds: all that are not set to 0, or in the newer generation the largest."""
    if not plan.model.multimodal:
        return 0
    limits = plan.engine.limit_mm_per_prompt
    known = max(len(limits), int(chosen["modalities"].get(plan.model.family, 1)))
    allowed = known - sum(1 for value in limits.values() if not value)
    return min(allowed, 1) if chosen["engine_generation"] else allowed


def graph_bytes(plan: Plan, parallel: Parallel, chosen: Figures) -> float:
    settings = plan.engine
    if settings.enforce_eager and not plan.techniques.cuda_graphs:
        return 0.0
    most = (settings.max_num_seqs or 1) * int(chosen["graph_sizes_per_sequence"])
    largest = min(int(chosen["graph_tokens_limit"]), most)
    layers = -(-plan.model.layers // parallel.pipeline)
    sizes = engine_memory.captured_sizes(largest, int(chosen["graph_step_above_256"]))
    return float(
        engine_memory.graph_bytes(
            layers, sizes, float(chosen["graph_mib_per_layer_and_size"]) * MIB, chosen.gib("graph_base_gib")
        )
    )


def runtime_bytes(plan: Plan, parallel: Parallel, chosen: Figures) -> tuple[float, float]:
    """(inside the budget, in use before the engine measures) of one rank: communication buffers and context."""
    link = fabric(plan.hardware.links)
    ranks = parallel.tensor * parallel.pipeline * parallel.data
    spread = any(fed.experts for group in plan.model.groups for fed in group.feed_forwards)
    # Copies of a dense model do not talk to each other; copies that share their experts do.
    inside = chosen.by_ranks(f"non_torch_gib_{link}", parallel.tensor * (parallel.data if spread else 1))
    if plan.hardware.accelerator.vendor.lower() == "amd":
        inside += float(chosen["non_torch_gib_rocm"])
    return inside * GIB, chosen.by_ranks(f"start_gib_{link}", ranks) * GIB
