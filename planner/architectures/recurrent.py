"""Mixers that keep a state of fixed size in place of keys and values."""

from __future__ import annotations

from dataclasses import dataclass

from planner.architectures import weights
from planner.architectures.fields import Fields
from planner.domain.model import Mixer, RecurrentState, Weight

_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "float64": 8.0}


def state_bytes(fields: Fields) -> float:
    """Bytes of one value of the state: what the config names, else 4. The convolution follows the model's 16 bits."""
    return _BYTES.get(fields.text("mamba_ssm_cache_dtype", "mamba_ssm_dtype").removeprefix("torch."), 4.0)


def convolution(name: str, channels: int, kernel: int, *, bias: bool = False) -> tuple[Weight, ...]:
    """A depth-wise convolution over time."""
    found = Weight(name, channels, kernel, "convolution", "column")
    return (found, weights.vector(f"{name}.bias", channels, "column")) if bias else (found,)


@dataclass(frozen=True, slots=True)
class Mamba1:
    """inner: width of the inner stream. rank: of the time step. norms: on time step, B and C (Jamba)."""

    hidden: int
    inner: int
    state: int
    kernel: int
    rank: int
    bias: bool = False
    conv_bias: bool = True
    norms: bool = False
    prefix: str = "mixer"
    bytes: float = 4.0

    def mixer(self) -> Mixer:
        """2 h di + di k + di (dt + 2 s) + dt di + di + di s + di + di h; state di s, convolution di (k - 1)."""
        at, inner = self.prefix, self.inner
        return Mixer(
            kind="mamba-1",
            weights=(
                *weights.column(f"{at}.in_proj", 2 * inner, self.hidden, bias=self.bias),
                *convolution(f"{at}.conv1d", inner, self.kernel, bias=self.conv_bias),
                *weights.row(f"{at}.x_proj", self.rank + 2 * self.state, inner),
                *weights.column(f"{at}.dt_proj", inner, self.rank, bias=True),
                weights.vector(f"{at}.A_log", inner * self.state, "column"),
                weights.vector(f"{at}.D", inner, "column"),
                *((weights.vector(f"{at}.dt_b_c_layernorm", self.rank + 2 * self.state),) if self.norms else ()),
                *weights.row(f"{at}.out_proj", self.hidden, inner, bias=self.bias),
            ),
            state=RecurrentState(inner * (self.kernel - 1), inner * self.state, shards=inner, state_bytes=self.bytes),
            heads=inner,
            key_dim=self.state,
            value_dim=1,
        )


@dataclass(frozen=True, slots=True)
class Mamba2:
    """inner = heads head_dim. norm: whether the gated norm exists. groups: that share B and C."""

    hidden: int
    heads: int
    head_dim: int
    state: int
    groups: int
    kernel: int
    bias: bool = False
    conv_bias: bool = True
    norm: bool = True
    inner_factor: int = 1
    prefix: str = "mixer"
    bytes: float = 4.0

    def mixer(self) -> Mixer:
        """h (2 di + 2 g s + nh) + (di + 2 g s)(k + 1) + 3 nh + di + di h; state nh d s, conv (di + 2 g s)(k - 1)."""
        at, inner = self.prefix, self.heads * self.head_dim
        channels = inner + 2 * self.groups * self.state
        return Mixer(
            kind="mamba-2",
            weights=(
                *weights.column(f"{at}.in_proj", inner + channels + self.heads, self.hidden, bias=self.bias),
                *convolution(f"{at}.conv1d", channels, self.kernel, bias=self.conv_bias),
                weights.vector(f"{at}.dt_bias_A_log_D", 3 * self.heads, "column"),
                *((weights.vector(f"{at}.norm", inner, "column"),) if self.norm else ()),
                *weights.row(f"{at}.out_proj", self.hidden, inner, bias=self.bias),
            ),
            state=RecurrentState(
                channels * (self.kernel - 1),
                inner * self.state,
                shards=self.heads,
                state_bytes=self.bytes,
                convolution_columns=self.kernel - 1,
            ),
            heads=self.heads,
            key_dim=self.state,
            value_dim=self.head_dim,
        )


