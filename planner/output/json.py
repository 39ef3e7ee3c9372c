"""The result contract: one JSON object for machines (schema/v1/result.schema.json)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from planner.domain.evaluation import LeverStep
from planner.domain.plan import Plan
from planner.domain.shards import index_bytes_per_token, kv_bytes_per_token, weight_bytes
from planner.findings import Finding
from planner.output import Options
from planner.pipeline import Judgement

SCHEMA_VERSION = "1"


def render(judgements: Sequence[Judgement], options: Options) -> str:
    """One object, keys in a fixed order, no number that JSON lacks.

    A result a line, each turned to text before the next: with `indent` Python's slow encoder would run, and a
    thousand results would be held twice.
    """
    results = ",\n".join(json.dumps(result_of(item), ensure_ascii=True, allow_nan=False) for item in judgements)
    return f'{{"schema_version": "{SCHEMA_VERSION}", "results": [\n{results}\n], "skipped": {options.skipped}}}\n'


def result_of(judgement: Judgement) -> dict[str, Any]:
    """One spec's result."""
    plan, result, document = judgement.plan, judgement.result, judgement.document
    name = plan.name if plan else _name(document.data if document else {})
    body: dict[str, Any] = {
        "spec": {"path": judgement.file, "name": name, "sha256": document.sha256 if document else None},
        "verdict": judgement.verdict.value,
        "findings": [finding_of(finding) for finding in judgement.findings],
        "model": None,
        "accelerators": None,
        "replicas": None,
        "shipped": None,
        "baseline": None,
        "levers": [],
        "disturbed": [],
        "runs_out": None,
        "provenance": {"catalog": {}, "calibration": None, "assumptions": []},
    }
    if plan is None or result is None:
        return body
    body.update(
        model=model_of(result.detail.plan),
        accelerators=result.detail.accelerators,
        replicas=result.detail.replicas,
        shipped=plain(result.shipped),
        baseline=plain(result.baseline),
        levers=[lever_of(step) for step in result.steps],
        disturbed=plain(result.disturbed),
        runs_out=plain(result.runs_out),
        provenance={
            "catalog": dict(plan.catalogue),
            "calibration": plain(plan.calibration),
            "assumptions": list(plan.assumptions),
        },
    )
    return body


def _name(data: Mapping[str, Any]) -> str | None:
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else None


def finding_of(finding: Finding) -> dict[str, Any]:
    where = finding.location
    waived = finding.waived
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "message": finding.message,
        "hint": finding.hint,
        "values": plain(finding.values),
        "path": finding.path,
        "file": where.file if where else None,
        "line": where.line if where else None,
        "column": where.column if where else None,
        "waived": {"reason": waived.reason, "expires": waived.expires} if waived else None,
    }


def model_of(plan: Plan) -> dict[str, Any]:
    """The model as it ships: counts as the engine loads it, bytes at the declared precisions."""
    model = plan.model
    nominal = plan.engine.name == "ideal"
    return {
        "name": model.name,
        "parameters": model.parameters,
        "active_parameters": model.active_parameters,
        "kv_bytes_per_token": whole(kv_bytes_per_token(model, plan.cache_format)),
        "index_bytes_per_token": whole(index_bytes_per_token(model, plan.cache_format)),
        "state_bytes_per_sequence": whole(model.state_bytes_per_sequence),
        "layers": model.layers,
        "weights_bytes": whole(weight_bytes(model, nominal=nominal)),
    }


def lever_of(step: LeverStep) -> dict[str, Any]:
    use = step.lever
    return {
        "use": use.use,
        "name": use.name,
        "class": use.lever_class,
        "status": use.status,
        "source": use.source,
        "effect": plain(step.effect),
        "after": plain(step.after),
        "obligations": [{"evaluate": item.evaluate, "evidence": item.evidence} for item in step.obligations],
        "reduces": list(step.reduces),
        "note": step.note or None,
        "reason": use.reason or None,
    }


def whole(value: float) -> int | float:
    return int(value) if float(value).is_integer() else float(value)


def plain(value: Any) -> Any:
    """Dataclasses as mappings, tuples as lists, whole floats kept as they are; infinities and NaN as null."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        named = {name: plain(getattr(value, name)) for name in _fields(type(value))}
        return _contract_names(type(value).__name__, named)
    return value


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _contract_names(kind: str, named: dict[str, Any]) -> dict[str, Any]:
    if kind == "ObjectiveOutcome":
        named = {"class" if key == "request_class" else key: value for key, value in named.items()}
    if kind == "Evaluation":
        for key in ("classes", "pools"):
            if not named[key]:
                del named[key]
    return named
