"""Growing answers find the cache full, so running requests are preempted and computed again.

With admission by what a request holds now (`on-demand`), a full cache takes blocks from the request that was admitted
last. Its caller sees a pause in the middle of the answer, and its prompt and what it had answered are prefilled again,
which is work that serves nobody. Admit fewer requests at once, reserve the maximum, or make the cache larger.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import count, percent

ID = "requests-preempted"
SEVERITY = Severity.WARNING
OFTEN = 0.01
"""Preemptions over requests: below it few callers notice."""
# 16 GB of weights on 24 GB leave a cache of some 33,000 tokens; 0.12 requests a second of 1,740 tokens each hold most
# of it.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: preempted}
model: {ref: Qwen/Qwen3-8B}
hardware: {accelerator: l4, count: 1}
engine: {name: vllm, version: "0.11", max_model_len: 12288, max_num_seqs: 32, gpu_memory_utilization: 0.92}
workload:
  load: {rate: 0.115 request/s}
  classes:
    - name: problem
      prompt_tokens: {p50: 350, p95: 1200, max: 3000}
      output_tokens: {p50: 1400, p95: 4200, max: 8000}
"""
PASSING = FAILING.replace("0.115 request/s", "0.02 request/s")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    simulated = result.detail.served.simulated
    if simulated is None or not simulated.outcome.requests:
        return
    outcome = simulated.outcome
    share = outcome.preemptions / outcome.requests
    if share < OFTEN:
        return
    yield Finding(
        ID,
        SEVERITY,
        f"{count(outcome.preemptions)} preemptions among {count(outcome.requests)} simulated requests "
        f"({percent(share)}): growing answers find the cache full, and what is preempted is computed again",
        "Lower engine.max_num_seqs, admit by reserve-maximum (the lever admission-policy), quantise the cache, or add "
        "replicas.",
        "/engine/admission",
        {"preemptions": outcome.preemptions, "requests": outcome.requests, "share": share},
    )
