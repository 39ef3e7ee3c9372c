"""Budgets of power, ages of prices and break-even: the numbers that the findings name, by hand."""

import pytest

from planner import source
from planner.findings import Finding, Severity, Verdict
from planner.pipeline import judge_document

# Default shares of the rated 400 W: prefill at the limit, 400 W; the band starts at 0.65 of that, 260 W. Idle 60 W.
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: budget, date: 2026-09-01}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}, power: 400 W}
  derate: {bandwidth: 1.0, compute: 1.0}
  price: 2 USD/hour
  price_date: 2026-08-01
  replicas: 4
  POWER
engine: {name: ideal, max_num_seqs: 16}
workload:
  load: {rate: 0.4 request/s}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 501}]
"""


def findings(power: str = "", tail: str = "", date: str = "2026-09-01") -> list[Finding]:
    text = SPEC.replace("POWER", power).replace("date: 2026-09-01", f"date: {date}") + tail
    document, problems = source.parse(text)
    assert document is not None, problems
    return list(judge_document(document, today="2020-01-01").findings)


def one(identifier: str, *arguments: str, **named: str) -> Finding | None:
    found = [item for item in findings(*arguments, **named) if item.id == identifier]
    assert len(found) <= 1, found
    return found[0] if found else None


def test_a_budget_that_surely_breaks() -> None:
    """4 x (260 + 100) = 1.44 kW at least, 4 x (400 + 100) = 2 kW expected. (1200 - 400) / 4 = 200 W a card hold."""
    found = one("power-budget", "power: {host: 100 W, budget: 1200 W}")
    assert found is not None and found.severity is Severity.ERROR and found.verdict is Verdict.INFEASIBLE
    assert found.values["low"] == pytest.approx(1440) and found.values["watts"] == pytest.approx(2000)
    assert "power.limit of 200 W" in found.hint


def test_a_budget_that_may_break() -> None:
    found = one("power-budget", "power: {host: 100 W, budget: 1800 W}")
    assert found is not None and found.severity is Severity.WARNING and found.verdict is Verdict.AT_RISK
    assert "power.limit of 350 W" in found.hint


@pytest.mark.parametrize("power", ["{host: 100 W, budget: 2 kW}", "{host: 100 W, budget: 1800 W, limit: 350 W}"])
def test_the_way_out_holds(power: str) -> None:
    assert one("power-budget", f"power: {power}") is None


def test_spares_draw_idle_power() -> None:
    """4 x 400 + 2 x 60 = 1720 W."""
    assert one("power-budget", "spares: 2\n  power: {budget: 1720 W}") is None
    assert one("power-budget", "spares: 2\n  power: {budget: 1719 W}") is not None


def test_how_many_stand_in_a_rack() -> None:
    """A host for each accelerator: 500 W each, so 1.7 kW take three, not four."""
    found = one("power-budget", "power: {host: 100 W, rack: {accelerators: 4, budget: 1700 W}}")
    assert found is not None and found.path == "/hardware/power/rack/budget"
    assert "At most 3 accelerators a rack" in found.hint
    assert one("power-budget", "power: {host: 100 W, rack: {accelerators: 3, budget: 1700 W}}") is None


def test_a_price_ages_against_the_plan_and_not_the_clock() -> None:
    """From 2026-08-01 to 2026-11-01 are 92 days, to the next day 93."""
    assert one("price-stale", date="2026-11-01") is None
    found = one("price-stale", date="2026-11-02")
    assert found is not None and found.values["days"] == 93


def test_a_catalogue_price_ages_too() -> None:
    text = "metadata: {name: a, date: 2027-06-01}\nhardware: {accelerator: h100-sxm}\n"
    rest = SPEC[SPEC.index("model:") : SPEC.index("hardware:")] + SPEC[SPEC.index("engine:") :]
    document, problems = source.parse(f"apiVersion: planner/v1\nkind: Deployment\n{text}{rest}")
    assert document is not None, problems
    found = [item for item in judge_document(document, today="2020-01-01").findings if item.id == "price-stale"]
    assert [item.path for item in found] == ["/hardware/accelerator"]


SERVICE = "api_price: {name: a service, input: 0.50 USD, output: 1.50 USD, date: 2026-03-01}\n"


def test_a_service_is_compared_and_its_price_ages() -> None:
    """1251.5 USD a million requests; 4 x 1460 = 5840 USD a month / 0.0012515 = 4.6664e6 requests of 1501 tokens:
    7,004 million. 0.4 a second are 1,051,200 requests, 1316 USD there. Served: 4 / 0.86945 s, 12.09e6: 38.6 %."""
    found = one("cost-break-even", tail=SERVICE)
    assert found is not None
    assert found.values["break_even_requests_per_month"] == pytest.approx(5840 / 1251.5e-6)
    assert found.values["api_usd_per_month"] == pytest.approx(1_051_200 * 1251.5e-6)
    assert found.values["utilisation"] == pytest.approx(5840 / 1251.5e-6 / (4 / 0.86945 * 730 * 3600), rel=1e-4)
    for words in ("7,004 million tokens", "38.6 %", "service is cheaper", "1,316 USD there, 5,840 USD here"):
        assert words in found.message
    stale = one("price-stale", tail=SERVICE)
    assert stale is not None and stale.path == "/api_price/date" and stale.values["days"] == 184


def test_where_no_load_makes_the_hardware_pay() -> None:
    """At a hundredth of the price break-even is 38 times what the hardware serves."""
    found = one("cost-break-even", tail=SERVICE.replace("0.50", "0.005").replace("1.50", "0.015"))
    assert found is not None and "more than it serves" in found.message
    assert "no load makes this hardware pay" in found.hint
