"""Encoders that shrink the image by convolutions or by joining patches: Step-3.7, MiniMax-M3."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("step3p7", "minimax_m3_vl")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    if not root.has("vision_config"):
        return ()
    vision = root.below("vision_config")
    return (_step if root.text("model_type") == "step3p7" else _minimax)(root, vision, hidden)


def _step(root: Fields, vision: Fields, hidden: int) -> tuple[Weight, ...]:
    """Two scales a layer, two convolutions of 3 x 3 that double the width, one product."""
    size, inner = vision.optional("hidden_size") or 1536, vision.optional("intermediate_size") or 8960
    layers, patch = vision.optional("num_hidden_layers") or 47, vision.optional("patch_size") or 14
    image = vision.optional("image_size") or 728
    return (
        *product("vision_model.patch_embedding", size, 3 * patch * patch),
        vector("vision_model.positions_norm", (image // patch) ** 2 * size + 2 * size),
        *Encoder(size, layers, inner, extra=2 * size, name="vision_model").weights(),
        *product("vision_model.downsampler1", 2 * size, 9 * size, bias=True),
        *product("vision_model.downsampler2", 4 * size, 18 * size, bias=True),
        *product("multi_modal_projector", hidden, 4 * size, bias=root.flag("projector_bias")),
    )


def _minimax(root: Fields, vision: Fields, hidden: int) -> tuple[Weight, ...]:
    """Patches over two frames; a projector for each patch, another for the 2 x 2 that are merged."""
    size, inner = vision.optional("hidden_size") or 1280, vision.optional("intermediate_size") or 5120
    layers, patch = vision.optional("num_hidden_layers") or 32, vision.optional("patch_size") or 14
    frames, merge = vision.optional("temporal_patch_size") or 2, vision.optional("spatial_merge_size") or 2
    middle = root.optional("projector_hidden_size") or hidden
    return (
        *product("vision_tower.patch_embedding", size, 3 * frames * patch * patch),
        vector("vision_tower.pre_norm", 2 * size),
        *Encoder(size, layers, inner).weights(),
        *product("multi_modal_projector.linear_1", middle, size, bias=True),
        *product("multi_modal_projector.linear_2", hidden, middle, bias=True),
        *product("multi_modal_projector.merge_linear_1", middle, hidden * merge * merge, bias=True),
        *product("multi_modal_projector.merge_linear_2", hidden, middle, bias=True),
    )
