"""Pods of several ranks share memory at /dev/shm, and a container has 64 MiB of it.

Worker processes and NCCL exchange through it: with tensor parallelism the engine crashes at start or in its first
large step ("No space left on device", bus error). A volume in memory (emptyDir, medium Memory) mounted there gives
more; what is written to it counts toward the container's memory limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.format import memory

ID = "kubernetes-shared-memory"
SEVERITY = Severity.ERROR
CONTAINER_BYTES = 64 * 2.0**20
ENOUGH_BYTES = 2.0**30
# https://github.com/vllm-project/vllm/issues/37982
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: no-shared-memory}
model: {architecture: {parameters: 13e9, layers: 40, attention: {heads: 40, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: a100-sxm-80, count: 2, kubernetes: {strategy: Recreate}}
engine: {name: vllm, tensor_parallel_size: 2, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("strategy: Recreate", "strategy: Recreate, shared_memory: 10 GiB")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    pods, ranks = plan.hardware.kubernetes, plan.engine.world_size
    if pods is None or ranks < 2 or plan.engine.name in ("ideal", "llama-cpp"):
        return
    has = CONTAINER_BYTES if pods.shared_memory_bytes is None else pods.shared_memory_bytes
    if has >= ENOUGH_BYTES:
        return
    crashes = has <= CONTAINER_BYTES
    whose = "a container's own" if pods.shared_memory_bytes is None else "the declared"
    yield Finding(
        ID,
        SEVERITY if crashes else Severity.WARNING,
        f"{ranks} ranks of a pod exchange through /dev/shm, which has {whose} {memory(has)}",
        "Mount an emptyDir of medium Memory at /dev/shm and declare it: "
        "`hardware.kubernetes.shared_memory: 10 GiB` (1 GiB at least).",
        "/hardware/kubernetes",
        {"shared_memory_bytes": has, "smallest_shared_memory_bytes": ENOUGH_BYTES, "ranks": ranks},
        verdict=Verdict.INFEASIBLE if crashes else Verdict.AT_RISK,
    )
