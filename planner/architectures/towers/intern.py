"""InternViT with a projector of two products: InternVL 2 to 3.5, NVLM."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("internvl_chat", "internvl", "NVLM_D")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    """Two scales a layer; norms on whole queries and keys in the largest (`qk_normalization`)."""
    if not root.has("vision_config"):
        return ()
    vision = root.below("vision_config")
    size = vision.optional("hidden_size") or 1024
    inner, layers = vision.optional("intermediate_size") or 4 * size, vision.optional("num_hidden_layers") or 24
    patch, image = _first(vision, "patch_size", 14), _first(vision, "image_size", 448)
    rms = vision.text("norm_type") == "rms_norm"
    normed = vision.flag("qk_normalization", "use_qk_norm")
    bias = vision.flag("qkv_bias", "attention_bias", default=True)
    encoder = Encoder(
        size, layers, inner, bias=bias, norm_bias=not rms, head_norm=2 * size if normed else 0,
        extra=2 * size + (0 if bias else size),
    )  # fmt: skip
    shuffled = size * 4
    return (
        *product("vision_model.patch_embedding", size, 3 * patch * patch, bias=True),
        vector("vision_model.positions", ((image // patch) ** 2 + 2) * size),
        *encoder.weights(),
        vector("mlp1.norm", 2 * shuffled),
        *product("mlp1.1", hidden, shuffled, bias=True),
        *product("mlp1.3", hidden, hidden, bias=True),
    )


def _first(vision: Fields, name: str, default: int) -> int:
    """A size given alone, or as [height, width]."""
    found = vision.raw(name)
    if isinstance(found, list):
        found = found[0] if found else None
    return found if isinstance(found, int) and 0 < found < 65536 else default
