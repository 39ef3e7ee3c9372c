"""The `config_groups` of compressed-tensors checkpoints (and of newer modelopt ones): format and targets of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain import formats

MOST_GROUPS = 256


def rules(section: Mapping[str, Any]) -> list[tuple[str, list[str] | None]] | None:
    """(format, module names that it is for, None for all products) of each group; None if one is not known."""
    groups = section.get("config_groups")
    if not isinstance(groups, Mapping) or not groups:
        return None
    found: list[tuple[str, list[str] | None]] = []
    for group in list(groups.values())[:MOST_GROUPS]:
        weights = group.get("weights") if isinstance(group, Mapping) else None
        name = weight_format(weights, with_activations=bool(group.get("input_activations"))) if weights else None
        if name is None:
            return None
        found.append((name, _targets(group.get("targets"))))
    return found


def _targets(listed: Any) -> list[str] | None:
    """None where a class of modules is meant (`Linear`), which has no dot and a capital."""
    names = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    named = [item for item in names if not item[:1].isupper()]
    return named if named and len(named) == len(names) else None


def weight_format(weights: Any, *, with_activations: bool) -> str | None:
    """The format of `{num_bits, type, strategy, group_size, symmetric}`."""
    if not isinstance(weights, Mapping):
        return None
    bits, kind, group = weights.get("num_bits"), str(weights.get("type", "int")), weights.get("group_size")
    strategy = str(weights.get("strategy") or "")
    if kind == "float" and bits == 8:
        return {"channel": "fp8-channel", "block": "fp8-block"}.get(strategy, "mxfp8" if group == 32 else "fp8")
    if kind == "float" and bits == 4:
        return "mxfp4" if group == 32 else "nvfp4"
    if kind != "int" or bits not in (4, 8):
        return None
    if bits == 8 and (with_activations or strategy in ("channel", "tensor")):
        return "int8"
    base = "int8-weight-only" if bits == 8 else "int4" if weights.get("symmetric", True) else "awq-int4"
    if isinstance(group, int) and group > 0:
        return base if group == 128 else f"{base}-g{group}"
    return "int4-channel" if bits == 4 else base


def cache_format(scheme: Any) -> str | None:
    """The cache precision that `kv_cache_scheme` (a map, or a name) fixes; None where it fixes none."""
    if isinstance(scheme, str):
        found = formats.get_cache(scheme)
        return found.name if found else None
    if not isinstance(scheme, Mapping):
        return None
    return {(8, "float"): "fp8", (8, "int"): "int8", (4, "float"): "nvfp4"}.get(
        (scheme.get("num_bits"), str(scheme.get("type", "float")))  # type: ignore[arg-type]
    )
