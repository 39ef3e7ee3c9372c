"""A Hugging Face `config.json` into a Model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.architectures import families, findings, generic, quantization, towers
from planner.architectures.fields import Fields
from planner.domain.model import Model
from planner.findings import Finding

UNCOUNTED = "the vision or audio tower is not counted"
_TEXT_KEYS = ("text_config", "llm_config", "language_config", "thinker_config")


def read_config(
    config: Mapping[str, Any], *, name: str, hf_quant_config: Mapping[str, Any] | None = None
) -> tuple[Model | None, list[Finding]]:
    """The model that a config describes, and what there is to say about it.

    config: as parsed (`Infinity` is harmless). hf_quant_config: the file of that name beside it, if there is
    one. None with at least one error where a size is missing or impossible.
    """
    text = language_part(config)
    model_type = text.get("model_type") or config.get("model_type")
    model_type = model_type if isinstance(model_type, str) else _implied_type(text)
    family = families.get(model_type)
    if family is None and isinstance(config.get("model_type"), str):
        family = families.get(config["model_type"])
        model_type = config["model_type"] if family else model_type
    said = [] if family else [findings.unknown_type(model_type)]
    module = family or generic
    defaults = dict(module.DEFAULTS.get(model_type, {}))
    if text is not config:
        defaults |= getattr(module, "NESTED_DEFAULTS", {}).get(model_type, {})
    fields = Fields({**defaults, **_given(text), "model_type": model_type}, config)
    model, problems = _read(module, fields, model_type)
    if model is None:
        return None, problems
    if UNCOUNTED in model.notes:
        said.append(findings.uncounted_tower(str(config.get("model_type"))))
    stored, warnings = quantization.apply(model, config, text, hf_quant_config)
    return replace(stored, name=name), said + warnings


def _implied_type(text: Mapping[str, Any]) -> str:
    """The type of a file that names none: those of the original state-space models hold an `ssm_cfg`."""
    settings = text.get("ssm_cfg")
    if not isinstance(settings, Mapping):
        return ""
    return "mamba2_original" if settings.get("layer") == "Mamba2" else "mamba"


def _given(text: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not null: a null leaves the class default standing."""
    return {key: value for key, value in text.items() if value is not None}


def language_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The map that holds the language model's sizes: nested in multimodal files, at most three deep."""
    text = config
    for _ in range(3):
        nested = next((text[key] for key in _TEXT_KEYS if isinstance(text.get(key), Mapping) and text[key]), None)
        if nested is None:
            break
        text = nested
    return text


def _with_towers(model: Model, fields: Fields) -> Model:
    """The model with the weights of its vision and audio encoders, where the file describes any."""
    keys = ("vision_config", "audio_config", "thinker_config")
    has_towers = any(isinstance(fields.root.get(key), Mapping) for key in keys)
    if not has_towers:
        return model
    kind = fields.root.get("model_type")
    module = towers.get(kind) if isinstance(kind, str) else None
    heads = _tower_heads(fields.root)
    if module is None:
        return replace(model, multimodal=True, tower_heads=heads, notes=(UNCOUNTED,))
    root = Fields(fields.root)
    root.missing, root.problems = fields.missing, fields.problems
    return replace(model, multimodal=True, tower_heads=heads, towers=module.read(root, model.hidden))


def _tower_heads(root: Mapping[str, Any]) -> int:
    """Attention heads of the image encoder, 0 where the config does not say."""
    nested = root.get("thinker_config")
    vision = root.get("vision_config") or (nested.get("vision_config") if isinstance(nested, Mapping) else None)
    if not isinstance(vision, Mapping):
        return 0
    found = (vision.get(key) for key in ("num_heads", "num_attention_heads", "attention_heads"))
    return next((value for value in found if type(value) is int and 0 < value <= 1024), 0)


def _read(module: Any, fields: Fields, model_type: str) -> tuple[Model | None, list[Finding]]:
    try:
        model: Model = module.read(fields)
        model = _with_towers(model, fields)
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        if not (fields.missing or fields.problems):
            said = f"the config of model type {model_type[:60]!a} cannot be read: {type(problem).__name__}"
            return None, [findings.error("unreadable", said, "compare it with the published file")]
        model = None  # type: ignore[assignment]
    problems = list(fields.problems)
    if fields.missing:
        problems.insert(0, findings.missing(model_type, fields.missing))
    return (None, problems) if problems else (model, [])
