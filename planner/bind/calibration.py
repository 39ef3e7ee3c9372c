"""The Calibration that a spec names, read and bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from planner import contract, source
from planner.bind.context import Binding
from planner.domain.calibration import Calibration, CalibrationBands
from planner.measurements.subject import memory, subject
from planner.source.document import Document

KIND = "Calibration"
PATH = ("calibration",)


def calibration(binding: Binding) -> Calibration | None:
    """None where the spec names none, and after a finding."""
    reference = binding.document.data.get("calibration")
    if not isinstance(reference, str):
        return None
    file = binding.file(reference, PATH)
    if file is None:
        return None
    document, findings = source.load(file, display=reference)
    if document is not None:
        findings = (*findings, *contract.validate(document))
    binding.adopt(findings, PATH)
    if document is None or findings:
        return None
    if document.kind != KIND:
        message = f"{reference} is a {document.kind}; a {KIND} is wanted"
        binding.fault("calibration-kind", PATH, message, "`planner calibrate` writes one.")
        return None
    return of_document(document, reference)


def of_document(document: Document, name: str) -> Calibration:
    """Of a document that has passed the contract. name: as the spec writes it."""
    data = document.data
    scalars: Mapping[str, Mapping[str, float]] = data["scalars"]
    bands = data["bands"]
    points = data.get("points") or ()
    return Calibration(
        file=name,
        date=data["date"],
        subject=subject(data["subject"]),
        multipliers={key: float(found["value"]) for key, found in sorted(scalars.items())},
        calibrated=_bands(bands["calibrated"]),
        family=_bands(bands["family"]),
        memory=memory(data.get("memory") or {}),
        sha256=document.sha256,
        spreads={key: _spread(found) for key, found in sorted(scalars.items())},
        points=sum(1 for point in points if "rejected" not in point),
    )


def _bands(section: Mapping[str, Any]) -> CalibrationBands:
    latency, throughput = _span(section["latency"]), _span(section["throughput"])
    return CalibrationBands(latency, throughput, _span(section["prompt"]) if "prompt" in section else None)


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = values
    return float(low), float(high)


def _spread(found: Mapping[str, float]) -> float:
    """ln(high / low) / 2; 0 where they are the wrong way round."""
    return max(math.log(found["high"] / found["low"]) / 2.0, 0.0)
