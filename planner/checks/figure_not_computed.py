"""Figures that the spec does not allow to be computed are left empty, and this says what to declare."""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity

ID = "figure-not-computed"
SEVERITY = Severity.NOTE
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: no-price}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 500, output_tokens: 500}]}
"""
PASSING = FAILING.replace("hardware: {", "hardware: {price: 2 USD/hour, ").replace(
    "40 TFLOP/s}", "40 TFLOP/s}, power: 300 W"
)


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    yield from _cost_and_energy(plan, result)
    if plan.workload.load.kind == "trace" and result.detail.served.simulated is None and result.shipped.memory.fits:
        yield Finding(
            ID,
            SEVERITY,
            "latencies under load, throughput and cost a token are not computed: the trace is too long to replay here",
            "Cut it with load.requests; or declare load.rate to have them in closed form.",
            "/workload/load",
            {"figures": ["time_to_first_token_s", "inter_token_latency_s", "output_tokens_per_s"]},
        )
    if all(item.output is not None and item.output.maximum <= 1.0 for item in plan.workload.classes):
        yield Finding(
            ID,
            SEVERITY,
            "time between tokens is not computed: an answer of one token has no second",
            "Bind objectives.time_to_first_token or objectives.request_latency.",
            "/workload/classes",
            {"figures": ["inter_token_latency_s", "time_per_output_token_s", "output_tokens_per_s_per_user"]},
        )
    if any(item.context_tokens is not None for item in plan.workload.classes):
        yield Finding(
            ID,
            SEVERITY,
            "time to first token and request rates are not computed: a class declares context_tokens alone",
            "Declare prompt_tokens and output_tokens in its place.",
            "/workload/classes",
            {"figures": ["time_to_first_token_s", "prefill_s", "requests_per_s"]},
        )


def _cost_and_energy(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    """One finding, whichever of price and power is not known."""
    missing = []
    if plan.hardware.price_usd_per_hour is None:
        missing.append(("cost", "price", "hardware.price, such as `2.49 USD/hour`"))
    if result.shipped.cost.power is None:
        missing.append(("energy", "power", "the accelerator's power, such as `{ref: m3-ultra, power: 270 W}`"))
    if not missing:
        return
    what, lacks, ways = (" and ".join(words) for words in zip(*missing, strict=True))
    verb = "is" if len(missing) == 1 else "are"
    yield Finding(
        ID,
        SEVERITY,
        f"{what} {verb} not computed: the accelerator has no {lacks.replace(' and ', ' and no ')} in the catalogue",
        f"Declare {ways}.",
        "/hardware",
        {"figures": [name for name, _, _ in missing]},
    )
