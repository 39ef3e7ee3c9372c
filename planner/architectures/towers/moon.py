"""MoonViT with a patch merger: Kimi-VL, Kimi K2.5 and K3."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("kimi_vl", "kimi_k25", "kimi_k3")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    """Learned positions by row and column; the merger joins 2 x 2 patches in two products."""
    if not root.has("vision_config"):
        return ()
    vision = root.below("vision_config")
    size = vision.optional("vt_hidden_size", "hidden_size") or 1152
    inner = vision.optional("vt_intermediate_size", "intermediate_size") or 4304
    layers = vision.optional("vt_num_hidden_layers", "num_hidden_layers") or 27
    patch = vision.optional("patch_size") or 14
    rows = (vision.optional("init_pos_emb_height") or 64) * (vision.optional("init_pos_emb_width") or 64)
    bias, rms = vision.flag("attn_bias", default=True), vision.text("norm_type") == "rmsnorm"
    linear = vision.flag("linear_bias", default=True)
    encoder = Encoder(
        size, layers, inner, bias=bias, mlp_bias=linear, norm_bias=not rms,
        inner_heads=vision.optional("qkv_hidden_size"),
    )  # fmt: skip
    merged = size * 4
    patch_bias = vision.flag("patch_embed_proj_bias", default=True)
    return (
        *product("vision_tower.patch_embed", size, 3 * patch * patch, bias=patch_bias),
        vector("vision_tower.positions_norm", rows * size + (1 if rms else 2) * size),
        *encoder.weights(),
        vector("mm_projector.norm", 2 * size),
        *product("mm_projector.linear_1", merged, merged, bias=True),
        *product("mm_projector.linear_2", hidden, merged, bias=True),
    )
