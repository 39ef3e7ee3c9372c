"""A Measurement document: runs written by hand, and the files whose subject and date it states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from planner import contract, source
from planner.domain.calibration import MeasuredMemory, Subject
from planner.domain.measurement import LATENCIES, Measurement, Observation, Run
from planner.domain.workload import Load
from planner.findings import Finding, Severity, Verdict
from planner.measurements.subject import memory, subject
from planner.source.document import Document
from planner.units import si

KIND = "Measurement"
DIGITS = re.compile(r"^([0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?")
RATES = {"output_tokens_per_second": "token-rate", "requests_per_second": "request-rate"}
Found = tuple[tuple[Measurement, ...], tuple[Finding, ...]]


def read_document(file: Path, name: str) -> Found:
    """The document's own runs as one measurement, and each of its files as another, with its subject and date."""
    from planner.measurements import read

    document, findings = source.load(file, display=name)
    if document is not None:
        findings = (*findings, *contract.validate(document))
        findings = (*findings, *(_not_one(document) if document.kind != KIND and not findings else ()))
    if document is None or any(finding.verdict is Verdict.INVALID for finding in findings):
        return (), findings
    own = of_document(document, name)
    found = [own] if own.runs or own.memory else []
    for index, reference in enumerate(document.data.get("files") or ()):
        path = ("files", index)
        target = source.resolve(reference, document.location(path), document, path=document.pointer(path))
        if isinstance(target, Finding):
            findings = (*findings, target)
            continue
        measured, problems = read(target, name=f"{Path(name).parent.as_posix()}/{reference}".removeprefix("./"))
        findings = (*findings, *problems)
        if measured is not None:
            found.append(completed(measured, own))
    return tuple(found), findings


def _not_one(document: Document) -> Iterator[Finding]:
    message = f"this is a {document.kind}; a {KIND} is wanted"
    yield Finding("measurement-kind", Severity.ERROR, message, "", "/kind", location=document.location(("kind",)),
                  verdict=Verdict.INVALID)  # fmt: skip


def completed(measured: Measurement, said: Measurement) -> Measurement:
    """What a file does not say of itself, as the document says it."""
    own = {item.name: getattr(measured.subject, item.name) for item in fields(Subject)}
    stated = {name: value for name, value in own.items() if value not in (None, "")}
    return replace(measured, subject=replace(said.subject, **stated), date=said.date, source=said.source)


def of_document(document: Document, name: str) -> Measurement:
    """Of a document that has passed the contract."""
    data = document.data
    held = data.get("memory")
    runs = tuple(_run(item, f"run {index}") for index, item in enumerate(data.get("runs") or (), 1))
    found: MeasuredMemory | None = memory(held) if held else None
    return Measurement(name, "by hand", runs, subject(data["subject"]), found, data["date"], data["source"])


def _run(item: Mapping[str, Any], where: str) -> Run:
    size = item.get("tensor_parallel_size")
    return Run(
        where,
        _load(item["load"]),
        float(item["prompt_tokens"]),
        float(item["output_tokens"]),
        tuple(_observations(item)),
        Subject(tensor_parallel_size=int(size) if size else None),
    )


def _load(section: Mapping[str, Any]) -> Load:
    requests = int(section["requests"]) if "requests" in section else None
    if "concurrency" in section:
        return Load("concurrency", concurrency=float(section["concurrency"]), requests=requests)
    if "rate" in section:
        rate = si(section["rate"], "request-rate")
        return Load("rate", rate_per_s=rate, process=section.get("process", "poisson"), requests=requests)
    return Load("offline", requests=requests)


def _observations(item: Mapping[str, Any]) -> Iterator[Observation]:
    for figure in LATENCIES:
        for statistic, text in (item.get(figure) or {}).items():
            yield _observation(figure, statistic, text, "time")
    for figure, dimension in RATES.items():
        if figure in item:
            yield _observation(figure, "", item[figure], dimension)


def _observation(figure: str, statistic: str, text: str, dimension: str) -> Observation:
    value = si(text, dimension)
    return Observation(figure, statistic, value, resolution(text) * value)


def resolution(text: str) -> float:
    """The step of the last digit that is written, as a share of the value: "7 ms" 1/7, "7.0 ms" 0.1/7."""
    match = DIGITS.match(text)
    if match is None:
        return 0.0
    before, after = match[1] or "", match[2] or ""
    digits = (before + after).lstrip("0")
    return 1.0 / float(digits) if digits else 0.0
