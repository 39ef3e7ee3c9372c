"""How to verify the plan on the real system."""

from __future__ import annotations

import shlex

from planner import engines
from planner.domain.plan import Plan
from planner.evaluation import Detail
from planner.evaluation.mix import mix_of
from planner.format import duration, rate
from planner.report.analysis_types import VerificationStep


def verification(plan: Plan, detail: Detail) -> tuple[VerificationStep, ...]:
    """What to look at when it starts, what to run, and what should come out."""
    steps = []
    line = engines.get(detail.plan.engine.name).start_line(detail.plan, detail.ledger)
    if line:
        steps.append(VerificationStep("Start the engine and compare its start-up log with this line.", "", line))
    command = _benchmark(detail.plan)
    if command:
        replicas = max(1, detail.plan.hardware.replicas.minimum)
        where = f" against the address in front of all {replicas} replicas" if replicas > 1 else ""
        what = f"Load it as declared{where}, after a warm-up. Lengths are the means: percentiles need the real ones."
        steps.append(VerificationStep(what, command, _expected(detail)))
    if any(item.lever_class == "output-preserving" for item in plan.levers if item.status == "adopt"):
        steps.append(
            VerificationStep(
                "Compare greedy answers to fixed prompts with every output-preserving lever off and on.",
                "",
                "the same tokens, but for ties within rounding",
            )
        )
    if plan.engine.name == "ideal":
        steps.append(
            VerificationStep(
                "These figures are floors: nothing real is faster. Name a serving engine to get an estimate."
            )
        )
    return tuple(steps)


def _expected(detail: Detail) -> str:
    latency, throughput = detail.evaluation.latency, detail.evaluation.throughput
    first, gap = latency.time_to_first_token_s.mean, latency.inter_token_latency_s.mean
    parts = []
    if first is not None:
        parts.append(f"mean TTFT about {duration(first)}")
    if gap is not None:
        parts.append(f"mean ITL about {duration(gap)}")
    if throughput.output_tokens_per_s is not None:
        parts.append(f"{rate(throughput.output_tokens_per_s, 'output tokens')}")
    return f"{', '.join(parts)}; each within its band" if parts else ""


def _benchmark(plan: Plan) -> str:
    """The engine's own benchmark at the declared load, mean lengths."""
    if plan.engine.name not in ("vllm", "sglang"):
        return ""
    classes = plan.workload.classes
    if not classes or classes[0].prompt is None or classes[0].output is None:
        return ""
    prompt = round(sum(item.share * item.prompt.mean for item in classes if item.prompt))
    output = round(sum(item.share * item.output.mean for item in classes if item.output))
    load = plan.workload.load
    count = load.requests or max(10 * int(load.concurrency or 10), 100)
    shared = round(mix_of(plan).cached)
    model = shlex.quote(plan.model.name)
    if plan.engine.name == "vllm":
        words = ["vllm bench serve --model", model, "--dataset-name random"]
        words += [f"--random-prefix-len {shared}"] if shared else []
        words += [f"--random-input-len {prompt - shared} --random-output-len {output} --num-prompts {count}"]
    elif shared:
        words = ["python -m sglang.bench_serving --model", model, "--dataset-name generated-shared-prefix"]
        words += [f"--gsp-num-groups 1 --gsp-prompts-per-group {count} --gsp-system-prompt-len {shared}"]
        words += [f"--gsp-question-len {prompt - shared} --gsp-output-len {output}"]
    else:
        words = ["python -m sglang.bench_serving --model", model, "--dataset-name random"]
        words += [f"--random-input-len {prompt} --random-output-len {output} --num-prompts {count}"]
    if load.concurrency is not None:
        words.append(f"--request-rate inf --max-concurrency {int(load.concurrency)}")
    elif load.rate_per_s is not None:
        words.append(f"--request-rate {load.rate_per_s:g}")
    return " ".join(words)
