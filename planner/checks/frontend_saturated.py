"""One serving process hands out more tokens a second than it can turn into text and stream.

Turning tokens into text runs on the host, beside the steps: a process saturates at one over what a token takes, however
fast the accelerators are. Offline runs have no such process. Source: inference-sim's calibration of vLLM (46 us a
token), rounded up.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation.efficiencies import efficiencies_of
from planner.findings import Finding, Severity
from planner.format import quantity

ID = "frontend-saturated"
SEVERITY = Severity.WARNING
NEAR = 0.8
"""Of what one process can do: from here on it adds to every token's time."""
# 0.5e9 parameters in 16 bits are read in 1 ms: 256 sequences make far more than 20,000 tokens/s.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: frontend}
model: {architecture: {parameters: 0.1e9, layers: 2, attention: {kv_heads: 2, head_dim: 64}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 3 TB/s, compute: {fp16: 900 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: vllm, version: "0.11", max_model_len: 2048, max_num_seqs: 256}
workload: {load: {concurrency: 256}, classes: [{name: all, prompt_tokens: 16, output_tokens: 1000}]}
"""
PASSING = FAILING.replace("concurrency: 256", "concurrency: 8")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    if plan.engine.name == "ideal" or plan.workload.load.kind == "offline":
        return
    tokens = result.shipped.throughput.output_tokens_per_s
    if not tokens:
        return
    replicas = max(1, plan.hardware.replicas.minimum)
    most = 1.0 / efficiencies_of(plan)("token_text_s")
    each = tokens / replicas
    if each < NEAR * most:
        return
    yield Finding(
        ID,
        SEVERITY,
        f"a replica hands out {quantity(each, 'tokens/s')}; one serving process turns about "
        f"{quantity(most, 'tokens/s')} into text",
        "Run several serving processes for a replica (vLLM: --api-server-count), or more and smaller replicas; the "
        "figures above do not count this limit.",
        "/engine",
        {"output_tokens_per_s_of_a_replica": each, "tokens_per_s_of_a_process": most},
    )
