"""With as many replicas lost as `objectives.replicas_down` says, an objective does not hold on those that are left.

The load is the same and fewer share it; what the lost ones had begins anew elsewhere. One more replica, or more seats
or cache in each, carries it. Where the load has a rate, the failure itself is simulated.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks._disturbed import disturbed, sentences, values
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "replicas-down"
SEVERITY = Severity.ERROR
# Two replicas share 16 sequences of 8192 tokens: 8 each, 24 GB a step at 1 TB/s with the weights' 14 GB: 22.6 ms. One
# alone has 16: 31.2 ms.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: one-is-not-enough}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
  replicas: 2
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
objectives: {inter_token_latency: {mean: 25 ms}, replicas_down: 1}
"""
PASSING = FAILING.replace("25 ms", "32 ms")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for found, worst, items in disturbed(result, ID):
        lost = found.of - found.serving
        missed = worst == "missed"
        yield Finding(
            ID,
            SEVERITY if missed else Severity.WARNING,
            f"with {lost} of {found.of} {'replica' if found.of == 1 else 'replicas'}{_of(found.pool)} lost, "
            + sentences(found, items, result, worst),
            f"Run {found.of + lost} replicas{_of(found.pool)}, so that {found.of} are left, or let each carry more.",
            "/objectives/replicas_down",
            values(found, items),
            verdict=Verdict.INFEASIBLE if missed else Verdict.AT_RISK,
        )


def _of(pool: str | None) -> str:
    return f" of the {pool} pool" if pool else ""
