"""The load grows as declared, and from this month on the deployment no longer holds.

The date follows from `workload.growth` and the largest load that holds, found on the evaluation: nothing of it depends
on today. More replicas, a cheaper request (levers), or a `max` that scaling may go up to move it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import percent, significant

ID = "runs-out"
SEVERITY = Severity.NOTE
# A prompt takes 2 x 7e9 x 1000 / 40e12 = 0.35 s: 2.86 a second at most, 2.86 times the load. ln 2.86 / ln 1.08 = 13.6
# months after November 2026: the queue is too long somewhat earlier.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: grows}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload:
  load: {rate: 1 request/s}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 1}]
  growth: {rate: 8 % / month, from: 2026-11-01}
objectives: {time_to_first_token: {p95: 3 s}}
"""
PASSING = FAILING.replace("8 % / month", "0 % / month")
YEAR = 12.0


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    found, growth = result.runs_out, plan.workload.growth
    if found is None or found.month is None or found.factor is None or growth is None:
        return
    replicas = result.detail.replicas
    year = math.ceil(replicas * (1.0 + growth.rate_per_month) ** YEAR / found.factor - 1e-9)
    yield Finding(
        ID,
        SEVERITY,
        f"the load grows by {percent(growth.rate_per_month)} a month from {growth.since}, and the deployment runs out "
        f"in {found.month}, at {significant(found.factor)} times the load: {found.reason}",
        f"{year} replicas of this size carry the load of {growth.since} and a year of growth."
        if year > replicas
        else "Nothing to do for a year of growth.",
        "/workload/growth",
        {"month": found.month, "factor": found.factor, "breaks": found.reason, "replicas_in_a_year": year},
    )
