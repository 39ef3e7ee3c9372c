"""What vLLM takes from its share before the cache: activations, graphs, and what is outside the allocator."""

from __future__ import annotations

from planner.domain.engine import EngineSettings
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.domain.shards import Parallel
from planner.engines._activations import peak_values
from planner.engines._catalogue import Figures, figures
from planner.engines._links import fabric
from planner.physics import engine_memory
from planner.physics.engine_memory import GIB, MIB

NAME = "vllm"


def chosen_figures(settings: EngineSettings, model: Model | None, capability: str | None) -> Figures:
    """The version's figures; those of the older generation where the card or the format falls back to it."""
    chosen = figures(NAME, settings.release)
    if not chosen["engine_generation"]:
        return chosen
    limit = float(chosen["older_generation_below_capability"])
    old_card = capability_number(capability) < limit
    gguf = model is not None and "gguf" in chosen["older_generation_formats"] and _is_gguf(model)
    if not (old_card or gguf):
        return chosen
    older = figures(NAME, (0, 7))
    kept = {key: value for key, value in older.values.items() if key not in ("start_check", "gpu_memory_utilization")}
    return Figures({**chosen.values, **kept})


def capability_number(capability: str | None) -> float:
    """ "9.0" -> 9.0; unknown cards count as new."""
    try:
        return float(capability) if capability is not None else float("inf")
    except ValueError:
        return float("inf")


def _is_gguf(model: Model) -> bool:
    names = {weight.format for _, weight in model.weights() if weight.format and weight.role == "linear"}
    return any(name.startswith(("q2_", "q3_", "q4_", "q5_", "q6_", "q8_", "iq", "tq")) for name in names)


def activation_bytes(plan: Plan, parallel: Parallel, chosen: Figures, last: bool) -> float:
    """Peak of the profiling step: the larger of prefill and sampling (on the stage with the head), or the encoder."""
    settings = plan.engine
    tokens = settings.max_num_batched_tokens or 2048
    values = peak_values(plan.model, parallel, int(chosen["expert_workspaces"]))
    peak = engine_memory.prefill_peak_bytes(tokens, values)
    if last:
        sequences = min(settings.max_num_seqs or 1, tokens)
        sampler = engine_memory.sampler_bytes(sequences, plan.model.vocabulary, chosen["sampler_bytes_per_logit"])
        peak = max(peak, sampler)
    allowed = _modalities(plan)
    return float(max(peak, allowed * chosen.gib("multimodal_profile_gib")))


def _modalities(plan: Plan) -> int:
    """Modalities that the engine profiles: those not set to 0, one where nothing is said."""
    if not plan.model.multimodal:
        return 0
    limits = plan.engine.limit_mm_per_prompt
    return sum(1 for value in limits.values() if value) if limits else 1


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
    inside = chosen.by_ranks(f"non_torch_gib_{link}", parallel.tensor)
    if plan.hardware.accelerator.vendor.lower() == "amd":
        inside += float(chosen["non_torch_gib_rocm"])
    return inside * GIB, chosen.by_ranks(f"start_gib_{link}", ranks) * GIB
