"""A model of the catalogue as text for a person: counts, what is cached and kept, and each group of layers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from planner.architectures import layer_ranges
from planner.architectures.document import read_document
from planner.domain import shards
from planner.domain.model import FeedForward, LayerGroup, Mixer, Model
from planner.format import memory

WIDTH = 22
SAID = ("source", "revision", "licence", "fidelity", "owner", "description")


def figures(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the document adds up to, for machines; empty where it cannot be read."""
    model, _ = read_document({key: value for key, value in data.items() if key != "digest"})
    if model is None:
        return {}
    return {
        "parameters": model.parameters,
        "active_parameters": model.active_parameters,
        "layers": model.layers,
        "weights_bytes": shards.weight_bytes(model),
        "kv_bytes_per_token": shards.kv_bytes_per_token(model),
        "state_bytes_per_sequence": model.state_bytes_per_sequence,
    }


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    """(label and value, unescaped) lines of one model document with its digest."""
    model, findings = read_document({key: value for key, value in data.items() if key not in ("digest", "figures")})
    metadata: Mapping[str, Any] = data.get("metadata") or {}
    if model is None:
        yield f"{metadata.get('name', '')}: cannot be read"
        yield from (f"  {finding.message}" for finding in findings)
        return
    yield f"{model.name}: {model.family}"
    yield from _counts(model)
    yield from _kept(model)
    for title, groups in (("layers", model.groups), ("prediction layers", model.prediction_layers)):
        if groups:
            yield f"  {title}"
            yield from (f"    {line}" for group in groups for line in _group(group, model))
    yield from _around(model)
    yield from (_row(key, str(metadata[key])) for key in SAID if metadata.get(key))
    for note in (*metadata.get("notes", ()), *model.notes):
        yield _row("note", str(note))
    yield from (_row(finding.severity, finding.message) for finding in findings)
    yield _row("digest", str(data["digest"]))


def _row(label: str, value: str) -> str:
    return f"  {label:<{WIDTH}} {value}"


def _counts(model: Model) -> Iterator[str]:
    yield _row("parameters", f"{model.parameters:,}" + ("" if model.exact else " (declared)"))
    if model.active_parameters != model.parameters:
        share = model.active_parameters / model.parameters
        yield _row("active parameters", f"{model.active_parameters:,} a token ({share:.1%})")
    stored = model.quantization or model.dtype
    yield _row("weights", f"{memory(shards.weight_bytes(model))}, stored as {stored}")
    if model.prediction_layers:
        yield _row("prediction layers", f"{memory(shards.prediction_bytes(model))} more where speculation uses them")
    size = f"{model.layers} layers, hidden {model.hidden:,}, vocabulary {model.vocabulary:,}"
    yield _row("size", size + (f", context {model.max_context:,} tokens" if model.max_context else ""))


def _kept(model: Model) -> Iterator[str]:
    """Cache of a token and state of a sequence, at the precision that the checkpoint or its dtype fixes."""
    cached = shards.kv_bytes_per_token(model)
    if cached:
        windowed = math.fsum(
            count * shards.entry_bytes(entry, model) / entry.stride
            for count, entry in model.cache_entries()
            if entry.window is not None and entry.role in ("kv", "latent")
        )
        limit = f", {windowed:,.0f} of them only within a window" if windowed else ""
        yield _row("cache", f"{cached:,.0f} bytes a token in {model.cache_format or model.dtype}{limit}")
    index = shards.index_bytes_per_token(model)
    if index:
        yield _row("index keys", f"{index:,.0f} bytes a token")
    if model.state_bytes_per_sequence:
        yield _row("recurrent state", f"{memory(model.state_bytes_per_sequence)} a sequence, whatever its length")


def _group(group: LayerGroup, model: Model) -> Iterator[str]:
    parameters = sum(weight.parameters for weight in group.weights())
    plural = "layer" if group.count == 1 else "layers"
    yield f"{layer_ranges.written(group.layers)} ({group.count} {plural} of {parameters:,} parameters)"
    yield from (f"  {_mixer(mixer)}" for mixer in group.mixers)
    yield from (f"  {_fed(fed)}" for fed in group.feed_forwards)
    stored = sorted({weight.format for weight in group.weights() if weight.format} - {model.dtype})
    if stored:
        yield f"  stored as {', '.join(stored)}, the rest as {model.dtype}"


def _mixer(mixer: Mixer) -> str:
    parts = [f"{mixer.kind}"]
    if mixer.heads:
        parts.append(f"{mixer.heads} heads")
    if "latent" in mixer.kind:
        parts[-1] += f" of {_dims(mixer.key_dim, mixer.value_dim)}"
    elif mixer.kv_heads and mixer.cache:
        heads = "KV head" if mixer.kv_heads == 1 else "KV heads"
        parts.append(f"{mixer.kv_heads} {heads} of {_dims(mixer.key_dim, mixer.value_dim)}")
    if mixer.window:
        parts.append(f"window {mixer.window:,}")
    if mixer.sparse_tokens:
        parts.append(f"at most {mixer.sparse_tokens:,} tokens selected")
    parts += [_cache(entry.role, entry.elements, entry.stride) for entry in mixer.cache]
    if mixer.state is not None:
        parts.append(f"state of {mixer.state.bytes_per_sequence:,.0f} bytes a sequence")
    if not mixer.cache and mixer.attends:
        parts.append("reads another layer's cache")
    return ", ".join(parts)


def _dims(key: int, value: int) -> str:
    return f"{key}" if key == value else f"{key} and {value}"


def _cache(role: str, elements: int, stride: int) -> str:
    every = "a token" if stride == 1 else f"for every {stride} tokens"
    return f"{role} cache of {elements:,} values {every}"


def _fed(fed: FeedForward) -> str:
    if fed.kind == "none":
        return "no feed-forward"
    if fed.kind == "dense":
        return f"feed-forward {fed.width:,} wide"
    shared = f", a shared one {fed.shared_width:,} wide" if fed.shared_width else ""
    return f"{fed.experts} experts {fed.width:,} wide, {fed.experts_per_token} used{shared}"


def _around(model: Model) -> Iterator[str]:
    tables = sum(weight.parameters for weight in model.embedding)
    head = "the embedding" if model.head is None else f"{model.head.parameters:,} parameters"
    yield _row("embedding", f"{tables:,} parameters; head: {head}")
    if model.towers:
        yield _row("towers", f"{sum(weight.parameters for weight in model.towers):,} parameters")
