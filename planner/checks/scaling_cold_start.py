"""Replicas are added while the load grows, and a new one serves only after its start.

Until then what runs must carry the growth: spare capacity of at least growth x start time, in requests a second. A
time-to-first-token objective is missed by requests that arrive in between. Weights cached on the node, a smaller
image and captured graphs kept on disk shorten the start; a higher minimum avoids it.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import duration

ID = "scaling-cold-start"
SEVERITY = Severity.WARNING
# 110 s / 60 s: while the load grows by 1 request/s a minute, 1.83 request/s arrive before a new replica serves.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: scales-with-the-load}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}
  replicas: {min: 1, max: 4, start_time: 110 s}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {rate: 1 request/s}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("replicas: {min: 1, max: 4, start_time: 110 s}", "replicas: 1")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    replicas = plan.hardware.replicas
    if not replicas.scales or replicas.start_time_s is None:
        return
    start, spare = replicas.start_time_s, _spare(result)
    limits = [item.limit for item in plan.objectives.limits if item.metric == "time_to_first_token"]
    short = [limit for limit in limits if limit < start]
    carried = (
        f": what is spare carries {spare / start * 60:.3g} request/s more each minute" if spare is not None else ""
    )
    yield Finding(
        ID,
        SEVERITY,
        f"a new replica serves after {duration(start)}{carried}"
        + (f", and requests above that miss the {duration(min(short))} to the first token" if short else ""),
        f"Keep {start / 60:.3g} request/s spare for each request/s that a minute adds, raise `min`, "
        "or shorten the start.",
        "/hardware/replicas",
        {
            "start_time_s": start,
            "spare_for_1_request_per_s_a_minute": start / 60.0,
            "spare_requests_per_s": spare,
            "growth_carried_requests_per_s_a_minute": None if spare is None else spare / start * 60.0,
            "minimum": replicas.minimum,
            "maximum": replicas.maximum,
        },
    )


def _spare(result: PlanResult) -> float | None:
    """Requests a second that the replicas of the mean rate could serve beside it."""
    served, running = result.shipped.throughput, result.detail.paid.hardware.replicas
    if served.max_requests_per_s is None or served.requests_per_s is None:
        return None
    share = max(running.minimum, 1) / running.most
    return max(0.0, served.max_requests_per_s * float(share) - served.requests_per_s)
