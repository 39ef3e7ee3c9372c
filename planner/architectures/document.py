"""Model documents: a Model written down for review, and read back to the same Model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.architectures import document_figures, document_layers, document_writing
from planner.architectures.document_section import Section, fault
from planner.domain import formats
from planner.domain.model import LayerGroup, Model, Weight
from planner.findings import Finding, Severity
from planner.quoting import quoted

API_VERSION = "planner/v1"


def to_document(
    model: Model,
    *,
    name: str | None = None,
    source: str = "",
    revision: str = "",
    licence: str = "",
    fidelity: str = "",
    notes: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The document of a model as plain data; values that are the usual ones are left out.

    source, revision: where its figures come from. fidelity: `published`, or how its source differs from that.
    """
    metadata = {
        "name": name or model.name,
        "family": model.family,
        "parameters": model.parameters,
        "active_parameters": model.active_parameters if model.active_parameters != model.parameters else None,
        "source": source,
        "revision": revision,
        "licence": licence,
        "fidelity": fidelity,
        "notes": list(notes),
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Model",
        "metadata": {key: value for key, value in metadata.items() if value},
        "model": document_writing.model(model),
    }


def read_document(document: Mapping[str, Any]) -> tuple[Model | None, list[Finding]]:
    """The model of a document: by its layer groups (`model`), or by its figures (`architecture`).

    None with at least one error where something is missing, impossible or not known.
    """
    problems: list[Finding] = []
    whole = Section(document, "", problems)
    if problems:
        return None, problems
    _envelope(whole)
    metadata = Section(whole.take("metadata"), "metadata", problems)
    name = metadata.text("name") or "unnamed"
    architecture, body = whole.take("architecture"), whole.take("model")
    whole.finish()
    if (architecture is None) == (body is None):
        problems.append(fault("missing-field", "model", "a Model document has either `model` or `architecture`"))
    if problems:
        return None, problems
    if architecture is not None:
        return document_figures.read(Section(architecture, "architecture", problems), name)
    found = _model(Section(body, "model", problems), name, metadata.text("family") or "")
    return (None, problems) if problems else (found, _count(found, metadata))


def _envelope(whole: Section) -> None:
    for key, expected in (("apiVersion", API_VERSION), ("kind", "Model")):
        found = whole.take(key)
        if found != expected:
            whole.note(key, f"`{expected}` is expected, {quoted(found)} was read", slug="kind")


def _model(section: Section, name: str, family: str) -> Model:
    head = section.text("head", 400)
    model = Model(
        name=name,
        hidden=section.whole("hidden", smallest=1),
        vocabulary=section.whole("vocabulary"),
        groups=_stack(section),
        embedding=section.weights("embedding"),
        head=None if head is None else _single(section, head),
        norms=section.weights("norms"),
        towers=section.weights("towers"),
        tower_heads=section.optional("tower_heads") or 0,
        prediction_layers=document_layers.groups(section, "prediction_layers"),
        prediction_extra=section.weights("prediction_extra"),
        dtype=_format(section, "dtype") or "bf16",
        cache_format=document_layers.cache_format(section, "cache_format"),
        quantization=section.text("quantization"),
        nominal=_format(section, "nominal"),
        max_context=section.optional("max_context"),
        family=family,
        exact=section.flag("exact", True),
        multimodal=section.flag("multimodal"),
        notes=tuple(str(item)[:1000] for item in section.items("notes")),
    )
    section.finish()
    return model


def _stack(section: Section) -> tuple[LayerGroup, ...]:
    """The groups, which together are layers 0 to n - 1."""
    groups = document_layers.groups(section, "groups")
    layers = {layer for group in groups for layer in group.layers}
    if not groups:
        section.note("groups", "at least one layer group is needed", slug="missing-field")
    elif layers != set(range(len(layers))):
        absent = next(layer for layer in range(len(layers)) if layer not in layers)
        section.note("groups", f"no group has layer {absent}, but one has layer {max(layers)}", slug="layers")
    return groups


def _single(section: Section, line: str) -> Weight | None:
    found = Section({"head": [line]}, section.at, section.problems).weights("head")
    return found[0] if found else None


def _format(section: Section, key: str) -> str | None:
    name = section.text(key)
    if name is not None and formats.get(name) is None:
        section.note(key, f"{quoted(name)} is no number format", hint=f"It is one of {', '.join(formats.spellings())}.")
    return name


def _count(model: Model, metadata: Section) -> list[Finding]:
    """A warning where the document says another count than its weights add up to."""
    said = metadata.take("parameters")
    if said is None or said == model.parameters:
        return []
    message = f"metadata.parameters: {quoted(said)} is said, the weights add up to {model.parameters}"
    return [Finding("model-document-parameters", Severity.WARNING, message, "Correct the weights, or the count.")]
