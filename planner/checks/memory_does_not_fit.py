"""The weights, or the weights and the cache of the declared load, exceed what an accelerator has.

The engine would not start, or would refuse the load. The hint names what alone would make it fit: first what leaves
the output as it is, then levers on whatever binds (the cache where the weights leave room, else the weights), then
a lighter load and more accelerators.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks._engine_layouts import valid_for
from planner.domain.evaluation import Memory, PlanResult
from planner.domain.plan import Plan
from planner.evaluation.ways_out import ways_out
from planner.findings import Finding, Severity, Verdict
from planner.format import memory

ID = "memory-does-not-fit"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: too-large}
model: {architecture: {parameters: 6.5e9, layers: 40, attention: {kv_heads: 40, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 48 GB, bandwidth: 1 TB/s, compute: {fp16: 100 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 24}, classes: [{name: all, context_tokens: 2048}]}
"""
PASSING = FAILING.replace("concurrency: 24", "concurrency: 16")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    shipped = result.shipped.memory
    if shipped.fits:
        return
    ledger = result.detail.ledger
    ways = ways_out(plan, result.detail, result.largest_concurrency, result.largest_context, valid_for(plan))
    values = {
        "weights_bytes": shipped.weights_bytes,
        "weights_total_bytes": shipped.weights_total_bytes,
        "kv_cache_bytes": shipped.kv_cache_bytes,
        "usable_bytes": shipped.usable_bytes,
        "largest_concurrency": result.largest_concurrency,
        "largest_context": result.largest_context,
        **ledger.refusal_values,
    }
    for way in ways:
        values.update(
            {key: value for key, value in way.values.items() if key.startswith(("largest_", "fewest_", "layout"))}
        )
        values.setdefault("settings", {}).update(way.values.get("settings", {}))
    message = _message(plan, shipped, ledger.refusal)
    hint = (
        "Any one of these fits: " + "; ".join(way.text for way in ways) + "."
        if ways
        else ("Nothing tried makes it fit alone: a smaller model, or another accelerator.")
    )
    yield Finding(ID, SEVERITY, message, hint, "/hardware", values, verdict=Verdict.INFEASIBLE)


def _message(plan: Plan, shipped: Memory, refusal: str) -> str:
    """What an engine says of its start is about one sequence; the ideal engine is asked for the whole load."""
    weights, usable = memory(shipped.weights_bytes), memory(shipped.usable_bytes)
    if refusal and plan.engine.name != "ideal":
        return f"{weights} of weights on {usable} of an accelerator leave too little: {refusal.removesuffix('.')}"
    cache = f" and {memory(shipped.kv_cache_bytes)} of cache" if shipped.kv_cache_bytes else ""
    return f"{weights} of weights{cache} do not fit {usable} of an accelerator"
