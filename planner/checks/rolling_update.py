"""While an update replaces the pods, an objective does not hold on the replicas that serve meanwhile.

A pod that is replaced takes no new requests, gets thirty seconds to finish what it has and comes back after
`replicas.start_time`, with an empty cache. `max_unavailable: 0` with `max_surge: 1` starts the new pod first and needs
spare accelerators; more replicas, or an update in quiet hours, carry it too. Simulated at the mean rate, not the peak.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks._disturbed import disturbed, sentences, values
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.format import duration

ID = "rolling-update"
SEVERITY = Severity.WARNING
# A prompt takes 2 x 7e9 x 1000 / 40e12 = 0.35 s: two replicas serve 5.7 a second, one alone 2.9, and 3 come.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: no-room-to-update}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
  replicas: {min: 2, max: 2, start_time: 60 s}
  kubernetes: {max_surge: 0, max_unavailable: 1, shared_memory: 10 GiB}
engine: {name: ideal}
workload: {load: {rate: 3 request/s}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 2}]}
objectives: {time_to_first_token: {p95: 3 s}}
"""
PASSING = FAILING.replace("rate: 3 request/s", "rate: 1 request/s")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for found, worst, items in disturbed(result, ID):
        away, lasts = found.of - found.serving, ""
        if found.lasts_s is not None:
            lasts = f", {duration(found.lasts_s)} in all"
        yield Finding(
            ID,
            SEVERITY,
            f"while an update takes {away} of {found.of} replicas away at a time{lasts}, "
            + sentences(found, items, result, worst),
            "Start the new pod first (max_unavailable 0, max_surge 1, with spare accelerators), "
            "or run one more replica.",
            "/hardware/kubernetes",
            values(found, items),
            verdict=Verdict.AT_RISK,
        )
