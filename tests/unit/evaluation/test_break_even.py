"""Hosting against a service that charges by the token."""

import pytest

from planner import source
from planner.domain.cost import BreakEven
from planner.domain.pricing import ApiPrice
from planner.pipeline import judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: against-a-service, date: 2026-09-01}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
  price: 2 USD/hour
engine: {name: ideal, max_num_seqs: 16}
workload:
  load: {rate: 0.1 request/s}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 501, prefix: {hit_rate: 0.6}}]
api_price: {input: 0.50 USD, output: 1.50 USD, cached: 0.05 USD, date: 2026-08-01}
"""


def break_even(text: str = SPEC) -> BreakEven:
    document, findings = source.parse(text)
    assert document is not None, findings
    result = judge_document(document, today="2026-01-01").result
    assert result is not None and result.shipped.cost.break_even is not None
    return result.shipped.cost.break_even


def test_what_a_service_charges_for_a_request() -> None:
    """400 new x 0.50 + 600 cached x 0.05 + 501 x 1.50 = 200 + 30 + 751.5 = 981.5 USD a million requests."""
    assert ApiPrice(0.5, 1.5, 0.05).request_usd(1000, 600, 501) == pytest.approx(981.5e-6)
    assert ApiPrice(0.5, 1.5).request_usd(1000, 600, 501) == pytest.approx(1251.5e-6)


def test_from_how_many_tokens_on_hosting_is_cheaper() -> None:
    """1460 USD a month / 0.0009815 USD = 1,487,519 requests, 2.2328e9 tokens of both kinds.

    0.1 requests/s are 262,800 requests a month: 257.9 USD at the service, so it is cheaper.
    """
    found = break_even()
    assert found.requests_per_month == pytest.approx(1460 / 981.5e-6)
    assert found.tokens_per_month == pytest.approx(1460 / 981.5e-6 * 1501)
    assert found.api_usd_per_month == pytest.approx(262_800 * 981.5e-6)
    assert found.cheaper == "service"


def test_the_utilisation_at_which_it_turns() -> None:
    """It serves 1 / 0.86945 s requests a second without the cache: 3.023e6 a month; 1.4875e6 are 49 % of that."""
    found = break_even()
    # The engine ideal has its prefix cache off by default: the whole prompt is computed.
    assert found.utilisation == pytest.approx(1460 / 981.5e-6 / (730 * 3600 / 0.86945), rel=1e-3)


def test_above_it_hosting_is_cheaper() -> None:
    assert break_even(SPEC.replace("rate: 0.1", "rate: 0.9")).cheaper == "hosting"
