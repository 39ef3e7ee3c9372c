"""More pipeline stages than layers: some stage would hold none, and the engine refuses to start."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks._engine_layouts import in_words, layouts, valid_for
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-pipeline-parallel"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: more-stages-than-layers}
model: {architecture: {parameters: 1e9, layers: 2, attention: {heads: 16, kv_heads: 16, head_dim: 64}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}, count: 4}
engine: {name: vllm, pipeline_parallel_size: 4, max_model_len: 2048}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("pipeline_parallel_size: 4", "pipeline_parallel_size: 2, tensor_parallel_size: 2")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    stages, layers = plan.engine.pipeline_parallel_size, plan.model.layers
    if stages <= layers:
        return
    fitting = list(layouts(plan.model, plan.hardware.count, valid_for(plan)))
    nearest = f" For {plan.hardware.count} accelerators: {' or '.join(map(in_words, fitting[:2]))}." if fitting else ""
    yield Finding(
        ID,
        SEVERITY,
        f"pipeline_parallel_size {stages} is above the {layers} layers of the model",
        f"At most {layers} stages; divide the rest over tensor parallelism or replicas.{nearest}",
        "/engine/pipeline_parallel_size",
        {"pipeline_parallel_size": stages, "layers": layers, "largest_pp": layers, "layouts": fitting},
        verdict=Verdict.INFEASIBLE,
    )
