"""ModelOpt checkpoints: `quant_algo` in the config, or in hf_quant_config.json beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.architectures import compressed_tensors

_ALGORITHMS = {
    "FP8": "fp8", "FP8_PER_CHANNEL_PER_TOKEN": "fp8-channel", "FP8_PB_WO": "fp8-block", "FP8_BLOCK_SCALES": "fp8-block",
    "NVFP4": "nvfp4", "NVFP4_AWQ": "nvfp4", "W4A16_NVFP4": "nvfp4", "W4A8_NVFP4_FP8": "nvfp4", "MXFP4": "mxfp4",
    "MXFP8": "mxfp8", "W4A8_MXFP4_FP8": "mxfp4", "W4A16_MXFP4": "mxfp4", "W4A16": "int4", "W4A16_AWQ": "int4",
    "W4A8_AWQ": "int4", "INT4_AWQ": "int4", "W8A16": "int8", "W8A8_SQ_PER_CHANNEL": "int8", "INT8_SQ": "int8",
}  # fmt: skip
_MIXED = "MIXED_PRECISION"


@dataclass(frozen=True, slots=True)
class Found:
    """name: the algorithm. rules: (format, modules that it is for, None for all products)."""

    name: str
    rules: tuple[tuple[str, list[str] | None], ...]
    excluded: tuple[object, ...]
    cache_format: str | None


def read(section: Mapping[str, Any]) -> Found | None:
    """The scheme, None if its algorithm is not known. `quantization` is where the file beside the config keeps it."""
    inner = section.get("quantization")
    section = inner if isinstance(inner, Mapping) else section
    algorithm = str(section.get("quant_algo") or "").upper()
    rules = _mixed(section) if algorithm == _MIXED else None
    if rules is None and algorithm in _ALGORITHMS:
        rules = [(_ALGORITHMS[algorithm], None)]
    if rules is None:
        rules = compressed_tensors.rules(section)
    if not rules:
        return None
    excluded: list[object] = []
    for key in ("exclude_modules", "ignore", "modules_to_not_convert"):
        listed = section.get(key)
        excluded += listed if isinstance(listed, list) else []
    if algorithm == _MIXED:
        excluded = []  # its layers are named one by one
    cache = section.get("kv_cache_quant_algo") or section.get("kv_cache_scheme")
    return Found(algorithm or "modelopt", tuple(rules), tuple(excluded), compressed_tensors.cache_format(cache))


def _mixed(section: Mapping[str, Any]) -> list[tuple[str, list[str] | None]] | None:
    """`quantized_layers`: {module: {quant_algo}}. Where the rest is FP8 (`quant_method`), a last rule says so."""
    layers = section.get("quantized_layers")
    if not isinstance(layers, Mapping):
        return None
    names: dict[str, list[str]] = {}
    for module, item in layers.items():
        algorithm = str(item.get("quant_algo", "")).upper() if isinstance(item, Mapping) else ""
        if algorithm in _ALGORITHMS:
            names.setdefault(_ALGORITHMS[algorithm], []).append(str(module))
    rules: list[tuple[str, list[str] | None]] = list(names.items())
    if section.get("quant_method") == "fp8":
        rules.append(("fp8-block", None))
    return rules or None
