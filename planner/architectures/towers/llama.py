"""Towers of Llama 4 and Llama 3.2 Vision."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("llama4", "mllama")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    if not root.has("vision_config"):
        return ()
    vision = root.below("vision_config")
    return (_fourth if root.text("model_type") == "llama4" else _third)(vision, hidden)


def _fourth(vision: Fields, hidden: int) -> tuple[Weight, ...]:
    """One class token and position a patch, a shuffle of 2 x 2 patches, an adapter of two products, a projector."""
    size, inner = vision.optional("hidden_size") or 768, vision.optional("intermediate_size") or 5632
    patch, image = vision.optional("patch_size") or 14, vision.optional("image_size") or 448
    middle, out = vision.optional("projector_input_dim") or 4096, vision.optional("projector_output_dim") or 4096
    layers = vision.optional("num_hidden_layers") or 34
    vision_out = vision.optional("vision_output_dim") or out
    return (
        *product("vision_model.patch_embedding", size, 3 * patch * patch),
        vector("vision_model.positions_norms", size + ((image // patch) ** 2 + 1) * size + 4 * size),
        *Encoder(size, layers, inner, name="vision_model").weights(),
        *product("vision_model.vision_adapter.fc1", middle, inner),
        *product("vision_model.vision_adapter.fc2", out, middle),
        *product("multi_modal_projector", hidden, vision_out),
    )


def _third(vision: Fields, hidden: int) -> tuple[Weight, ...]:
    """Local and gated global layers, tables of positions for each aspect ratio of tiles."""
    size = vision.optional("hidden_size") or 1280
    inner, patch = vision.optional("intermediate_size") or 5120, vision.optional("patch_size") or 14
    image, tiles = vision.optional("image_size") or 448, vision.optional("max_num_tiles") or 4
    listed = vision.sequence("supported_aspect_ratios")
    ratios = (len(listed) if listed else 8) + 1
    rows = (image // patch) ** 2 + 1
    tables = rows * size + ratios * tiles * rows * size + 2 * ratios * tiles * size + 3
    local, around = vision.optional("num_hidden_layers") or 32, vision.optional("num_global_layers") or 8
    out = vision.optional("vision_output_dim") or 7680
    encoder = Encoder(size, local, inner, bias=False, name="vision_model.transformer").weights()
    gated = Encoder(size, around, inner, bias=False, extra=2, name="vision_model.global_transformer").weights()
    return (
        *product("vision_model.patch_embedding", size, 3 * patch * patch),
        vector("vision_model.tables_norms", size + tables + 4 * size),
        *encoder,
        *gated,
        *product("multi_modal_projector", hidden, out, bias=True),
    )
