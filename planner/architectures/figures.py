"""A model given by figures (`architecture:` of a spec) into layer groups.

What the figures leave open is one opaque weight that every token passes through, so that the parameter count is the
declared one to the unit. Experts are split off where their widths are given, or where active_parameters says how
much of the model they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.architectures import findings as said
from planner.domain.model import CacheEntry, FeedForward, LayerGroup, Mixer, Model, RecurrentState, Weight
from planner.findings import Finding


def read_figures(section: Mapping[str, Any], *, name: str) -> tuple[Model | None, list[Finding]]:
    """The model, counted exactly as declared. Findings where the figures contradict each other."""
    problems = list(_contradictions(section))
    if problems:
        return None, problems
    layers = int(section["layers"])
    parameters = int(section["parameters"])
    hidden = _hidden(section)
    vocabulary = int(section.get("vocabulary", 0))
    tables = vocabulary * hidden
    tied = bool(section.get("tied_embeddings", False))
    embedding = (Weight("embedding", vocabulary, hidden, "embedding", "vocabulary"),) if tables else ()
    head = Weight("head", vocabulary, hidden, "head", "vocabulary") if tables and not tied else None
    around = tables * (1 if tied else 2) if tables else 0
    experts = _experts(section, layers, hidden, parameters - around)
    routed = experts.parameters * _expert_layers(section, layers) if experts else 0
    rest = parameters - around - routed
    if rest < 0:
        return None, [
            said.error(
                "figures",
                "the experts and tables have more parameters than the model",
                "Raise parameters, or correct experts.width, vocabulary or hidden.",
            )
        ]
    model = Model(
        name=name,
        hidden=hidden,
        vocabulary=vocabulary,
        groups=tuple(_groups(section, layers, rest, experts)),
        embedding=embedding,
        head=head,
        norms=(Weight("remainder", 1, rest % layers, "linear", "column"),) if rest % layers else (),
        max_context=section.get("max_context"),
        dtype="bf16",
        family="figures",
        exact=False,
    )
    return model, []


def _contradictions(section: Mapping[str, Any]) -> list[Finding]:
    attention, layers = section["attention"], int(section["layers"])
    found = []
    if attention.get("kind", "full") == "latent":
        if not {"latent_dim", "rope_dim"} <= set(attention):
            found.append(
                said.error(
                    "figures",
                    "latent attention needs latent_dim and rope_dim",
                    "Give both (512 and 64 in DeepSeek-V3).",
                )
            )
    elif "kv_heads" not in attention:
        found.append(
            said.error("figures", "attention gives no kv_heads", "Give kv_heads: what is cached depends on it.")
        )
    heads, kv_heads = attention.get("heads"), attention.get("kv_heads")
    if heads and kv_heads and heads % kv_heads:
        found.append(said.error("figures", f"{heads} heads are no multiple of {kv_heads} kv_heads"))
    for place, part in (
        ("attention.layers", attention.get("layers")),
        ("attention.window_layers", attention.get("window_layers")),
        ("experts.layers", (section.get("experts") or {}).get("layers")),
        ("recurrent.layers", (section.get("recurrent") or {}).get("layers")),
    ):
        if part is not None and part > layers:
            found.append(said.error("figures", f"{place} is {part}, but the model has {layers} layers"))
    active = section.get("active_parameters")
    if active is not None and active > section["parameters"]:
        found.append(said.error("figures", "active_parameters exceeds parameters"))
    return found


def _hidden(section: Mapping[str, Any]) -> int:
    attention = section["attention"]
    heads = attention.get("heads") or attention.get("kv_heads") or 1
    return int(section.get("hidden") or heads * attention["head_dim"])


def _expert_layers(section: Mapping[str, Any], layers: int) -> int:
    return int((section.get("experts") or {}).get("layers", layers))


def _experts(section: Mapping[str, Any], layers: int, hidden: int, available: int) -> Weight | None:
    """The routed experts of one layer: three matrices of hidden x width each, or by what is inactive.

    parameters - active = layers x (count - per_token) x expert, which gives the size of one.
    """
    experts = section.get("experts")
    if not experts:
        return None
    count, used = int(experts["count"]), int(experts["per_token"])
    if "width" in experts:
        size = 3 * hidden * int(experts["width"])
    elif section.get("active_parameters") and count > used:
        inactive = int(section["parameters"]) - int(section["active_parameters"])
        size = inactive // (_expert_layers(section, layers) * (count - used))
    else:
        return None
    return Weight("experts", 1, size, "expert", "column", copies=count, active_copies=used)


def _groups(section: Mapping[str, Any], layers: int, rest: int, experts: Weight | None) -> list[LayerGroup]:
    """Equal layers together: attention with and without a window, recurrent layers, layers with experts."""
    attention, recurrent = section["attention"], section.get("recurrent") or {}
    expert_layers = _expert_layers(section, layers) if experts else 0
    attending = int(attention.get("layers", layers - int(recurrent.get("layers", 0)) if recurrent else layers))
    windowed = int(attention.get("window_layers", attending)) if attention.get("window") else 0
    body = Weight("body", 1, rest // layers, "linear", "column")  # one long row: groups divide it
    kinds: dict[tuple[str, bool], list[int]] = {}
    for layer in range(layers):
        mixer = (
            "windowed" if layer < windowed else "full" if layer < attending else "recurrent" if recurrent else "none"
        )
        kinds.setdefault((mixer, layer >= layers - expert_layers), []).append(layer)
    return [
        LayerGroup(
            layers=tuple(members),
            mixers=(_mixer(kind, section),),
            feed_forwards=(_feed_forward(body, experts if routed else None, section),),
        )
        for (kind, routed), members in kinds.items()
    ]


def _feed_forward(body: Weight, experts: Weight | None, section: Mapping[str, Any]) -> FeedForward:
    figures = section.get("experts") or {}
    if experts is None:
        return FeedForward("dense", (body,), int(section.get("feed_forward", 0)))
    width = int(figures.get("width", 0))
    return FeedForward(
        "experts",
        (body, experts),
        width,
        int(figures["count"]),
        int(figures["per_token"]),
        width * int(figures.get("shared", 0)),
    )


def _mixer(kind: str, section: Mapping[str, Any]) -> Mixer:
    if kind == "none":
        return Mixer("none")
    if kind == "recurrent":
        figures = section["recurrent"]
        state = RecurrentState(int(figures.get("convolution", 0)), int(figures["state"]))
        return Mixer("mamba-2", state=state)
    attention = section["attention"]
    heads, head = _query_heads(section), int(attention["head_dim"])
    if attention.get("kind", "full") == "latent":
        return _latent(attention, heads)
    kv_heads, value = int(attention["kv_heads"]), int(attention.get("value_dim", head))
    window = int(attention["window"]) if kind == "windowed" else None
    cache = CacheEntry(kv_heads * (head + value), kv_heads, window)
    return Mixer(
        "sliding-attention" if window else "full-attention",
        cache=(cache,), heads=heads, kv_heads=kv_heads, key_dim=head, value_dim=value, window=window,
    )  # fmt: skip


def _query_heads(section: Mapping[str, Any]) -> int:
    """Heads of the score products: declared; 0 (no attention arithmetic) where nothing says how many."""
    attention = section["attention"]
    if attention.get("heads"):
        return int(attention["heads"])
    return int(section["hidden"]) // int(attention["head_dim"]) if section.get("hidden") else 0


def _latent(attention: Mapping[str, Any], heads: int) -> Mixer:
    latent, rope, head = int(attention["latent_dim"]), int(attention["rope_dim"]), int(attention["head_dim"])
    value = int(attention.get("value_dim", head))
    return Mixer(
        "latent-attention",
        cache=(CacheEntry(latent + rope, 1, role="latent"),),
        heads=heads, kv_heads=1, key_dim=head + rope, value_dim=value,
        decode_key_dim=latent + rope, decode_value_dim=latent,
    )  # fmt: skip
