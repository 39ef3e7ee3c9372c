"""A config.json on disk, with the quantisation file that some publishers put beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.architectures.config import read_config
from planner.domain.model import Model
from planner.findings import Finding, Severity, Verdict

LARGEST_BYTES = 16 * 2**20


def read_config_file(file: Path, *, name: str) -> tuple[Model | None, tuple[Finding, ...]]:
    """The model of a config.json. `hf_quant_config.json`, or `<name>.hf_quant_config.json`, beside it is read too."""
    config, fault = _mapping(file)
    if config is None:
        return None, (fault,) if fault else ()
    beside = next((path for path in _beside(file) if path.is_file()), None)
    quantization, fault = _mapping(beside) if beside else (None, None)
    if fault is not None:
        return None, (fault,)
    model, findings = read_config(config, name=name, hf_quant_config=quantization)
    return model, tuple(findings)


def _beside(file: Path) -> tuple[Path, ...]:
    own = file.with_name(f"{file.stem}.hf_quant_config.json")
    return (own, file.with_name("hf_quant_config.json")) if file.stem == "config" else (own,)


def _mapping(file: Path) -> tuple[Mapping[str, Any] | None, Finding | None]:
    """The JSON object in a file. `Infinity` is accepted, as published configs hold it."""
    with file.open("rb") as stream:
        raw = stream.read(LARGEST_BYTES + 1)
    if len(raw) > LARGEST_BYTES:
        return None, _fault(file, f"is larger than {LARGEST_BYTES // 2**20} MiB: not a config")
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        why = (
            f"line {error.lineno}: {error.msg}"
            if isinstance(error, json.JSONDecodeError)
            else "it nests too deeply or is not text"
        )
        return None, _fault(file, f"is not JSON ({why})")
    if not isinstance(value, dict):
        return None, _fault(file, "holds no JSON object")
    return value, None


def _fault(file: Path, what: str) -> Finding:
    return Finding(
        "model-config-not-json",
        Severity.ERROR,
        f"{file.name} {what}",
        "Take config.json as published in the model's repository.",
        verdict=Verdict.INVALID,
    )
