"""How a checkpoint is quantised, as its config says: the format of each weight, and of the cache where it is fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from planner.architectures import compressed_tensors, modelopt
from planner.architectures.module_names import Names
from planner.domain import assign, formats
from planner.domain.model import Model, Weight
from planner.findings import Finding, Severity

EVERYTHING = Names.of(["*"])
NOTHING = Names()


@dataclass(frozen=True, slots=True)
class Rule:
    """Weights that `names` matches are in `format`. head: the head is, too; roles: of the weights meant."""

    format: str
    names: Names = EVERYTHING
    roles: tuple[str, ...] = ("linear", "expert")


@dataclass(frozen=True, slots=True)
class Scheme:
    """The first rule that matches a weight not in `excluded` gives its format. name: the checkpoint's own."""

    name: str
    rules: tuple[Rule, ...]
    excluded: Names = NOTHING
    cache_format: str | None = None

    def choose(self, layer: int | None, weight: Weight) -> str | None:
        if weight.inputs == 1:
            return None
        rules = [rule for rule in self.rules if weight.role in rule.roles]
        if not rules or self.excluded.match(weight, layer):
            return None
        fitting = (rule.format for rule in rules if rule.names is EVERYTHING or rule.names.match(weight, layer))
        return next(fitting, None)


def apply(
    model: Model, config: Mapping[str, Any], text: Mapping[str, Any], beside: Mapping[str, Any] | None
) -> tuple[Model, list[Finding]]:
    """The model as its checkpoint stores it.

    config, text: the whole file and its language part, either of which may say how it is quantised.
    beside: hf_quant_config.json, for checkpoints whose config says nothing.
    """
    section = _section(config) or _section(text)
    scheme: Scheme | None = None
    if section is not None:
        scheme = read(section, text)
    if scheme is None and beside is not None:
        section = beside
        scheme = _modelopt(beside)
    if section is None:
        return model, []
    if scheme is None:
        return model, [_unknown(section)]
    by_layer = scheme.excluded.layered or any(rule.names.layered for rule in scheme.rules)
    stored = assign.formats(model, scheme.choose, by_layer=by_layer)
    nominal = scheme.rules[0].format if scheme.rules else None
    second = modelopt.read(beside) if beside is not None else None
    cache = scheme.cache_format or (second.cache_format if second else None)
    return replace(stored, quantization=scheme.name, nominal=nominal, cache_format=cache), []


