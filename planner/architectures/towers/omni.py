"""Towers of Qwen-Omni's thinker: the vision encoders of Qwen-VL, and audio encoders like Whisper's."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.architectures.towers import qwen
from planner.domain.model import Weight

MODEL_TYPES = ("qwen2_5_omni", "qwen2_5_omni_thinker", "qwen3_omni_moe", "qwen3_omni_moe_thinker")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    """Talker and speech decoder are separate models, which text serving does not load."""
    root = root.below("thinker_config") if root.has("thinker_config") else root
    older = "moe" not in root.text("model_type")
    found: list[Weight] = []
    if root.has("vision_config"):
        vision = root.below("vision_config")
        found += (qwen.second_and_half if older else qwen.third)(vision, hidden)
    if root.has("audio_config"):
        found += _audio(root.below("audio_config"), older)
    return tuple(found)


def _audio(audio: Fields, older: bool) -> tuple[Weight, ...]:
    size, inner = audio.optional("d_model") or 1280, audio.optional("encoder_ffn_dim") or 5120
    layers, out = audio.optional("encoder_layers") or 32, audio.optional("output_dim") or 3584
    bins = audio.optional("num_mel_bins") or 128
    at = "audio_tower"
    norm = vector(f"{at}.ln_post", 2 * size)
    if older:  # keys have no bias
        encoder = Encoder(size, layers, inner, bias=False, extra=3 * size, name=at).weights()
        convolutions = (
            *product(f"{at}.conv1", size, 3 * bins, bias=True),
            *product(f"{at}.conv2", size, 3 * size, bias=True),
            vector(f"{at}.audio_bos_eos_token", 2 * out),
        )
        return (*convolutions, *encoder, norm, *product(f"{at}.proj", out, size, bias=True))
    middle = audio.optional("downsample_hidden_size") or 480
    bands = bins
    for _ in range(3):  # each convolution halves the bands, rounding up
        bands = (bands + 1) // 2
    return (
        *product(f"{at}.conv2d1", middle, 9, bias=True),
        *product(f"{at}.conv2d2", middle, 9 * middle, bias=True),
        *product(f"{at}.conv2d3", middle, 9 * middle, bias=True),
        *product(f"{at}.conv_out", size, middle * bands),
        *Encoder(size, layers, inner, name=at).weights(),
        norm,
        *product(f"{at}.proj1", size, size, bias=True),
        *product(f"{at}.proj2", out, size, bias=True),
    )
