"""Pixtral encoders with a patch merger: Mistral Small 3.1 and later, Ministral 3, Pixtral."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("mistral3", "pixtral", "ministral3")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    """Gated feed-forwards, RMS norms, no biases; the projector merges `spatial_merge_size` squared patches."""
    if not root.has("vision_config"):
        return ()
    vision = root.below("vision_config")
    size = vision.optional("hidden_size") or 1024
    inner, patch = vision.optional("intermediate_size") or 4096, vision.optional("patch_size") or 16
    layers = vision.optional("num_hidden_layers") or 24
    bias = root.flag("multimodal_projector_bias", default=root.text("model_type") == "llava")
    encoder = Encoder(size, layers, inner, gated=True, bias=False, mlp_bias=False, norm_bias=False)
    merge = 1 if root.text("model_type") == "llava" else root.optional("spatial_merge_size") or 2
    merger: tuple[Weight, ...] = ()
    if root.text("model_type") != "llava":
        merger = (
            vector("multi_modal_projector.norm", size),
            *product("multi_modal_projector.patch_merger", size, size * merge * merge),
        )
    return (
        *product("vision_tower.patch_conv", size, 3 * patch * patch),
        vector("vision_tower.ln_pre", size),
        *encoder.weights(),
        *merger,
        *product("multi_modal_projector.linear_1", hidden, size, bias=bias),
        *product("multi_modal_projector.linear_2", hidden, hidden, bias=bias),
    )
