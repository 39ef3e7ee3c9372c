"""DeepSeek-VL2: a SigLIP encoder and a projector that joins 2 x 2 patches."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("deepseek_vl_v2",)


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    """Widths by `mlp_ratio`; two learned vectors separate rows and views."""
    if not root.has("vision_config"):
        return ()
    vision, projector = root.below("vision_config"), root.below("projector_config")
    size, layers = vision.optional("width") or 1152, vision.optional("layers") or 27
    inner = int(size * vision.number("mlp_ratio", default=3.7362))
    patch, image = vision.optional("patch_size") or 14, vision.optional("image_size") or 384
    joined = size * (projector.optional("downsample_ratio") or 2) ** 2
    return (
        *product("vision.patch_embed", size, 3 * patch * patch, bias=True),
        vector("vision.positions_norm", (image // patch) ** 2 * size + 2 * size),
        *Encoder(size, layers, inner, name="vision").weights(),
        *product("projector.layers.0", hidden, joined, bias=True),
        *product("projector.layers.2", hidden, hidden, bias=True),
        vector("image_newline", 2 * hidden),
    )
