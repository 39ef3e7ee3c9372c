"""The schema of a parameter that names another model."""

from __future__ import annotations

from typing import Any


def model_reference(description: str) -> dict[str, Any]:
    """`{ref: …}`, `{config: …}` or `{architecture: {…}}`, with `weights` beside it."""
    return {
        "type": "object",
        "description": description,
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {
            "ref": {"type": "string", "description": "Catalogue name."},
            "config": {"type": "string", "description": "A config.json or GGUF file beside the spec."},
            "architecture": {"type": "object", "description": "Figures, as in the section `model`."},
            "weights": {"type": "string", "description": "Stored precision; left out: as published."},
            "revision": {"type": "string", "description": "Revision of the published model."},
        },
    }
