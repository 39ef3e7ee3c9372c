"""What there is to say about a configuration that cannot be read, or only in part."""

from __future__ import annotations

from collections.abc import Iterable

from planner.findings import Finding, Severity, Verdict


def error(slug: str, message: str, hint: str = "") -> Finding:
    return Finding(f"model-config-{slug}", Severity.ERROR, message, hint, verdict=Verdict.INVALID)


def missing(model_type: str, fields: Iterable[str]) -> Finding:
    names = tuple(fields)
    return Finding(
        "model-config-missing-field",
        Severity.ERROR,
        f"the config of model type {model_type[:60]!a} does not give {', '.join(names)}",
        "add what is missing, or describe the model with `architecture:`",
        values={"fields": list(names)},
        verdict=Verdict.INVALID,
    )


def unknown_type(model_type: str) -> Finding:
    return Finding(
        "model-type-unknown",
        Severity.WARNING,
        f"model type {model_type[:60]!a} is not known; its fields were read as those of a decoder like Llama",
        "compare the parameter count with the publisher's",
        values={"model_type": model_type[:60]},
    )


def uncounted_tower(model_type: str) -> Finding:
    return Finding(
        "model-config-tower-unknown",
        Severity.WARNING,
        f"the vision or audio encoder of model type {model_type[:60]!a} is not known; its weights are not counted",
        "reserve room for it with `hardware.reserved`",
        values={"model_type": model_type[:60]},
    )
