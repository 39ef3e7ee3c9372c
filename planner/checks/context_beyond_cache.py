"""A context that was not declared is longer than the whole cache: the engine starts, and refuses longer requests.

Left out, max_model_len is the model's own, which nothing here may need. Declare the longest context that is promised:
then it is judged, and what the cache holds of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import count

ID = "context-beyond-cache"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: beyond-cache}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: a10, count: 1}
engine: {name: sglang, version: "0.5.9"}
workload: {load: {concurrency: 8}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
"""
PASSING = FAILING.replace('"0.5.9"}', '"0.5.9", max_model_len: 16384}')


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    settings, longest = result.detail.plan.engine, result.detail.ledger.largest_context
    limit = settings.max_model_len
    declared = settings.origins.get("max_model_len") != "default"
    if declared or not result.shipped.memory.fits or not limit or longest is None or longest >= limit:
        return
    yield Finding(
        ID,
        SEVERITY,
        f"max_model_len is not declared: {count(limit)} tokens by default, of which the cache holds {count(longest)}",
        f"Requests beyond {count(longest)} tokens are refused. Declare engine.max_model_len as long as is promised.",
        "/engine",
        {"max_model_len": limit, "largest_context": longest},
    )
