"""Whisper-like audio encoders with a projector: Qwen2-Audio, Voxtral."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.domain.model import Weight

MODEL_TYPES = ("qwen2_audio", "voxtral")


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    """Two convolutions of width 3, positions, a transformer whose keys have no bias."""
    if not root.has("audio_config"):
        return ()
    audio = root.below("audio_config")
    size = audio.optional("d_model", "hidden_size") or 1280
    inner = audio.optional("encoder_ffn_dim", "intermediate_size") or 4 * size
    layers = audio.optional("encoder_layers", "num_hidden_layers") or 32
    bins, rows = audio.optional("num_mel_bins") or 128, audio.optional("max_source_positions") or 1500
    encoder = Encoder(size, layers, inner, bias=False, extra=3 * size, name="audio_tower").weights()
    return (
        *product("audio_tower.conv1", size, 3 * bins, bias=True),
        *product("audio_tower.conv2", size, 3 * size, bias=True),
        vector("audio_tower.positions_norm", rows * size + 2 * size),
        *encoder,
        *_projector(root, size, inner, hidden),
    )


def _projector(root: Fields, size: int, inner: int, hidden: int) -> tuple[Weight, ...]:
    """One product in Qwen2-Audio; two in Voxtral, which joins four frames."""
    if root.text("model_type") == "qwen2_audio":
        return product("multi_modal_projector", hidden, size, bias=True)
    return (
        *product("multi_modal_projector.linear_1", hidden, inner),
        *product("multi_modal_projector.linear_2", hidden, hidden),
    )
