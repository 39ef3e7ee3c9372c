"""Measured acceptance of draft tokens, from the catalogue: `planner/catalogue/acceptance/`."""

from __future__ import annotations

import re

from planner import catalogue
from planner.bind.context import Binding
from planner.domain.levers import MeasuredAcceptance

PRECISION = re.compile(r"[-_](?:nvfp4|mxfp4|fp8|int4|int8|awq|gptq|bf16|fp16)$")


def key_of(name: str) -> str:
    """A model's name without its owner and its precision, which a table of tokens a step is kept by."""
    short = name.rpartition("/")[2].lower()
    return PRECISION.sub("", short)


def acceptance_of(model: str, binding: Binding) -> tuple[MeasuredAcceptance, ...]:
    """Every table whose target is this model, whatever the precision; each mode of it on its own."""
    found: list[MeasuredAcceptance] = []
    for name in catalogue.names("acceptance", binding.folders):
        entry = catalogue.entry("acceptance", name, binding.folders)
        if entry is None or key_of(str(entry["target"])) != key_of(model):
            continue
        binding.catalogue[name] = catalogue.digest_of(entry)
        found += [
            MeasuredAcceptance(name, entry["method"], entry["task"], mode, tuple(map(float, lengths)), entry["source"])
            for mode, lengths in entry["lengths"].items()
        ]
    return tuple(found)
