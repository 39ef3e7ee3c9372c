"""The files that a spec lists under `measurements`, read."""

from __future__ import annotations

from planner import measurements
from planner.bind.context import Binding
from planner.domain.measurement import Measurement
from planner.measurements.document import read_document

DOCUMENTS = (".yaml", ".yml")


def measured(binding: Binding) -> tuple[Measurement, ...]:
    """Every measurement of every file; what cannot be read is a finding at its place."""
    found: list[Measurement] = []
    for index, reference in enumerate(binding.document.data.get("measurements") or ()):
        path = ("measurements", index)
        file = binding.file(reference, path) if isinstance(reference, str) else None
        if file is None:
            continue
        if file.suffix in DOCUMENTS:
            own, findings = read_document(file, reference)
            found += own
        else:
            one, findings = measurements.read(file, name=reference)
            found += [one] if one is not None else []
        binding.adopt(findings, path)
    return tuple(found)
