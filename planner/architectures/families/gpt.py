"""GPT-2 and its kin (GPT-J, NeoX, BigCode, CodeGen, OPT, BLOOM): plain feed-forwards, layer norms with biases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import weights
from planner.architectures.attention import Attention
from planner.architectures.decoder import grouped_attention, uniform, width
from planner.architectures.feed_forward import plain
from planner.architectures.fields import Fields
from planner.architectures.stack import hidden_size
from planner.domain.model import FeedForward, Model, Weight

MODEL_TYPES = ("gpt2", "gpt_bigcode", "gptj", "codegen", "gpt_neox", "gpt_neox_japanese", "gpt_neo", "opt", "bloom")
DEFAULTS: dict[str, dict[str, Any]] = {
    "gpt2": {"n_positions": 1024, "vocab_size": 50257},
    "gpt_bigcode": {"n_positions": 1024, "vocab_size": 50257, "multi_query": True},
    "bloom": {"vocab_size": 250880},
    "opt": {"vocab_size": 50272, "max_position_embeddings": 2048},
    "gpt_neox": {"attention_bias": True},
}


def read(fields: Fields) -> Model:
    family = fields.text("model_type")
    if family == "opt":
        return _opt(fields)
    hidden = hidden_size(fields)
    biased = family not in ("gptj", "codegen", "gpt_neo")
    attention_bias = fields.flag("attention_bias", default=biased) if family == "gpt_neox" else biased
    attention = grouped_attention(
        fields,
        kv_heads=1 if family == "gpt_bigcode" and fields.flag("multi_query") else None,
        input_bias=attention_bias,
        output_bias=attention_bias or family == "gpt_neo",
    )
    parallel = family in ("gptj", "codegen")
    names = ("input_layernorm",) if parallel else ("input_layernorm", "post_attention_layernorm")
    return uniform(
        fields,
        attention,
        plain(hidden, width(fields, 4 * hidden), bias=True),
        layer_norms=weights.norms(hidden, *names, bias=True),
        norm_bias=True,
        head_bias=parallel,
        embedding=_positions(fields, family),
        norms=weights.norms(hidden, "word_embeddings_layernorm", bias=True) if family == "bloom" else (),
        tied=family in ("gpt2", "gpt_bigcode", "bloom", "gpt_neo"),
    )


def _positions(fields: Fields, family: str) -> tuple[Weight, ...]:
    """A table of learned positions, where the family has one."""
    if family not in ("gpt2", "gpt_bigcode", "gpt_neo"):
        return ()
    return (weights.positions(fields.need("n_positions", "max_position_embeddings"), hidden_size(fields)),)


def _opt(fields: Fields) -> Model:
    """Two rows more of positions than the context; embeddings may be narrower, with a product on either side."""
    hidden = hidden_size(fields)
    bias = fields.flag("enable_bias", default=True)
    attention = _opt_attention(fields, bias)
    narrow = fields.optional("word_embed_proj_dim") or hidden
    between = narrow != hidden
    fed: FeedForward = plain(hidden, width(fields), bias=bias)
    ends = (*weights.whole("project_in", hidden, narrow), *weights.whole("project_out", narrow, hidden))
    model = uniform(
        fields,
        attention,
        fed,
        layer_norms=weights.norms(hidden, "self_attn_layer_norm", "final_layer_norm", bias=True),
        norm_bias=True,
        final_norm=fields.flag("do_layer_norm_before", default=True) and not fields.flag("_remove_final_layer_norm"),
        embedding=(weights.positions(fields.need("max_position_embeddings") + 2, hidden),),
        norms=ends if between else (),
        tied=True,
    )
    return _narrowed(model, narrow) if between else model


def _opt_attention(fields: Fields, bias: bool) -> Attention:
    return grouped_attention(fields, input_bias=bias, output_bias=bias)


def _narrowed(model: Model, narrow: int) -> Model:
    """The model with word embeddings (and head) of `narrow` width."""
    tables = (replace(model.embedding[0], inputs=narrow), *model.embedding[1:])
    return replace(model, embedding=tables, head=None if model.head is None else replace(model.head, inputs=narrow))
