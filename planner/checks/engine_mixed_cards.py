"""Unlike cards under tensor parallelism: each gets an equal share, so the smallest sets the limit.

An engine that splits by whole layers (llama.cpp, pipeline stages) may use both; under tensor parallelism the larger
card's rest is idle.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import memory

ID = "engine-mixed-cards"
SEVERITY = Severity.WARNING
# RTX 3090 with a smaller card: https://github.com/vllm-project/vllm/issues/2317
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: unlike-cards}
model: {architecture: {parameters: 2e9, layers: 24, attention: {heads: 16, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: [rtx-3090, rtx-4060ti-8], count: 2}
engine: {name: vllm, tensor_parallel_size: 2, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("[rtx-3090, rtx-4060ti-8]", "rtx-3090")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    sizes = sorted(card.capacity_bytes for card in plan.hardware.cards)
    if plan.engine.name in ("llama-cpp", "ideal") or plan.engine.world_size < 2 or sizes[-1] < 1.02 * sizes[0]:
        return
    smallest = plan.hardware.accelerator
    fraction = result.detail.plan.engine.memory_fraction or 1.0
    idle = sum(size - sizes[0] for size in sizes)
    yield Finding(
        ID,
        SEVERITY,
        f"ranks get equal shares: {smallest.name} with {memory(sizes[0])} sets the limit, "
        f"{memory(idle)} of larger cards stays idle",
        "Use the larger card alone if the model fits it, equal cards, or an engine that deals out whole layers.",
        "/hardware/accelerator",
        {
            "smallest_bytes": sizes[0],
            "idle_bytes": idle,
            "weights_bytes": result.shipped.memory.weights_bytes,
            "budget_bytes": fraction * sizes[0],
        },
    )
