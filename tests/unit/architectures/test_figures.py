"""Models by figures: counted as declared, and quantised with the scales of whole groups."""

import math

import pytest

from planner.architectures.figures import read_figures
from planner.domain.requantize import requantize
from planner.domain.shards import weight_bytes

SEVEN = {"parameters": 7e9, "layers": 32, "attention": {"kv_heads": 8, "head_dim": 128}}


@pytest.mark.parametrize(
    ("name", "bits"),
    [("bf16", 16), ("fp8", 8), ("int4", 4 + 16 / 128), ("q4_k_m", 4.5), ("nvfp4", 4 + 8 / 16)],
)
def test_bytes_are_the_formats_bits(name: str, bits: float) -> None:
    model, findings = read_figures(SEVEN, name="seven")
    assert model is not None and not findings
    assert model.parameters == 7_000_000_000
    # 7e9 x bits / 8; k-quant mixes put a few per cent more into some tensors.
    assert math.isclose(weight_bytes(requantize(model, name)), 7e9 * bits / 8, rel_tol=0.12)


def test_experts_are_split_off() -> None:
    section = {
        "parameters": 46.7e9,
        "layers": 32,
        "hidden": 4096,
        "attention": {"heads": 32, "kv_heads": 8, "head_dim": 128},
        "experts": {"count": 8, "per_token": 2, "width": 14336},
    }
    model, _ = read_figures(section, name="mixture")
    assert model is not None
    assert model.parameters == 46_700_000_000
    # Six of eight experts idle: 32 layers x 6 x 3 x 4096 x 14336 = 33.82e9.
    assert model.parameters - model.active_parameters == 32 * 6 * 3 * 4096 * 14336
