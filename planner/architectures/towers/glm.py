"""Tower of GLM-4.1V, 4.5V and 4.6V: patches over two frames, a convolution down by two, a gated merger."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.architectures.towers.qwen import patches
from planner.domain.model import Weight

MODEL_TYPES = ("glm4v", "glm4v_moe", "glm46v")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    """The blocks are as wide as `out_hidden_size`; `intermediate_size` is the merger's."""
    if not root.has("vision_config"):
        return ()
    vision = root.below("vision_config")
    size, out = vision.optional("hidden_size") or 1536, vision.optional("out_hidden_size") or hidden
    inner, layers = vision.optional("intermediate_size") or 13696, vision.optional("depth") or 24
    image, patch = vision.optional("image_size") or 336, vision.optional("patch_size") or 14
    merge = vision.optional("spatial_merge_size") or 2
    blocks = Encoder(size, layers, out, gated=True, bias=False, mlp_bias=False, norm_bias=False, name="visual")
    return (
        *patches(vision, size, bias=True),
        vector("visual.positions_norms", (image // patch) ** 2 * size + 2 * size),
        *blocks.weights(),
        *product("visual.downsample", out, size * merge * merge, bias=True),
        *product("visual.merger.proj", out, out),
        vector("visual.merger.norm", 2 * out),
        *product("visual.merger.gate_up", 2 * inner, out),
        *product("visual.merger.down", out, inner),
    )
