"""Cost, split, idle time, sessions and electricity, by sums in the docstrings."""

from typing import Any

import pytest

from planner import source
from planner.domain.cost import Cost
from planner.domain.evaluation import Evaluation
from planner.pipeline import judge_document

# 14 GB of weights. Prompt 1000: 2 x 7e9 x 1000 / 40e12 = 0.35 s (without attention, as the heads are
# unknown). Decode of 16 at a mean context of 1000 + 501 / 2 = 1250.5: (14e9 + 16 x 1250.5 x 131,072) / 1e12 =
# 16.6225 ms; 500 steps shared by 16: 0.51945 s.
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: cost}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}, power: 400 W}
  derate: {bandwidth: 1.0, compute: 1.0}
  price: 2 USD/hour
HARDWARE
engine: {name: ideal, max_num_seqs: 16}
workload:
  load: LOAD
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 501CLASS}]
"""
REQUEST_S = 0.35 + 0.51945
RATE = 1 / REQUEST_S


def evaluate(load: str = "{concurrency: 16}", hardware: str = "", in_class: str = "", tail: str = "") -> Evaluation:
    text = SPEC.replace("LOAD", load).replace("HARDWARE", hardware).replace("CLASS", in_class) + tail
    document, findings = source.parse(text)
    assert document is not None, findings
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.result is not None, judgement.findings
    return judgement.result.shipped


def cost(*arguments: Any, **named: Any) -> Cost:
    return evaluate(*arguments, **named).cost


def test_an_hour_spread_over_what_it_serves() -> None:
    """2 USD / (1.150 requests/s x 3600) = 0.000483 USD a request; / 501 = 0.964 USD a million output tokens."""
    found = cost()
    assert found.usd_per_request == pytest.approx(2 / 3600 * REQUEST_S, rel=1e-3)
    assert found.usd_per_million_output_tokens == pytest.approx(2 / 3600 * REQUEST_S / 501 * 1e6, rel=1e-3)
    assert found.usd_per_million_tokens == pytest.approx(2 / 3600 * REQUEST_S / 1501 * 1e6, rel=1e-3)


def test_the_split_is_by_engine_time() -> None:
    """0.35 / 0.86945 = 40.3 % of the time is prefill: so much of the cost is on 1000 tokens, the rest on 501."""
    found = cost()
    share = 0.35 / REQUEST_S
    assert found.prefill_share == pytest.approx(share, rel=1e-3)
    request = 2 / 3600 * REQUEST_S
    assert found.split_usd_per_million_input_tokens == pytest.approx(request * share / 1000 * 1e6, rel=2e-3)
    assert found.split_usd_per_million_output_tokens == pytest.approx(request * (1 - share) / 501 * 1e6, rel=2e-3)


def test_the_split_adds_up_to_a_request() -> None:
    found = cost("{rate: 0.3 request/s}")
    inward, outward = found.split_usd_per_million_input_tokens, found.split_usd_per_million_output_tokens
    assert inward is not None and outward is not None
    assert (inward * 1000 + outward * 501) / 1e6 == pytest.approx(found.usd_per_request)


def test_idle_time_is_paid_for() -> None:
    """At 0.1150 requests/s, a tenth of what it serves, a request costs ten times as much as at saturation."""
    found = cost(f"{{rate: {RATE / 10:.6f} request/s}}")
    assert found.utilisation == pytest.approx(0.1, rel=1e-3)
    assert found.saturation is not None and found.saturation.usd_per_request is not None
    assert found.usd_per_request == pytest.approx(10 * found.saturation.usd_per_request, rel=1e-3)
    assert found.saturation.requests_per_s == pytest.approx(RATE, rel=1e-3)


def test_replicas_and_spares() -> None:
    """2 to 5 replicas and 3 spares at 2 USD: 10 USD an hour at least, 16 at most."""
    found = cost("{rate: 0.5 request/s}", "  replicas: {min: 2, max: 5}\n  spares: 3")
    assert found.usd_per_hour == 10
    assert found.usd_per_hour_most == 16
    assert found.usd_per_month == 7300


def test_a_session_is_its_turns() -> None:
    found = cost("{sessions: 4}", in_class=", session: {turns: 5, turn_delay: 1 s}")
    assert found.usd_per_request is not None
    assert found.usd_per_session == pytest.approx(5 * found.usd_per_request)


def test_power_of_the_phases() -> None:
    """Default shares: decode reads 1 TB/s, all of the peak, and multiplies at 16 x 14e9 / 0.016622 s = 13.5 TFLOP/s,
    a third: above the limit, as prefill is. 400 W each; idle 15 % = 60 W."""
    power = cost().power
    assert power is not None
    assert power.accelerator_idle_watts == pytest.approx(60)
    assert power.accelerator_decode_watts == power.accelerator_prefill_watts == power.accelerator_limit_watts == 400


def test_a_power_limit_caps_every_phase() -> None:
    power = cost(hardware="  power: {limit: 250 W, host: 500 W, pue: 1.2, budget: 1 kW}").power
    assert power is not None
    assert power.accelerator_decode_watts == power.accelerator_limit_watts == 250
    assert power.peak_watts == 750
    assert power.facility_watts == pytest.approx(1.2 * 750)


def test_energy_counts_idle_time_and_spares() -> None:
    """No request for most of the time: 2 accelerators of 60 W idle, and 100 W of hosts, for little served."""
    found = cost("{rate: 0.001 request/s}", "  spares: 1\n  power: {host: 100 W}")
    # One request takes 0.35 + 500 x 14.16 ms = 7.43 s alone: busy for 0.74 % of the time, at 400 W for 60.
    assert found.watts == pytest.approx(60 + 60 + 100 + 0.0074 * 340, rel=0.01)
    assert found.joules_per_request == pytest.approx(found.watts / 0.001)


def test_electricity_is_added_where_it_has_a_price() -> None:
    """400 W and 100 W of hosts x 1.5 = 0.75 kW x 0.2 USD = 0.15 USD an hour beside 2 USD."""
    found = evaluate(hardware="  power: {host: 100 W, pue: 1.5, electricity_price: 0.2 USD/kWh}")
    assert found.cost.electricity_usd_per_hour == pytest.approx(0.15)
    assert found.cost.usd_per_hour == pytest.approx(2.15)
    low, high = found.bands.hourly
    # The accelerator may draw 0.65 of its 400 W, 260 + 100 of 500 W: 0.042 USD less at most.
    assert low == pytest.approx((2 + 0.15 * 360 / 500) / 2.15)
    assert high == 1.0


def test_an_accelerator_of_unknown_power_gives_none() -> None:
    text = SPEC.replace(", power: 400 W", "").replace("HARDWARE\n", "").replace("LOAD", "{concurrency: 16}")
    document, _ = source.parse(text.replace("CLASS", ""))
    assert document is not None
    result = judge_document(document, today="2026-01-01").result
    assert result is not None
    assert result.shipped.cost.watts is None and result.shipped.cost.power is None


def test_an_open_load_that_holds_costs_what_it_costs() -> None:
    """Half of the capacity is offered: the tokens are exact, whatever the speed; a closed loop's are not."""
    vllm = evaluate("{rate: 0.2 request/s}").bands
    assert vllm.cost == (1.0, 1.0)


@pytest.mark.parametrize(
    ("objective", "outcome"),
    [
        ("cost_per_million_tokens: {max: 1 USD}", "met"),
        ("cost_per_request: {max: 0.0001 USD}", "missed"),
        ("energy_per_output_token: {max: 1 J}", "met"),  # 400 W / (1.150 x 501) = 0.694 J
        ("energy_per_request: {max: 0.05 Wh}", "missed"),  # 348 J = 0.097 Wh; at least 0.65 of it
        ("power: {max: 300 W}", "at-risk"),  # 260 to 400 W
        ("power: {max: 200 W}", "missed"),
    ],
)
def test_objectives_on_cost_and_energy(objective: str, outcome: str) -> None:
    found = evaluate(tail=f"objectives: {{{objective}}}\n").objectives
    assert [item.outcome for item in found] == [outcome]
