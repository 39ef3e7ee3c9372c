"""An update of the pods cannot go on: the new pod waits for accelerators that the old one holds.

A rolling update starts a new pod first and, by default below four replicas, may not stop an old one before the new
one is ready. Where every accelerator is taken it stands still until somebody deletes a pod. Either stop first
(Recreate, or max_surge 0 with max_unavailable 1), or keep accelerators of one replica spare.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.accelerator import Hardware, Kubernetes
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "kubernetes-rollout"
SEVERITY = Severity.ERROR
# https://github.com/defilantech/LLMKube/issues/192
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: every-accelerator-taken}
model: {architecture: {parameters: 13e9, layers: 40, attention: {heads: 40, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: l40s, count: 2, kubernetes: {accelerators: 2, shared_memory: 10 GiB}}
engine: {name: vllm, tensor_parallel_size: 2, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("accelerators: 2,", "accelerators: 2, strategy: Recreate,")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    hardware, pods = plan.hardware, plan.hardware.kubernetes
    if pods is None:
        return
    wanted = hardware.count * max(1, hardware.replicas.maximum)
    if pods.accelerators is not None and wanted > pods.accelerators:
        text = (
            f"{hardware.replicas.maximum} replicas take {wanted} accelerators, "
            f"pods can be placed on {pods.accelerators}"
        )
        fitting = pods.accelerators // hardware.count
        yield _finding(hardware, pods, text, f"At most {fitting} replicas, or more nodes.", Verdict.INFEASIBLE)
    elif pods.strategy == "RollingUpdate":
        yield from _rolling(hardware, pods)


def _rolling(hardware: Hardware, pods: Kubernetes) -> Iterator[Finding]:
    replicas = max(1, hardware.replicas.minimum)
    surge, unavailable = pods.surge(replicas), pods.unavailable(replicas)
    if surge == 0 and unavailable == 0:
        text = "max_surge 0 and max_unavailable 0: no pod may be added and none removed, Kubernetes refuses it"
        yield _finding(hardware, pods, text, "Set one of them to 1.", Verdict.INFEASIBLE)
    if unavailable or not surge:
        return
    way = f"strategy Recreate, or max_surge 0 with max_unavailable 1, or {hardware.count} spare accelerators"
    needs = f"an update starts a pod of {hardware.count} accelerators before it may stop one"
    if pods.accelerators is None:
        yield _finding(hardware, pods, f"{needs}: whether so many are spare is not declared", f"{way}, declared.", None)
    elif (spare := pods.accelerators - replicas * hardware.count) < hardware.count:
        yield _finding(hardware, pods, f"{needs}, and {spare} are spare: it stands still", f"{way}.", Verdict.AT_RISK)


def _finding(hardware: Hardware, pods: Kubernetes, text: str, hint: str, verdict: Verdict | None) -> Finding:
    replicas = max(1, hardware.replicas.minimum)
    values = {
        "accelerators": pods.accelerators,
        "accelerators_in_use": replicas * hardware.count,
        "accelerators_of_a_pod": hardware.count,
        "max_surge": pods.surge(replicas),
        "max_unavailable": pods.unavailable(replicas),
    }
    severity = Severity.WARNING if verdict is None else SEVERITY
    return Finding(ID, severity, text, hint[0].upper() + hint[1:], "/hardware/kubernetes", values, verdict=verdict)
