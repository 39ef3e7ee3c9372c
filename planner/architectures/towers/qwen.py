"""Towers of Qwen-VL (2 to 3.6): patches over two frames, a merger of 2 x 2 patches, more for deep layers (3)."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    kind, vision = root.text("model_type"), root.below("vision_config")
    if not root.has("vision_config"):
        return ()
    readers = {"qwen2_vl": second, "qwen2_5_vl": second_and_half}
    return readers.get(kind, third)(vision, hidden)


def patches(vision: Fields, size: int, *, bias: bool) -> tuple[Weight, ...]:
    """A product of channels x frames x patch x patch inputs."""
    patch, frames = vision.optional("patch_size") or 14, vision.optional("temporal_patch_size") or 2
    channels = vision.optional("in_channels", "in_chans") or 3
    return product("visual.patch_embed", size, channels * frames * patch * patch, bias=bias)


def second(vision: Fields, hidden: int) -> tuple[Weight, ...]:
    """Qwen2-VL: plain feed-forwards, layer norms."""
    size = vision.optional("embed_dim") or 1280
    inner = int(size * vision.number("mlp_ratio", default=4.0))
    layers = vision.optional("depth") or 32
    encoder = Encoder(size, layers, inner, name="visual").weights()
    return (*patches(vision, size, bias=False), *encoder, *_merger(vision, size, hidden, 2 * size))


def second_and_half(vision: Fields, hidden: int) -> tuple[Weight, ...]:
    """Qwen2.5-VL: gated feed-forwards with biases, RMS norms."""
    size, inner = vision.optional("hidden_size") or 1280, vision.optional("intermediate_size") or 3420
    layers = vision.optional("depth") or 32
    encoder = Encoder(size, layers, inner, gated=True, norm_bias=False, name="visual").weights()
    out = vision.optional("out_hidden_size") or hidden
    return (*patches(vision, size, bias=False), *encoder, *_merger(vision, size, out, size))


def third(vision: Fields, hidden: int) -> tuple[Weight, ...]:
    """Qwen3-VL and later: learned positions, one more merger for each of `deepstack_visual_indexes`."""
    size, inner = vision.optional("hidden_size") or 1152, vision.optional("intermediate_size") or 4304
    layers = vision.optional("depth") or 27
    out = vision.optional("out_hidden_size") or hidden
    rows = vision.optional("num_position_embeddings") or 2304
    merged = size * (vision.optional("spatial_merge_size") or 2) ** 2
    deep = vision.sequence("deepstack_visual_indexes") or []
    found = [*patches(vision, size, bias=True), vector("visual.pos_embed", rows * size)]
    found += Encoder(size, layers, inner, name="visual").weights()
    found += _merger(vision, size, out, 2 * size)
    for index in range(min(len(deep), 64)):
        found += _merger(vision, size, out, 2 * merged, f"visual.deepstack_merger_list.{index}")
    return tuple(found)


def _merger(vision: Fields, size: int, out: int, norm: int, at: str = "visual.merger") -> tuple[Weight, ...]:
    merged = size * (vision.optional("spatial_merge_size") or 2) ** 2
    return (
        vector(f"{at}.norm", norm),
        *product(f"{at}.fc1", merged, merged, bias=True),
        *product(f"{at}.fc2", out, merged, bias=True),
    )
