"""A class of requests may be longer than one sequence is allowed to be: the engine refuses each of those.

The largest prompt and the largest answer of a class together must fit max_model_len. An answer that may be cut short
is declared with its true maximum.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation.mix import promised_tokens
from planner.findings import Finding, Severity, Verdict

ID = "engine-request-too-long"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: too-long}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 4000, output_tokens: 500}]}
"""
PASSING = FAILING.replace("prompt_tokens: 4000", "prompt_tokens: 3000")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    limit = result.detail.plan.engine.max_model_len
    if plan.engine.name == "ideal" or limit is None:
        return
    for item in plan.workload.classes:
        longest = promised_tokens(item)
        if longest <= limit:
            continue
        many = item.session.turns if item.session else 1
        last = f" in turn {many:,} of a session" if many > 1 else ""
        fewer = "the maxima of the class, its turns or what a turn adds" if many > 1 else "the maxima of the class"
        yield Finding(
            ID,
            SEVERITY,
            f"requests of {item.name} may take {longest:,.0f} tokens{last}, and max_model_len is {limit:,}",
            f"Raise engine.max_model_len to {longest:.0f}, or lower {fewer}.",
            f"/workload/classes/{item.name}",
            {"longest_request": longest, "max_model_len": limit},
            verdict=Verdict.INFEASIBLE,
        )
