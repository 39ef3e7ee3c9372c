"""The experts do not divide over the expert-parallel ranks, or there are more such ranks than ranks.

Ranks hold whole experts; those that share the tensor- and data-parallel ranks between them must come out even, except
where an engine gives some ranks one more (vLLM, of most models). vLLM spreads experts over all ranks or over none.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.checks._engine_layouts import in_words, layouts, valid_for
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-expert-parallel"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: experts-do-not-divide}
model:
  architecture:
    parameters: 30e9
    layers: 48
    hidden: 2048
    experts: {count: 60, per_token: 8, width: 768}
    attention: {heads: 32, kv_heads: 4, head_dim: 128}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}, count: 8}
engine: {name: sglang, tensor_parallel_size: 8, expert_parallel_size: 8, max_model_len: 8192}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("count: 60", "count: 64")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    settings = plan.engine
    ranks, expert = settings.tensor_parallel_size * settings.data_parallel_size, settings.expert_parallel_size
    counts = {part.experts for group in plan.model.groups for part in group.feed_forwards if part.experts}
    if settings.name == "ideal" or expert <= 1 or not counts:
        return
    broken = sorted(count for count in counts if count % expert)
    uneven = _uneven(plan)
    everywhere = bool(engines.figure(settings, "experts_over_all_ranks"))
    if broken and uneven and ranks == expert:
        yield _unequal(expert, broken[0])
        return
    if (not broken or uneven) and ranks % expert == 0 and (not everywhere or expert == ranks):
        return
    valid = [
        size
        for size in range(1, ranks + 1)
        if ranks % size == 0
        and (uneven or not any(count % size for count in counts))
        and (not everywhere or size in (1, ranks))
    ]
    what = f"{settings.name} spreads experts over all {ranks} tensor x data ranks, or over none"
    if ranks % expert:
        what = f"{ranks} tensor x data ranks are no multiple of it"
    elif broken and not uneven:
        what = f"{broken[0]} experts are no multiple of it"
    nearest = max((size for size in valid if size <= expert), default=1)
    fitting = list(layouts(plan.model, plan.hardware.count, valid_for(plan)))
    ways = " or ".join(in_words(item) for item in fitting[:2])
    yield Finding(
        ID,
        SEVERITY,
        f"expert_parallel_size {expert}: {what}",
        f"Valid sizes on {ranks} ranks: {', '.join(map(str, valid))}; the nearest is {nearest}."
        + (f" For {plan.hardware.count} accelerators: {ways}." if ways else ""),
        "/engine/expert_parallel_size",
        {
            "expert_parallel_size": expert,
            "experts": sorted(counts),
            "ranks": ranks,
            "valid_ep": valid,
            "nearest_ep": nearest,
            "layouts": fitting,
        },
        verdict=Verdict.INFEASIBLE,
    )


def _uneven(plan: Plan) -> bool:
    """Whether ranks may hold unequal numbers of experts."""
    even = engines.figure(plan.engine, "equal_experts_of") or ()
    return bool(engines.figure(plan.engine, "unequal_experts")) and plan.model.family not in even


def _unequal(expert: int, experts: int) -> Finding:
    most = -(-experts // expert)
    return Finding(
        ID,
        Severity.WARNING,
        f"{experts} experts over {expert} ranks: some hold {most}, others {experts // expert}; the fullest sets "
        "the memory and the time of a step",
        f"A size that divides {experts}: "
        + ", ".join(str(size) for size in range(1, expert + 1) if experts % size == 0)
        + ".",
        "/engine/expert_parallel_size",
        {"expert_parallel_size": expert, "experts": [experts], "experts_of_the_fullest": most},
    )
