"""The draft model of speculative decoding does not go with the target.

A draft proposes the target's tokens: vLLM, SGLang and TensorRT-LLM want vocabularies of one size (families often pad
them differently by size), llama.cpp allows a few rows more. A draft that computes more than the target only costs
time: they may be swapped. On several ranks the draft's heads are divided like the target's. vLLM 0.10 to 0.14 has no
draft models.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.checks._engine_layouts import padding_of, problems, valid_for
from planner.domain.evaluation import PlanResult
from planner.domain.levers import LeverUse
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-draft-model"
SEVERITY = Severity.ERROR
# Qwen2.5 pads to 151,936 rows up to 3B and to 152,064 above: https://github.com/vllm-project/vllm/issues/7252
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: vocabularies-differ}
model: {ref: Qwen/Qwen2.5-32B-Instruct}
hardware: {accelerator: h200-sxm}
engine: {name: vllm, version: "0.6", max_model_len: 8192}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
levers:
  - use: speculative-decoding
    method: draft_model
    draft: {ref: Qwen/Qwen2.5-1.5B-Instruct}
    num_speculative_tokens: 4
    acceptance_length: 2.5
"""
PASSING = FAILING.replace("Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-7B-Instruct")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    slack = engines.figure(plan.engine, "draft_vocabulary_slack")
    for use in plan.levers:
        draft = use.parameters.get("draft")
        if use.status != "adopt" or slack is None or draft is None or use.parameters.get("method") != "draft_model":
            continue
        if engines.figure(plan.engine, "draft_models") is False:
            yield _not_served(plan, use, draft)
            continue
        yield from _vocabulary(plan, use, draft, int(slack))
        yield from _size(plan, use, draft)
        yield from _ranks(plan, use, draft)


def _not_served(plan: Plan, use: LeverUse, draft: Model) -> Finding:
    version = f" {plan.engine.version}" if plan.engine.version else ""
    return Finding(
        ID,
        SEVERITY,
        f"{plan.engine.name}{version} takes no draft model: the engine stops at {draft.name}",
        "Use method ngram, eagle3 or mtp, or a version that has draft models (0.9 and before, 0.15 and later).",
        use.path,
        {"valid_methods": ["ngram", "eagle3", "mtp"]},
        verdict=Verdict.INFEASIBLE,
    )


def _vocabulary(plan: Plan, use: LeverUse, draft: Model, slack: int) -> Iterator[Finding]:
    own, other = plan.model.vocabulary, draft.vocabulary
    if not own or not other or abs(own - other) <= slack:
        return
    within = f", more than {slack} apart" if slack else ""
    yield Finding(
        ID,
        SEVERITY,
        f"the draft {draft.name} has a vocabulary of {other:,}, the target of {own:,}{within}: "
        f"{plan.engine.name} refuses",
        f"A draft of the target's family with a vocabulary of {own:,}, or method ngram, eagle3 or mtp.",
        use.path,
        {"draft_vocabulary": other, "target_vocabulary": own, "largest_difference": slack},
        verdict=Verdict.INFEASIBLE,
    )


def _size(plan: Plan, use: LeverUse, draft: Model) -> Iterator[Finding]:
    if draft.active_parameters < plan.model.active_parameters:
        return
    yield Finding(
        ID,
        Severity.WARNING,
        f"the draft {draft.name} computes {draft.active_parameters / 1e9:.3g} billion parameters a token, the target "
        f"{plan.model.active_parameters / 1e9:.3g}: every step is slower than without it",
        "Swap them, or take a draft of a tenth of the target.",
        use.path,
        {"draft_parameters": draft.active_parameters, "target_parameters": plan.model.active_parameters},
    )


def _ranks(plan: Plan, use: LeverUse, draft: Model) -> Iterator[Finding]:
    tensor = plan.engine.tensor_parallel_size
    broken = problems(draft, tensor, 1, padding_of(plan)) if plan.engine.name != "llama-cpp" and tensor > 1 else []
    if not broken:
        return
    equal = bool(engines.figure(plan.engine, "draft_ranks_equal"))
    both = [size for size in valid_for(plan) if size <= tensor and not problems(draft, size)]
    own = [size for size in range(1, tensor + 1) if tensor % size == 0 and not problems(draft, size)]
    ranks = "the target's ranks, and no others" if equal else "ranks of its own"
    hint = (
        f"It takes {ranks}: tensor_parallel_size {' or '.join(map(str, both))}, or method ngram, eagle3 or mtp."
        if equal
        else f"Give the draft {ranks} ({', '.join(map(str, own))}; vLLM: draft_tensor_parallel_size)."
    )
    yield Finding(
        ID,
        SEVERITY if equal else Severity.WARNING,
        f"the draft {draft.name} on {tensor} ranks: {'; '.join(shape.problem(tensor) for shape in broken)}",
        hint,
        use.path,
        {"tensor_parallel_size": tensor, "valid_draft_tp": both if equal else own},
        verdict=Verdict.INFEASIBLE if equal else Verdict.AT_RISK,
    )
