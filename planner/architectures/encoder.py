"""Vision and audio encoders: their weights as a few equal tensors, split over tensor-parallel ranks by width."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.model import Weight

MOST_LAYERS = 512


def product(name: str, outputs: int, inputs: int, *, bias: bool = False, copies: int = 1) -> tuple[Weight, ...]:
    """A product of a tower, and its bias."""
    weight = Weight(name, outputs, inputs, "tower", "column", copies=copies)
    return (weight, vector(f"{name}.bias", outputs, copies)) if bias else (weight,)


def vector(name: str, size: int, copies: int = 1) -> Weight:
    """A norm, a bias or a table of a tower, whole on every rank."""
    return Weight(name, size, 1, "tower", copies=copies)


@dataclass(frozen=True, slots=True)
class Encoder:
    """A transformer that sees everything: `layers` equal layers.

    gated: three products in the feed-forward. bias: of attention; mlp_bias: of the feed-forward. norm_bias: layer
    norms. norms: of a layer, `hidden` wide each. head_norm: size of the norms on queries and keys together.
    extra: further values of a layer (scales, gates). inner_heads: width of all heads, where it is not `hidden`.
    """

    hidden: int
    layers: int
    width: int
    gated: bool = False
    bias: bool = True
    mlp_bias: bool = True
    norm_bias: bool = True
    norms: int = 2
    head_norm: int = 0
    extra: int = 0
    inner_heads: int | None = None
    name: str = "vision_tower"

    def weights(self) -> tuple[Weight, ...]:
        """4 h p + 2 or 3 h I, with biases and norms, for each layer."""
        at, count = f"{self.name}.layers", max(1, min(self.layers, MOST_LAYERS))
        inner = self.inner_heads or self.hidden
        into = self.width * (2 if self.gated else 1)
        small = self.norms * self.hidden * (2 if self.norm_bias else 1) + self.head_norm + self.extra
        return (
            *product(f"{at}.attn.qkv", 3 * inner, self.hidden, bias=self.bias, copies=count),
            *product(f"{at}.attn.proj", self.hidden, inner, bias=self.bias, copies=count),
            *product(f"{at}.mlp.up", into, self.hidden, bias=self.mlp_bias, copies=count),
            *product(f"{at}.mlp.down", self.hidden, self.width, bias=self.mlp_bias, copies=count),
            *((vector(f"{at}.norms", small, count),) if small else ()),
        )
