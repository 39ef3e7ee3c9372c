"""Where zero is a figure and where it is a slip: every quantity of the language, by the definition that holds it.

What is not listed here refuses zero: nothing is computed with a machine that does nothing, a time that does not pass,
or requests that are none.
"""

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
length request_class/output_tokens
length_statistics/mean length_statistics/p50 length_statistics/p90 length_statistics/p95 length_statistics/p99
length_statistics/max
api_price/cached api_price/input api_price/output energy_price power_supply/electricity_price hardware/spares
objectives/cost_per_million_tokens/max objectives/cost_per_million_tokens/min
objectives/cost_per_request/max objectives/cost_per_request/min
measured_latency/mean measured_latency/p50 measured_latency/p90 measured_latency/p95 measured_latency/p99
measured_latency/max measured_memory/kv_tokens measured_run/prompt_tokens measured_run/output_tokens
calibration/residuals/*/points
""".split()
KINDS = ("accelerator", "base", "calibration", "deployment", "measurement", "model", "project")
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


def test_every_row_is_a_quantity() -> None:
    assert {*ALLOWED} - {*QUANTITIES} == set()
    assert len(QUANTITIES) > 200


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
