"""A change of the requirement that ships loosens a limit: what holds is no longer what was asked for first.

Whoever asked for the deployment has to agree to it. The limit of the spec and the one that is judged are both said.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.loosened import loosened
from planner.domain.plan import Plan
from planner.findings import Finding, Severity

ID = "requirement-loosened"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: relaxed}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
objectives: {inter_token_latency: {mean: 25 ms}}
levers: [{use: change, name: slower, set: {objectives: {inter_token_latency: {mean: 40 ms}}}}]
"""
PASSING = FAILING.replace("mean: 40 ms", "mean: 20 ms")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for item in loosened(plan, result):
        yield Finding(
            ID,
            SEVERITY,
            f"the limit of {item.name} was loosened {item.change}: the verdict is of the looser one",
            "Let whoever asked for the deployment agree to it, or set `status: consider` on the change.",
            item.path,
            {"objective": item.name, "from": item.before, "to": item.after},
        )
