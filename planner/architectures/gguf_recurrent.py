"""State of the layers of a GGUF file that keep no cache. llama.cpp keeps both parts in 32 bits.

Source: llama.cpp, src/llama-hparams.cpp `n_embd_r`, `n_embd_s`.
"""

from __future__ import annotations

from planner.architectures.gguf_fields import GgufFields
from planner.domain.model import Mixer, MixerKind, RecurrentState


def recurrent(names: set[str], fields: GgufFields) -> Mixer | None:
    """The mixer that these tensors of a layer make, without its weights; None where the layer keeps no state."""
    if "shortconv.conv" in names:
        return _mixer("linear", (fields.count("shortconv.l_cache", 1) - 1) * fields.hidden, 0)
    if any(name.startswith("time_mix") for name in names):
        head = fields.count("wkv.head_size", 64)
        return _mixer("rwkv", 2 * fields.hidden, fields.hidden * head, max(1, fields.hidden // head), head)
    if "ssm_conv1d_q" in names or "ssm_f_a" in names:
        return _delta_attention(fields)
    if "ssm_conv1d" in names or "ssm_a" in names:
        return _state_space(names, fields)
    return None


def _mixer(kind: MixerKind, convolution: int, state: int, heads: int = 1, head_dim: int = 0) -> Mixer:
    kept = RecurrentState(convolution, state, heads, convolution_bytes=4.0, state_bytes=4.0)
    return Mixer(kind, state=kept, heads=heads, key_dim=head_dim, value_dim=head_dim)


def _delta_attention(fields: GgufFields) -> Mixer:
    """3 (k - 1) heads d of convolution, heads d d of state."""
    heads, head = fields.heads[0], fields.count("kda.head_dim", 128)
    convolution = 3 * (fields.count("ssm.conv_kernel", 4) - 1) * heads * head
    return _mixer("kimi-delta-attention", convolution, heads * head * head, heads, head)


def _state_space(names: set[str], fields: GgufFields) -> Mixer:
    """(k - 1) (inner + 2 groups state) of convolution, inner state of state; Mamba-1 has no groups."""
    inner, size = fields.count("ssm.inner_size", 0), fields.count("ssm.state_size", 0)
    kind: MixerKind = "mamba-2"
    if "ssm_x" in names:
        kind = "mamba-1"
    elif names & {"ssm_ba", "ssm_beta", "ssm_beta_alpha"}:
        kind = "gated-delta-net"
    groups = 0 if kind == "mamba-1" else fields.count("ssm.group_count", 1)
    heads = 1 if kind == "mamba-1" else max(1, fields.count("ssm.time_step_rank", 1))
    convolution = max(0, fields.count("ssm.conv_kernel", 4) - 1) * (inner + 2 * groups * size)
    return _mixer(kind, convolution, inner * size, heads, size)
