"""Where zero is a figure and where it is a slip: every quantity of the language, by the definition that holds it."""

# Tables of words.
# ruff: noqa: SIM905

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from planner import dimensions, schema_composer
from planner.contract import schemas

# Zero says something: nothing is shared, no image, no charge, no wait, no loss.
ALLOWED = """
cost growth money price share time tokens whole_number memory_or_none
accelerator_figures/price hardware/price hardware/reserved list_price/price list_price/spot
workload/fixed/* workload/growth/rate scaling/start_time load/ramp session/turn_delay session/context_growth
prefix/shared_tokens prefix/hit_rate request_class/images/count request_class/adapters
objectives/cost/max objectives/cost/min objectives/replicas_down share_limit/max share_limit/min
objectives/cost_per_million_output_tokens/max objectives/cost_per_million_output_tokens/min
kubernetes/max_surge kubernetes/max_unavailable engine/limit_mm_per_prompt/* engine:llama-cpp/gpu_layers
experts/shared recurrent/convolution layer_stack/vocabulary
mixer/heads mixer/kv_heads mixer/key_dim mixer/value_dim mixer/decode_key_dim mixer/decode_value_dim
mixer/index_heads mixer/index_dim cache_entry/elements
recurrent_state/convolution_elements recurrent_state/state_elements
feed_forward_part/width feed_forward_part/experts feed_forward_part/experts_per_token feed_forward_part/shared_width
lever:admission-policy/max_queued_requests
lever:speculative-decoding/acceptance_probability lever:speculative-decoding/acceptance_per_position/[]
lever:lossy-acceptance/acceptance_probability lever:lossy-acceptance/acceptance_per_position/[]
api_price/cached api_price/input api_price/output energy_price power_supply/electricity_price hardware/spares
objectives/cost_per_million_tokens/max objectives/cost_per_million_tokens/min
objectives/cost_per_request/max objectives/cost_per_request/min
""".split()
# Nothing is computed with a machine that does nothing, a time that does not pass, or requests that are none.
REFUSED = """
arithmetic arrival_rate bandwidth duration link memory positive_integer positive_number positive_share power
accelerators_of_a_replica
request_rate small_integer token_rate tokens_of_a_request
accelerator_figures/bandwidth accelerator_figures/memory accelerator_memory accelerator_figures/power
accelerator_figures/count accelerator_figures/devices accelerator_figures/launched accelerator_figures/host/link
accelerator_interconnect/domain accelerator_interconnect/scale_up accelerator_interconnect/scale_out
capacities/driver capacities/framework capacities/marketed capacities/total capacities/gpu_share
compute/fp32 compute/tf32 compute/bf16 compute/fp16 compute/fp8 compute/int8 compute/fp4 compute/int4
derate/bandwidth derate/compute efficiency/value partition/compute_slices partition/memory_share list_price/accelerators
hardware/count hardware/replicas hardware/usable_memory hardware/host/memory hardware/host/bandwidth hardware/host/link
interconnect/domain interconnect/scale_up interconnect/scale_out scaling/min scaling/max scaling/target_requests
kubernetes/shared_memory kubernetes/accelerators
engine/tensor_parallel_size engine/pipeline_parallel_size engine/data_parallel_size engine/expert_parallel_size
engine/max_model_len engine/max_num_seqs engine/max_num_batched_tokens engine/block_size engine/num_gpu_blocks_override
engine/max_loras engine/max_lora_rank engine/mm_processor_kwargs/max_pixels engine/mm_processor_kwargs/min_pixels
engine:vllm/gpu_memory_utilization engine:sglang/mem_fraction_static engine:tensorrt-llm/free_gpu_memory_fraction
load/concurrency load/rate load/cv load/scale load/sessions load/period load/actions load/requests load/peak
workload/queue/requests workload/queue/timeout
request_class/share request_class/prompt_tokens request_class/output_tokens request_class/context_tokens
request_class/images/tokens length session/turns
length_statistics/mean length_statistics/p50 length_statistics/p90 length_statistics/p95 length_statistics/p99
length_statistics/max
latency/mean latency/p50 latency/p90 latency/p95 latency/p99 latency/max objectives/deadline/max
objectives/goodput/min objectives/goodput/max token_rate_limit/min token_rate_limit/max
architecture/parameters architecture/active_parameters architecture/layers architecture/hidden
architecture/feed_forward architecture/vocabulary architecture/max_context
attention/heads attention/kv_heads attention/head_dim attention/value_dim attention/latent_dim attention/rope_dim
attention/window attention/window_layers attention/layers
experts/count experts/per_token experts/width experts/layers recurrent/layers recurrent/state
model/metadata/parameters model/metadata/active_parameters layer_stack/hidden layer_stack/max_context
mixer/window mixer/sparse_tokens cache_entry/shards cache_entry/window cache_entry/stride
recurrent_state/shards recurrent_state/convolution_bytes recurrent_state/state_bytes
lever:admission-policy/queue_timeout lever:sliding-window-attention/window lever:sparse-attention/selected_tokens
lever:sliding-window-attention/layers/every lever:sliding-window-attention/layers/all_but_every
lever:speculative-decoding/num_speculative_tokens lever:speculative-decoding/acceptance_length
lever:lossy-acceptance/acceptance_length
energy power_supply/budget power_supply/host power_supply/limit power_supply/pue
power_supply/rack/accelerators power_supply/rack/budget
objectives/energy_per_output_token/max objectives/energy_per_output_token/min
objectives/energy_per_request/max objectives/energy_per_request/min objectives/power/max objectives/power/min
""".split()
KINDS = ("accelerator", "base", "deployment", "model", "project")
PREFIX = "#/$defs/"


