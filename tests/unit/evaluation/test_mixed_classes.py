"""Classes with loads and objectives of their own: shares that follow from the loads, and percentiles of each alone."""

from __future__ import annotations

from typing import Any

import pytest

from planner.api import check_text

SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: mixed}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384}
workload:
LOAD  classes:
"""


def result(*classes: str, load: str = "") -> Any:
    text = SPEC.replace("LOAD", f"  load: {load}\n" if load else "") + "".join(f"    - {item}\n" for item in classes)
    found = check_text(text)
    assert found.result is not None, [item.message for item in found.findings]
    return found.result


def shares(found: Any) -> list[float]:
    return [item.share for item in found.detail.plan.workload.classes]


SHORT = "prompt_tokens: 500, output_tokens: 100"
LONG = "prompt_tokens: 6000, output_tokens: 100"


def test_rates_are_added_and_shares_follow() -> None:
    """1 and 3 a second are 4, a quarter and three quarters; with a peak of 2 on the first 5 of 4 at the peak."""
    found = result(
        f"{{name: a, load: {{rate: 1 request/s, peak: 2}}, {SHORT}}}",
        f"{{name: b, load: {{rate: 3 request/s}}, {LONG}}}",
    )
    load = found.detail.plan.workload.load
    assert (load.kind, load.rate_per_s, load.peak) == ("rate", 4.0, 1.25)
    assert shares(found) == [0.25, 0.75]
    assert found.detail.served.service.mix.prompt == 0.25 * 500 + 0.75 * 6000
    assert found.shipped.throughput.requests_per_s == pytest.approx(4.0)
    rates = [found.shipped.classes[name]["throughput"].requests_per_s for name in "ab"]
    assert rates == pytest.approx([1.0, 3.0])


def test_closed_loops_are_added() -> None:
    found = result(f"{{name: a, load: {{concurrency: 4}}, {SHORT}}}", f"{{name: b, load: {{concurrency: 12}}, {LONG}}}")
    assert found.detail.plan.workload.load.concurrency == 16.0 and shares(found) == [0.25, 0.75]


def test_a_class_without_a_load_has_its_part_of_the_common_one() -> None:
    """Of 2 a second each of two has 1; with a third of 2 they are 4."""
    found = result(
        f"{{name: a, {SHORT}}}",
        f"{{name: b, {SHORT}}}",
        f"{{name: c, load: {{rate: 2 request/s}}, {LONG}}}",
        load="{rate: 2 request/s}",
    )
    assert found.detail.plan.workload.load.rate_per_s == 4.0
    assert shares(found) == [0.25, 0.25, 0.5]


def test_each_class_is_judged_on_its_own_percentiles() -> None:
    """A prompt of 6,000 tokens takes twelve times one of 500: the same limit holds for one and not for the other."""
    limit = "objectives: {time_to_first_token: {p95: 150 ms}}"
    found = result(
        f"{{name: short, load: {{rate: 1 request/s}}, {SHORT}, {limit}}}",
        f"{{name: long, load: {{rate: 1 request/s}}, {LONG}, {limit}}}",
    )
    times = {name: found.shipped.classes[name]["latency"].time_to_first_token_s for name in ("short", "long")}
    assert times["long"].p50 > 3.0 * times["short"].p50
    outcomes = {item.request_class: item for item in found.shipped.objectives}
    assert outcomes["short"].estimate == times["short"].p95 and outcomes["long"].estimate == times["long"].p95
    assert outcomes["long"].outcome == "missed" and outcomes["short"].outcome != "missed"


BATCH = (
    f"{{name: batch, load: {{concurrency: 8}}, {LONG}, objectives: {{output_tokens_per_second: {{min: 10 token/s}}}}}}"
)


def test_a_closed_loop_goes_on_beside_arrivals() -> None:
    """Interactive at 2 a second and eight of a batch at all times, to the end."""
    found = result(f"{{name: chat, load: {{rate: 2 request/s}}, {SHORT}}}", BATCH)
    run = found.detail.served.simulated
    both = run.by_class
    # As many inside as there are (Little): requests a second x time inside = 8, but for warm-up and end.
    inside = both["batch"].requests_per_s * both["batch"].latency["mean"]
    assert inside == pytest.approx(8.0, rel=0.05)
    assert both["chat"].requests_per_s == pytest.approx(2.0, rel=0.1)
    # Without the batch no gap of the chat is long; with it prompts of 6,000 tokens fall between its tokens.
    alone = result(f"{{name: chat, {SHORT}}}", load="{rate: 2 request/s}")
    together = found.shipped.classes["chat"]["latency"].inter_token_latency_s
    assert together.p99 > 5.0 * alone.shipped.latency.inter_token_latency_s.p99
    # The batch has its own throughput and is judged by it.
    batch = found.shipped.classes["batch"]["throughput"].output_tokens_per_s
    assert batch == pytest.approx(both["batch"].requests_per_s * 100, rel=0.01)
    assert next(item.estimate for item in found.shipped.objectives if item.request_class == "batch") == batch
    assert found.shipped.throughput.output_tokens_per_s > batch
    assert found.shipped.throughput.max_requests_per_s is None


def test_a_batch_with_an_end_is_done_and_the_rest_goes_on() -> None:
    finite = BATCH.replace("concurrency: 8", "concurrency: 8, requests: 40")
    run = result(f"{{name: chat, load: {{rate: 2 request/s}}, {SHORT}}}", finite).detail.served.simulated
    assert run.by_class["batch"].requests <= 40 < run.by_class["chat"].requests


def test_a_control_loop_beside_a_closed_loop() -> None:
    """One inference every 500 ms for a robot, two of a crowd at all times."""
    deadline = "objectives: {deadline: {max: 2 s, fallback: stop}}"
    found = result(
        f"{{name: robot, load: {{period: 100 ms, actions: 5}}, {SHORT}, {deadline}}}",
        f"{{name: crowd, load: {{concurrency: 2}}, {LONG}}}",
    )
    run = found.detail.served.simulated
    assert run.by_class["robot"].requests_per_s == pytest.approx(2.0, rel=0.1)
    assert next(item.estimate for item in found.shipped.objectives) == run.by_class["robot"].latency["max"]
