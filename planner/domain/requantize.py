"""What a weights lever makes of a published model: which weights are converted and which are left, as the tools do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planner.domain import assign, formats
from planner.domain.gguf_mix import Mix
from planner.domain.model import Model, Weight

PLAIN = ("fp64", "fp32", "bf16", "fp16")
_BITSANDBYTES = ("bnb-nf4", "bnb-nf4-single", "bnb-int8")
_GGUF_PREFIXES = ("q2_", "q3_", "q4_", "q5_", "q6_", "q8_", "iq", "tq")


def is_gguf(name: str) -> bool:
    """Whether `name` is a type of GGUF files."""
    return name.lower().startswith(_GGUF_PREFIXES)


def requantize(model: Model, name: str) -> Model:
    """The model with its weights in `name` (a spelling that `formats.get` knows; ValueError otherwise).

    16 and 32 bits: everything. A model that is already stored so stays as it is. fp8, int8, int4, awq, gptq:
    the products of attention and feed-forward; embedding, head, router, norms, convolutions and towers stay
    in the model's dtype. nvfp4: the same, latent attention left as well. mxfp4: the experts, where there are
    any. bitsandbytes: products of towers too. GGUF types: every matrix, by llama.cpp's rules.
    """
    known = formats.known(name)
    name = name.lower() if formats.mix_base(name.lower()) else known.name
    if name in PLAIN:
        plain = assign.formats(model, lambda layer, weight: None, by_layer=False)
        return replace(plain, dtype=name, quantization=None, nominal=None)
    if model.nominal is not None and _kind(model.nominal) == _kind(name):
        return model
    if not model.exact:
        return _every(model, name)
    if is_gguf(name):
        mix = Mix.of(name, model)
        changed = assign.formats(model, _with_tied_head(model, mix))
    else:
        changed = assign.formats(model, _choice(model, name), by_layer=False)
    return replace(changed, quantization=name, nominal=name)


def _kind(name: str) -> str:
    """The family of a format: `fp8-block` and `fp8-channel` are fp8; groups do not matter."""
    base = name.split("-g")[0]
    return "fp8" if base.startswith("fp8") else base


def _every(model: Model, name: str) -> Model:
    """Bare figures: every parameter, as they say nothing about what is left."""
    base = formats.known(name).name
    changed = assign.formats(model, lambda layer, weight: base, by_layer=False)
    return replace(changed, quantization=name, nominal=name)


def _choice(model: Model, name: str) -> Callable[[int | None, Weight], str | None]:
    latent = {
        id(weight)
        for group in (*model.groups, *model.prediction_layers)
        for mixer in group.mixers
        if "latent" in mixer.kind
        for weight in mixer.weights
    }
    has_experts = any(weight.role == "expert" for _, weight in model.weights())

    def choose(layer: int | None, weight: Weight) -> str | None:
        if weight.inputs == 1:
            return None
        if name in _BITSANDBYTES and weight.role == "tower":
            return name
        if weight.role == "expert":
            return name
        if weight.role != "linear" or (name == "mxfp4" and has_experts) or (name == "nvfp4" and id(weight) in latent):
            return None
        return name

    return choose


def _with_tied_head(model: Model, mix: Mix) -> Callable[[int | None, Weight], str | None]:
    """llama.cpp's choice; a tied embedding is also the head and gets the head's type."""

    def choose(layer: int | None, weight: Weight) -> str | None:
        if model.tied and model.embedding and weight is model.embedding[0]:
            return mix.of_weight(layer, replace(weight, role="head"))
        return mix.of_weight(layer, weight)

    return choose