def _section(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for key in ("quantization_config", "compression_config"):
        found = config.get(key)
        if isinstance(found, Mapping) and found:
            return found
    return None


def _unknown(section: Mapping[str, Any]) -> Finding:
    method = str(section.get("quant_method", section.get("quantization", "")))[:60]
    return Finding(
        "model-config-quantization-unknown",
        Severity.WARNING,
        f"the checkpoint's quantisation {method!a} is not known: its weights are counted in the model's dtype",
        "name the stored precision in `weights:`",
    )


def read(section: Mapping[str, Any], text: Mapping[str, Any]) -> Scheme | None:
    """The scheme of a `quantization_config`; None if its method is not known."""
    method = str(section.get("quant_method", "")).lower()
    if "quant_algo" in section or method.startswith("modelopt"):
        return _modelopt(section)
    readers: dict[str, Callable[[Mapping[str, Any]], Scheme | None]] = {
        "fp8": lambda found: _fp8(found, text),
        "fbgemm_fp8": lambda found: _simple(found, "fp8-channel"),
        "mxfp4": lambda found: Scheme("mxfp4", (Rule("mxfp4", roles=("expert",)),), _excluded(found)),
        "awq": _awq,
        "gptq": _gptq,
        "auto-round": _gptq,
        "auto_round": _gptq,
        "bitsandbytes": _bitsandbytes,
        "compressed-tensors": _compressed,
        "compressed_tensors": _compressed,
        "quark": _quark,
    }
    reader = readers.get(method)
    return reader(section) if reader else None


def _excluded(section: Mapping[str, Any], *more: str) -> Names:
    found: list[object] = list(more)
    for key in ("modules_to_not_convert", "ignored_layers", "ignore", "exclude", "llm_int8_skip_modules"):
        listed = section.get(key)
        if isinstance(listed, list):
            found += listed
    return Names.of(found) if found else NOTHING


def _simple(section: Mapping[str, Any], name: str) -> Scheme:
    return Scheme(str(section.get("quant_method")), (Rule(name),), _excluded(section))


def _fp8(section: Mapping[str, Any], text: Mapping[str, Any]) -> Scheme:
    """Blocks of 128 x 128 or one scale a tensor. DeepSeek V4 keeps its experts in 4 bits (`expert_dtype`)."""
    name = "fp8-block" if section.get("weight_block_size") else "fp8"
    rules = [Rule(name)]
    if str(text.get("expert_dtype", "")).lower() in ("fp4", "mxfp4"):
        rules = [Rule("mxfp4", roles=("expert",)), Rule(name, roles=("linear",))]
    return Scheme("fp8", tuple(rules), _excluded(section))


def _awq(section: Mapping[str, Any]) -> Scheme | None:
    bits = section.get("bits", section.get("w_bit", 4))
    base = "awq-int4" if section.get("zero_point", True) else "int4"
    return _grouped(section, "awq", base if bits == 4 else "int8-weight-only" if bits == 8 else "")


def _gptq(section: Mapping[str, Any]) -> Scheme | None:
    bits = section.get("bits", 4)
    return _grouped(section, str(section.get("quant_method")), f"gptq-int{bits}" if bits in (2, 3, 4, 8) else "")


def _grouped(section: Mapping[str, Any], method: str, base: str) -> Scheme | None:
    if formats.get(base) is None:
        return None
    group = section.get("group_size", section.get("q_group_size", 128))
    group = group if isinstance(group, int) and 0 < group < 100_000 else None
    name = f"{base}-g{group}" if group not in (None, 128) else base
    dynamic = section.get("dynamic")
    patterns = [f"re:{key[2:]}" for key in dynamic if str(key).startswith("-:")] if isinstance(dynamic, Mapping) else []
    roles = ("linear", "expert", "head") if section.get("lm_head") is True else ("linear", "expert")
    return Scheme(method, (Rule(name, roles=roles),), _excluded(section, *patterns))


def _bitsandbytes(section: Mapping[str, Any]) -> Scheme:
    name = "bnb-int8"
    if section.get("load_in_4bit") or section.get("_load_in_4bit"):
        name = "bnb-nf4" if section.get("bnb_4bit_use_double_quant") else "bnb-nf4-single"
    return Scheme("bitsandbytes", (Rule(name),), _excluded(section))


def _compressed(section: Mapping[str, Any]) -> Scheme | None:
    rules = compressed_tensors.rules(section)
    if rules is None:
        return None
    found = tuple(_rule(name, targets) for name, targets in rules)
    cache = compressed_tensors.cache_format(section.get("kv_cache_scheme"))
    return Scheme("compressed-tensors", found, _excluded(section), cache)


def _rule(name: str, targets: list[str] | None) -> Rule:
    """Named targets may include the head; a class of modules (`Linear`) does not."""
    return Rule(name) if targets is None else Rule(name, Names.of(targets), ("linear", "expert", "head"))


def _modelopt(section: Mapping[str, Any]) -> Scheme | None:
    found = modelopt.read(section)
    if found is None:
        return None
    rules = tuple(_rule(name, targets) for name, targets in found.rules)
    return Scheme(found.name, rules, Names.of(found.excluded) if found.excluded else NOTHING, found.cache_format)


def _quark(section: Mapping[str, Any]) -> Scheme | None:
    """AMD Quark: one format for all products; `exclude` lists what is left."""
    whole = section.get("global_quant_config")
    weight = whole.get("weight") if isinstance(whole, Mapping) else None
    weight = weight[0] if isinstance(weight, list) and weight else weight
    kind = str(weight.get("dtype", "")).lower() if isinstance(weight, Mapping) else ""
    name = {"fp4": "mxfp4", "fp8_e4m3": "fp8", "int8": "int8", "int4": "int4", "uint4": "awq-int4"}.get(kind)
    return Scheme("quark", (Rule(name),), _excluded(section)) if name else None