@dataclass(frozen=True, slots=True)
class GatedDeltaNet:
    """Gated delta rule. key_heads, value_heads: of queries and keys, of values and the state."""

    hidden: int
    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int
    prefix: str = "linear_attn"
    bytes: float = 4.0

    def mixer(self) -> Mixer:
        """h (2K + 2V) + 2 h nv + (2K + V) k + 2 nv + dv + V h, K = nk dk, V = nv dv; state V dk."""
        at, keys, values = self.prefix, self.key_heads * self.key_dim, self.value_heads * self.value_dim
        channels = 2 * keys + values
        return Mixer(
            kind="gated-delta-net",
            weights=(
                *weights.column(f"{at}.in_proj_qkvz", channels + values, self.hidden),
                *weights.column(f"{at}.in_proj_ba", 2 * self.value_heads, self.hidden),
                *convolution(f"{at}.conv1d", channels, self.kernel),
                weights.vector(f"{at}.dt_bias_A_log", 2 * self.value_heads, "column"),
                weights.vector(f"{at}.norm", self.value_dim),
                *weights.row(f"{at}.out_proj", self.hidden, values),
            ),
            state=RecurrentState(
                channels * (self.kernel - 1),
                values * self.key_dim,
                shards=self.value_heads,
                state_bytes=self.bytes,
                convolution_columns=self.kernel - 1,
            ),
            heads=self.value_heads,
            kv_heads=self.key_heads,
            key_dim=self.key_dim,
            value_dim=self.value_dim,
        )


@dataclass(frozen=True, slots=True)
class KimiDeltaAttention:
    """Delta rule with a decay for each channel. full_gate: the output gate is one product, not two."""

    hidden: int
    heads: int
    head_dim: int
    kernel: int
    full_gate: bool = False
    prefix: str = "self_attn"
    bytes: float = 4.0

    def mixer(self) -> Mixer:
        """3 h p + 3 p k + gates + heads + p + h heads + d + p h, p = heads d; state p d, convolution 3 p (k - 1)."""
        at, inner, low = self.prefix, self.heads * self.head_dim, self.head_dim
        products = [weights.column(f"{at}.{name}_proj", inner, self.hidden)[0] for name in "qkv"]
        convolutions = [convolution(f"{at}.{name}_conv1d", inner, self.kernel)[0] for name in "qkv"]
        decay = (*weights.whole(f"{at}.f_a_proj", low, self.hidden), *weights.column(f"{at}.f_b_proj", inner, low))
        gate = weights.column(f"{at}.g_proj", inner, self.hidden)
        if not self.full_gate:
            gate = (*weights.whole(f"{at}.g_a_proj", low, self.hidden), *weights.column(f"{at}.g_b_proj", inner, low))
        return Mixer(
            kind="kimi-delta-attention",
            weights=(
                *products,
                *convolutions,
                *decay,
                *gate,
                weights.vector(f"{at}.A_log", self.heads, "column"),
                weights.vector(f"{at}.dt_bias", inner, "column"),
                *weights.column(f"{at}.b_proj", self.heads, self.hidden),
                weights.vector(f"{at}.o_norm", low),
                *weights.row(f"{at}.o_proj", self.hidden, inner),
            ),
            state=RecurrentState(3 * inner * (self.kernel - 1), inner * low, shards=self.heads, state_bytes=self.bytes),
            heads=self.heads,
            key_dim=low,
            value_dim=low,
        )


def lightning(hidden: int, heads: int, head_dim: int, *, norm: bool = True, prefix: str = "self_attn") -> Mixer:
    """Linear attention with a fixed decay: q, k, v, output and its gate, 5 h p + p; state heads d d."""
    inner = heads * head_dim
    return Mixer(
        kind="lightning-attention",
        weights=(
            *weights.column(f"{prefix}.qkv_proj", 3 * inner, hidden),
            *weights.column(f"{prefix}.output_gate", inner, hidden),
            *((weights.vector(f"{prefix}.norm", inner, "column"),) if norm else ()),
            *weights.row(f"{prefix}.out_proj", hidden, inner),
        ),
        state=RecurrentState(0, inner * head_dim, shards=heads),
        heads=heads,
        key_dim=head_dim,
        value_dim=head_dim,
    )
