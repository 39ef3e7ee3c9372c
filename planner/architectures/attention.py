"""Attention layers that keep keys and values: grouped heads, sliding windows, latents, indexers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.architectures import weights
from planner.domain.model import CacheEntry, Mixer, MixerKind, Weight


@dataclass(frozen=True, slots=True)
class Attention:
    """Shapes of one attention layer with its own keys and values.

    input_bias, output_bias: of query, key, value and of the output. query_key_norm: a norm on each head
    (`head`), on all heads together (`full`), or on each head with weights of its own (`per-head`).
    gated: the query product also gives an output gate. window: tokens that a query sees; chunked: the window
    is a fixed chunk. cached: False where the layer reads another layer's keys and values.
    value_product: False where values are the key product's output. names: of the four products.
    """

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int | None = None
    input_bias: bool = False
    output_bias: bool = False
    query_key_norm: Literal["", "head", "full", "per-head"] = ""
    gated: bool = False
    window: int | None = None
    chunked: bool = False
    cached: bool = True
    value_product: bool = True
    prefix: str = "self_attn"
    names: tuple[str, str, str, str] = ("q_proj", "k_proj", "v_proj", "o_proj")
    extra: tuple[Weight, ...] = ()

    def mixer(self) -> Mixer:
        """The mixer: h nh d + h nk d + h nk dv + nh dv h, doubled queries where gated, and biases and norms."""
        value_dim = self.value_dim or self.head_dim
        elements = self.kv_heads * (self.head_dim + value_dim)
        kind: MixerKind = "full-attention"
        if self.window is not None:
            kind = "chunked-attention" if self.chunked else "sliding-attention"
        return Mixer(
            kind=kind,
            weights=(*self._products(value_dim), *self._norms(), *self.extra),
            cache=(CacheEntry(elements, self.kv_heads, self.window),) if self.cached else (),
            heads=self.heads,
            kv_heads=self.kv_heads,
            key_dim=self.head_dim,
            value_dim=value_dim,
            window=self.window,
            query_key_norm=bool(self.query_key_norm),
        )

    def _products(self, value_dim: int) -> tuple[Weight, ...]:
        query, key, value, output = (f"{self.prefix}.{name}" for name in self.names)
        width, bias = self.heads * self.head_dim, self.input_bias
        found = [*weights.column(query, width * (2 if self.gated else 1), self.hidden, bias=bias)]
        if self.cached:
            found += weights.per_kv_head(key, self.kv_heads, self.head_dim, self.hidden, bias=bias)
            if self.value_product:
                found += weights.per_kv_head(value, self.kv_heads, value_dim, self.hidden, bias=bias)
        found += weights.row(output, self.hidden, self.heads * value_dim, bias=self.output_bias)
        return tuple(found)

    def _norms(self) -> tuple[Weight, ...]:
        if not self.query_key_norm:
            return ()
        query, key = f"{self.prefix}.q_norm", f"{self.prefix}.k_norm"
        if self.query_key_norm == "head":
            found = weights.norms(self.head_dim, query, key)
        else:
            found = (
                weights.vector(query, self.heads * self.head_dim, "column"),
                weights.vector(key, self.kv_heads * self.head_dim, "column"),
            )
        return found if self.cached else found[:1]


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention: keys and values are rebuilt from one latent that every rank keeps.

    query_rank: None where queries are not compressed. index_*: of the sparse indexer, 0 heads for none;
    indexed: whether this layer owns one (others reuse its selection).
    """

    hidden: int
    heads: int
    query_rank: int | None
    latent_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int
    input_bias: bool = False
    index_heads: int = 0
    index_dim: int = 0
    index_tokens: int | None = None
    indexed: bool = True
    output_gate: bool = False
    prefix: str = "self_attn"

    def mixer(self) -> Mixer:
        """The mixer, whose cache is latent_rank + rope_dim values a token; scores in decode are on the latent."""
        sparse = self.index_tokens is not None
        cache = [CacheEntry(self.latent_rank + self.rope_dim, role="latent")]
        owns = sparse and self.indexed
        if owns:
            cache.append(CacheEntry(self.index_dim, role="index", format="fp8_index"))
        return Mixer(
            kind="sparse-latent-attention" if sparse else "latent-attention",
            weights=(*self._query(), *self._latent(), *(self._indexer() if owns else ())),
            cache=tuple(cache),
            heads=self.heads,
            kv_heads=1,
            key_dim=self.nope_dim + self.rope_dim,
            value_dim=self.value_dim,
            decode_key_dim=self.latent_rank + self.rope_dim,
            decode_value_dim=self.latent_rank,
            sparse_tokens=self.index_tokens,
            index_heads=self.index_heads if owns else 0,
            index_dim=self.index_dim if owns else 0,
        )

    def _query(self) -> tuple[Weight, ...]:
        width, at = self.heads * (self.nope_dim + self.rope_dim), self.prefix
        if self.query_rank is None:
            return weights.column(f"{at}.q_proj", width, self.hidden)
        return (
            *weights.whole(f"{at}.q_a_proj", self.query_rank, self.hidden, bias=self.input_bias),
            weights.vector(f"{at}.q_a_layernorm", self.query_rank),
            *weights.column(f"{at}.q_b_proj", width, self.query_rank),
        )

    def _latent(self) -> tuple[Weight, ...]:
        at, rank = self.prefix, self.latent_rank
        bias, width = self.input_bias, self.heads * self.value_dim
        found = [
            *weights.whole(f"{at}.kv_a_proj_with_mqa", rank + self.rope_dim, self.hidden, bias=bias),
            weights.vector(f"{at}.kv_a_layernorm", rank),
            *weights.column(f"{at}.kv_b_proj", self.heads * (self.nope_dim + self.value_dim), rank),
            *weights.row(f"{at}.o_proj", self.hidden, width, bias=bias),
        ]
        if self.output_gate:
            found += weights.column(f"{at}.g_proj", width, self.hidden)
        return tuple(found)

    def _indexer(self) -> tuple[Weight, ...]:
        """q_lora ih id + h id + 2 id (layer norm) + h ih; every rank holds it."""
        at, heads, dim = f"{self.prefix}.indexer", self.index_heads, self.index_dim
        return (
            *weights.whole(f"{at}.wq_b", heads * dim, self.query_rank or self.hidden),
            *weights.whole(f"{at}.wk", dim, self.hidden),
            weights.vector(f"{at}.k_norm", 2 * dim),
            *weights.whole(f"{at}.weights_proj", heads, self.hidden),
        )
