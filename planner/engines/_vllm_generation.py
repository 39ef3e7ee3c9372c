"""Which of vLLM's two engine generations runs a plan, and the figures of that generation at its version.

Between 0.8 and 0.10 the newer generation is the default, and what it does not support yet falls back to the older
one: old cards, some weight formats, a quantised cache, a draft model, pipeline stages, recurrent layers. Source:
vLLM, `EngineArgs._is_v1_supported_oracle` of each version; the table is `older_generation_for` of the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain import formats
from planner.domain.engine import EngineSettings
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.engines._catalogue import Figures, figures

NAME = "vllm"
OF_A_GENERATION = (
    "engine_generation",
    "max_num_seqs",
    "max_num_seqs_large",
    "max_num_batched_tokens",
    "max_num_batched_tokens_large",
    "chunked_prefill_above_tokens",
    "hybrid_cache_manager",
    "graph_tokens_limit",
    "graph_sizes_per_sequence",
    "graph_step_above_256",
    "context_in_budget",
    "profile_all_logits",
    "expanded_latent_tokens",
    "sampler_bytes_per_logit",
)


def of_plan(plan: Plan) -> Figures:
    """The figures that hold for a plan."""
    speculation = plan.techniques.speculation
    return chosen_figures(
        plan.engine,
        plan.model,
        plan.hardware.accelerator.compute_capability,
        cache_format=plan.cache_format,
        draft=speculation is not None and speculation.draft is not None,
    )


def chosen_figures(
    settings: EngineSettings,
    model: Model | None,
    capability: str | None,
    *,
    cache_format: str | None = None,
    draft: bool = False,
) -> Figures:
    """The version's figures; those of the other generation where one falls back to it, or asks for it."""
    chosen = figures(NAME, settings.release)
    if not chosen["engine_generation"]:
        return _newer(chosen) if settings.use_v1 else chosen
    if settings.use_v1 is False and chosen["generation_is_a_choice"]:
        return _older(chosen)
    rules = chosen["older_generation_for"]
    falls_back = (
        number(capability) < float(rules.get("capability_below", 0.0))
        or (model is not None and _by_model(rules, model))
        or _by_cache(rules, cache_format or settings.kv_cache_dtype, capability)
        or (settings.pipeline_parallel_size > 1 and bool(rules.get("pipeline")))
        or (bool(settings.max_loras) and bool(rules.get("adapters")))
        or (draft and bool(rules.get("draft_model")))
    )
    return _older(chosen) if falls_back else chosen


def number(capability: str | None) -> float:
    """ "9.0" -> 9.0; unknown cards count as new."""
    try:
        return float(capability) if capability is not None else float("inf")
    except ValueError:
        return float("inf")


def _by_model(rules: Mapping[str, Any], model: Model) -> bool:
    if rules.get("recurrent") and model.state_bytes_per_sequence > 0:
        return True
    refused = rules.get("formats", ())
    names = {weight.format for _, weight in model.weights() if weight.format and weight.role == "linear"}
    gguf = "gguf" in refused and any(formats.is_gguf(name) for name in names)
    return gguf or any(name.startswith(prefix) for prefix in refused for name in names)


def _by_cache(rules: Mapping[str, Any], cache_format: str | None, capability: str | None) -> bool:
    """A quantised cache: never served, or by attention kernels of some compute capabilities only."""
    if "quantized_cache_on" not in rules or cache_format is None:
        return False
    found = formats.get_cache(cache_format)
    if found is None or found.bits >= 16:
        return False
    return capability is not None and number(capability) not in rules["quantized_cache_on"]


def _older(chosen: Figures) -> Figures:
    """The older generation inside a version whose own is the newer: its scheduler, sampler and profiling."""
    older = figures(NAME, (0, 7))
    return Figures({**chosen.values, **{key: older[key] for key in OF_A_GENERATION}})


def _newer(chosen: Figures) -> Figures:
    """The newer generation before it was the default: as of the first version that takes it by itself."""
    newer = figures(NAME, (0, 8, 0))
    own = {key: chosen[key] for key in ("gpu_memory_utilization", "max_num_seqs", "max_num_seqs_large")}
    return Figures({**newer.values, **own, "profile_all_logits": chosen["newer_profiles_all_logits"]})
