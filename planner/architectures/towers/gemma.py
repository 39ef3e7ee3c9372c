"""Towers of Gemma 3n and Gemma 4: a vision encoder (a mobile net in 3n), an audio conformer, their embedders."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("gemma3n", "gemma4")
_MOBILENET_PARAMETERS = 294_126_912
"""`mobilenetv5_300m_enc`, a fixed network of convolutions: its parameters as the timm library builds it."""


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    found: list[Weight] = []
    older = root.text("model_type") == "gemma3n"
    if root.has("vision_config"):
        vision = root.below("vision_config")
        found += _mobile(vision, hidden) if older else _vision(vision, hidden)
    if root.has("audio_config"):
        audio = root.below("audio_config")
        found += _audio(audio, older)
        found += _embedder(audio, audio.optional("hidden_size") or 1536, hidden, "embed_audio") if older else product(
            "embed_audio", hidden, audio.optional("output_proj_dims") or 1536
        )  # fmt: skip
    return tuple(found)


def _mobile(vision: Fields, hidden: int) -> tuple[Weight, ...]:
    tower = vector("vision_tower", _MOBILENET_PARAMETERS)
    return (tower, *_embedder(vision, vision.optional("hidden_size") or 2048, hidden, "embed_vision"))


def _embedder(section: Fields, size: int, hidden: int, name: str) -> tuple[Weight, ...]:
    """A small table of its own, two norms, a projection."""
    rows = section.optional("vocab_size") or 128
    return (vector(f"{name}.table_norms", rows * size + 2 * size), *product(f"{name}.projection", hidden, size))


def _vision(vision: Fields, hidden: int) -> tuple[Weight, ...]:
    """Four norms a layer, norms on heads, gated feed-forwards; positions by row and column."""
    size, inner = vision.optional("hidden_size") or 768, vision.optional("intermediate_size") or 3072
    layers, patch = vision.optional("num_hidden_layers") or 16, vision.optional("patch_size") or 16
    head_dim = vision.optional("head_dim") or 64
    rows = vision.optional("position_embedding_size") or 10240
    encoder = Encoder(
        size, layers, inner, gated=True, bias=False, mlp_bias=False, norm_bias=False, norms=4, head_norm=2 * head_dim,
        inner_heads=(vision.optional("num_attention_heads") or 12) * head_dim,
    )  # fmt: skip
    return (
        vector("vision_tower.positions", 2 * rows * size),
        *product("vision_tower.patch_embedder", size, 3 * patch * patch),
        *encoder.weights(),
        *product("embed_vision", hidden, size),
    )


def _audio(audio: Fields, older: bool) -> tuple[Weight, ...]:
    """A conformer: two feed-forwards of four times the width around attention and a short convolution."""
    size = audio.optional("hidden_size") or (1536 if older else 1024)
    layers = audio.optional("conf_num_hidden_layers", "num_hidden_layers") or 12
    heads = audio.optional("conf_num_attention_heads", "num_attention_heads") or 8
    kernel = audio.optional("conf_conv_kernel_size", "conv_kernel_size") or 5
    listed = audio.sequence("sscp_conv_channel_size", "subsampling_conv_channels") or [128, 32]
    first, second = (item if isinstance(item, int) and 0 < item < 65536 else 128 for item in (*listed, 128, 32)[:2])
    bins = audio.optional("input_feat_size") or 128
    at, small = "audio_tower.layers", size // heads + size * kernel + 9 * size
    found = [
        vector("audio_tower.subsample", first * 9 + first + second * first * 9 + second),
        *product("audio_tower.subsample.proj", size, second * bins // 4),
        *product(f"{at}.ffw.1", 8 * size, size, copies=layers),
        *product(f"{at}.ffw.2", size, 8 * size, copies=layers),
        *product(f"{at}.attn", 5 * size, size, copies=layers),
        *product(f"{at}.lconv1d", 3 * size, size, copies=layers),
        vector(f"{at}.norms", small, layers),
    ]
    if not older:
        found += product("audio_tower.output_proj", audio.optional("output_proj_dims") or 1536, size, bias=True)
    return tuple(found)
