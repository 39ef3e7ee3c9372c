"""LongCat-Flash: two latent attentions, two dense feed-forwards and experts a layer; some experts do nothing."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import experts, pre_norms, width
from planner.architectures.families.deepseek import latent_attention
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("longcat_flash",)
DEFAULTS: dict[str, dict[str, Any]] = {"longcat_flash": {"tie_word_embeddings": False}}


def read(fields: Fields) -> Model:
    """The router also scores `zero_expert_num` experts without weights."""
    hidden, count = hidden_size(fields), fields.need("n_routed_experts")
    scores = count + fields.count("zero_expert_num")
    idle = weights.whole("mlp.router.zero_experts", scores - count, hidden, role="router") if scores > count else ()
    bias = weights.vector("mlp.router.e_score_correction_bias", scores)
    mixture = experts(fields, experts=count, router="router.classifier", extra=(*idle, bias))
    dense = gated(hidden, width(fields), prefix="mlps")
    mixer = latent_attention(fields).mixer()
    layer = Layer((mixer, mixer), (dense, dense, mixture.feed_forward()), (*pre_norms(hidden), *pre_norms(hidden)))
    return assemble(fields, group([0] * layer_count(fields), lambda _: layer), tied=False)
