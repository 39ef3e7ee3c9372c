"""Which tensor of a model gets which type in a GGUF file named after one type (`Q4_K_M`, `IQ3_XS`).

The rules are those by which llama.cpp's quantiser picks types when no override is given
(`llama_tensor_get_type`; the IQ types with an importance matrix, without which few are made): one type for most
tensors, more bits for values, down and output products of some layers, the head in 6 bits. Files that publishers
mix by rules of their own (names ending in `_XL`) differ in size by a few percent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.domain import formats
from planner.domain.model import Model, Weight

_VALUE = ("v_proj", "v_a_proj")
_KEY = ("k_proj",)
_QUERY = ("q_proj", "q_a_proj", "q_b_proj")
_FUSED = ("qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack", "wqkv")
_OUTPUT = ("o_proj", "out_proj")
_DOWN = ("down_proj", "w2")
_UP = ("up_proj", "gate_proj", "w1", "w3")
_SMALLEST = ("iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m")
_FALLBACK = {"q4_k": "q5_0", "q5_k": "q5_1", "q6_k": "q8_0"}
"""What replaces a type of 256-value blocks where a row is no multiple of 256; four bits for the smaller ones."""


@dataclass(frozen=True, slots=True)
class Mix:
    """One file type on one model. heads_per_kv: query heads for each KV head; experts: of a layer, 0 for none."""

    name: str
    layers: int
    heads_per_kv: float
    experts: int

    @classmethod
    def of(cls, name: str, model: Model) -> Mix:
        ratios = [mixer.heads / mixer.kv_heads for group in model.groups for mixer in group.mixers if mixer.kv_heads]
        counts = [feed_forward.experts for group in model.groups for feed_forward in group.feed_forwards]
        return cls(_rule(name), model.layers, max(ratios, default=1.0), max(counts, default=0))

    @property
    def base(self) -> str:
        found = formats.mix_base(self.name) or self.name
        return "iq3_xxs" if self.name == "iq3_xxs" else found

    def more_bits(self, layer: int) -> bool:
        """The first and last eighth of the layers, and every third between."""
        eighth = self.layers // 8
        return layer < eighth or layer >= 7 * self.layers // 8 or (layer - eighth) % 3 == 2

    def of_weight(self, layer: int | None, weight: Weight) -> str:
        """The type of one tensor. Vectors, routers and convolutions stay in 32 bits."""
        if weight.role == "tower":
            return "fp16"
        if weight.inputs == 1 or weight.role in ("vector", "router", "convolution"):
            return "fp32"
        chosen = self._type(layer or 0, weight)
        found = formats.known(chosen)
        if weight.inputs % found.group == 0:
            return chosen
        return _FALLBACK.get(chosen, "iq4_nl") if found.group == 256 else "fp16"

    def _type(self, layer: int, weight: Weight) -> str:
        if weight.role == "head":
            return self.head(tied=False)
        if weight.role in ("embedding", "position"):
            return self.embedding()
        last = weight.name.rsplit(".", 1)[-1]
        rules: tuple[tuple[tuple[str, ...], Callable[[int], str]], ...] = (
            (_VALUE, self._value), (_KEY, self._key), (_QUERY, self._query), (_FUSED, self._fused),
            (_OUTPUT, self._output), (_DOWN, self._down), (_UP, self._up),
        )  # fmt: skip
        return next((rule(layer) for names, rule in rules if last in names), self.base)

    def head(self, *, tied: bool) -> str:
        """The head, or the embedding that serves as one."""
        if self.name in (*_SMALLEST, "iq3_xxs"):
            return "q5_k"
        return self.base if self.base in ("q8_0", "fp16") else "q6_k"

    def embedding(self) -> str:
        if self.name in ("iq2_xxs", "iq2_xs", "iq1_s", "iq1_m"):
            return "q2_k"
        if self.name in ("iq2_s", "iq2_m", "iq3_xxs"):
            return "iq3_s"
        return "q4_k" if self.name in ("tq1_0", "tq2_0") else self.base

    def _value(self, layer: int) -> str:
        many, name = self.heads_per_kv >= 4, self.name
        if name in _SMALLEST:
            return "q4_k" if many or self.experts >= 4 else "iq3_s" if name in ("iq2_s", "iq2_m") else "q2_k"
        if self.experts == 8:
            return "q8_0"
        chosen = {
            "q2_k": "q4_k" if many else "q3_k",
            "q2_k_s": "q4_k" if many else "q2_k",
            "iq3_xxs": "q4_k" if many else "iq3_xxs",
            "iq3_xs": "q4_k" if many else "iq3_s",
            "iq3_s": "q4_k" if many else "iq3_s",
            "iq3_m": "q4_k",
            "q3_k_m": "q5_k" if layer < 2 else "q4_k",
            "q3_k_l": "q5_k",
            "iq4_nl": "q5_k" if many else "iq4_nl",
            "iq4_xs": "q5_k" if many else "iq4_xs",
            "q4_k_s": "q5_k" if layer < 4 else "q4_k",
            "q4_k_m": "q6_k" if self.more_bits(layer) else "q4_k",
            "q5_k_m": "q6_k" if self.more_bits(layer) else "q5_k",
        }.get(name, self.base)
        # Eighty layers that share keys among eight queries: values of 3 and 4 bits get 5.
        return "q5_k" if self.layers == 80 and self.heads_per_kv == 8 and chosen in ("q3_k", "q4_k") else chosen

    def _key(self, layer: int) -> str:
        if self.experts == 8:
            return "q4_k" if self.name in _SMALLEST else "q8_0"
        return {"iq3_xs": "iq3_xxs", "iq3_xxs": "iq2_s"}.get(self.name, self.base)

    def _query(self, layer: int) -> str:
        return {"iq3_xs": "iq3_xxs", "iq3_xxs": "iq2_s"}.get(self.name, self.base)

    def _fused(self, layer: int) -> str:
        more = {"q3_k_m": "q4_k", "q3_k_l": "q4_k", "iq3_m": "q4_k", "q4_k_m": "q5_k", "q5_k_m": "q6_k"}
        return more.get(self.name, self.base)

    def _output(self, layer: int) -> str:
        name = self.name
        if name in _SMALLEST:
            smallest = {"iq1_s": "iq2_xxs", "iq1_m": "iq2_xxs", "iq2_s": "iq3_s", "iq2_m": "iq3_s"}
            return "q5_k" if self.experts == 8 else smallest.get(name, self.base)
        if self.experts == 8:
            return self.base if self.base in ("q5_k", "q6_k", "q8_0", "q4_0", "q5_0") else "q5_k"
        more = {"q2_k": "q3_k", "iq3_xxs": "iq3_s", "q3_k_m": "q4_k", "q3_k_l": "q5_k", "iq3_m": "q4_k"}
        return more.get(name, self.base)

    def _down(self, layer: int) -> str:
        first, name = layer < self.layers // 8, self.name
        if name in _SMALLEST:
            return ("iq3_s" if name in ("iq2_s", "iq2_m") else "q2_k") if first else self.base
        return {
            "q2_k": "q3_k",
            "q2_k_s": "q4_k" if first else "q2_k",
            "q3_k_m": "q5_k" if layer < self.layers // 16 else "q4_k",
            "q3_k_l": "q5_k",
            "iq3_m": "q4_k" if first or (self.experts == 8 and self.more_bits(layer)) else "iq3_s",
            "q4_k_s": "q5_k" if first else "q4_k",
            "q4_k_m": "q6_k" if self.more_bits(layer) else "q4_k",
            "q5_k_m": "q6_k" if self.more_bits(layer) else "q5_k",
        }.get(name, self.base)

    def _up(self, layer: int) -> str:
        middle = self.layers // 8 <= layer < 7 * self.layers // 8
        return "iq3_xxs" if self.name == "iq3_xs" and middle else self.base


def _rule(name: str) -> str:
    """The rule of a file type: names of publishers' own mixes follow the nearest of llama.cpp's."""
    if name.endswith(("_xl", "_k_l")):
        return {"q2": "q2_k", "q3": "q3_k_l", "q4": "q4_k_m", "q5": "q5_k_m", "q6": "q6_k", "q8": "q8_0"}[name[:2]]
    return {"q4_k": "q4_k_m", "q5_k": "q5_k_m", "q3_k": "q3_k_m"}.get(name, name)