def _quantities() -> dict[str, tuple[str, dict[str, Any], str]]:
    """Place -> (kind, schema, dimension) of every quantity that a schema holds."""
    found: dict[str, tuple[str, dict[str, Any], str]] = {}
    for kind in KINDS:
        whole = schema_composer.compose(kind)
        named = whole.pop("$defs")
        roots = {kind: whole} | {name: part for name, part in named.items() if not name.startswith("partial:")}
        for name, part in roots.items():
            for place, schema in _below(name, part):
                target = named.get(schema.get("$ref", "").removeprefix(PREFIX), {})
                dimension = schema.get("quantity", target.get("quantity"))
                if dimension is not None:
                    found.setdefault(place, (kind, schema, dimension))
    return found


def _below(place: str, schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(schema, dict):
        return
    yield place, schema
    for name, part in (schema.get("properties") or {}).items():
        yield from _below(f"{place}/{name}", part)
    for keyword, label in (("additionalProperties", "*"), ("items", "[]")):
        yield from _below(f"{place}/{label}", schema.get(keyword))


QUANTITIES = _quantities()


def _zero(dimension: str) -> Any:
    units = dimensions.spellings(dimension)
    return f"0 {units[0]}" if units and not dimensions.DIMENSIONS.get(dimension, _WITH_UNIT).bare else 0


_WITH_UNIT = dimensions.DIMENSIONS["time"]


def _negative(zero: Any) -> Any:
    return -1 if zero == 0 else f"-1{zero[1:]}"


def test_the_table_is_whole() -> None:
    assert {*QUANTITIES} - {*ALLOWED, *REFUSED} == set(), "a new quantity: say above whether zero makes sense"
    assert {*ALLOWED, *REFUSED} - {*QUANTITIES} == set(), "no quantity has this name any more"
    assert not {*ALLOWED} & {*REFUSED}


@pytest.mark.parametrize("place", sorted(QUANTITIES))
def test_zero(place: str) -> None:
    kind, schema, dimension = QUANTITIES[place]
    published = Draft202012Validator({**schema, "$defs": _definitions(kind)})
    own = schemas._validator(schemas._compiler(kind.title()).schema(schema))
    zeros = [_zero(dimension)] + ([f"{_zero(dimension)} %"] if "share" in dimension else [])
    for validator in (published, own):
        for zero in zeros:
            assert validator.is_valid(zero) is (place in ALLOWED), zero
            assert not validator.is_valid(_negative(zero)), "negative"


def _definitions(kind: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schema_composer.compose(kind)["$defs"]
    return found
