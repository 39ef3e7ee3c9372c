"""Configs that cannot be right: findings with the field, never an exception."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from planner.architectures import families
from planner.architectures.config import read_config
from planner.findings import Verdict


def _errors(config: dict[str, Any]) -> list[Any]:
    model, findings = read_config(config, name="x")
    assert model is None
    assert all(finding.verdict is Verdict.INVALID for finding in findings)
    return findings


def test_every_missing_field_is_listed_at_once(llama_8b: dict[str, Any]) -> None:
    del llama_8b["num_hidden_layers"], llama_8b["intermediate_size"]
    (finding,) = _errors(llama_8b)
    assert finding.id == "model-config-missing-field"
    assert sorted(finding.values["fields"]) == ["intermediate_size", "num_hidden_layers"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden_size", -4096),
        ("hidden_size", 2**60),
        ("hidden_size", "4096"),
        ("num_hidden_layers", 10**9),
        ("num_hidden_layers", 1.5),
        ("vocab_size", 10**400),
        ("vocab_size", True),
        ("num_key_value_heads", [8]),
        ("intermediate_size", {"a": 1}),
        ("head_dim", math.inf),
    ],
)
def test_impossible_sizes_name_their_field(llama_8b: dict[str, Any], field: str, value: Any) -> None:
    findings = _errors({**llama_8b, field: value})
    assert field in {finding.values.get("field") for finding in findings}


def test_heads_that_do_not_divide(llama_8b: dict[str, Any]) -> None:
    findings = _errors({**llama_8b, "num_attention_heads": 33, "num_key_value_heads": 11})
    assert findings[0].id == "model-config-heads"


def test_infinity_is_accepted(llama_8b: dict[str, Any]) -> None:
    text = json.dumps({**llama_8b, "time_step_limit": [0.0, math.inf]})
    assert "Infinity" in text
    model, findings = read_config(json.loads(text), name="x")
    assert model is not None and not findings


def test_lists_that_are_too_short(llama_8b: dict[str, Any]) -> None:
    findings = _errors({**llama_8b, "model_type": "olmo3", "sliding_window": 512, "layer_types": ["full_attention"]})
    assert "layer_types" in findings[0].message


JUNK: tuple[Any, ...] = (None, [], {}, "x", -1, 0, 1e308, math.nan, True, [None] * 3, {"a": []}, 2**70)


@pytest.mark.parametrize("model_type", families.model_types())
def test_junk_in_every_field_of_every_family(model_type: str) -> None:
    """Whatever a file says, reading it gives a model or findings."""
    for junk in JUNK:
        _survives(model_type, junk)


def _survives(model_type: str, junk: Any) -> None:
    names = [
        "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size",
        "vocab_size", "head_dim", "layer_types", "sliding_window", "num_experts", "num_experts_per_tok",
        "moe_intermediate_size", "kv_lora_rank", "q_lora_rank", "attn_config", "ffn_config", "block_configs",
        "linear_attn_config", "compress_ratios", "hybrid_override_pattern", "quantization_config", "vision_config",
        "audio_config", "text_config", "dtype", "mamba_d_state", "n_routed_experts"
    ]  # fmt: skip
    model, findings = read_config({"model_type": model_type, **dict.fromkeys(names, junk)}, name="x")
    assert model is not None or findings
    for name in names:
        base = {"model_type": model_type, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                "intermediate_size": 128, "vocab_size": 1000, name: junk}  # fmt: skip
        model, findings = read_config(base, name="x")
        assert model is not None or findings
