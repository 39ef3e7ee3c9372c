"""The report's section on cost and energy, on a spec worked by hand in tests/unit/evaluation/test_cost.py."""

import re

import pytest

from planner import api

# 0.35 s of prefill and 0.51945 s of decode a request: 1.150 requests/s with all 16 seats.
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: cost, date: 2026-09-01}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}, power: 400 W}
  derate: {bandwidth: 1.0, compute: 1.0}
  price: 2 USD/hour
  price_date: 2026-08-01
  replicas: {min: 1, max: 3, target_requests: 16}
  spares: 1
  power: {host: 100 W, pue: 1.5, electricity_price: 0.20 USD/kWh}
engine: {name: ideal, max_num_seqs: 16}
workload:
  load: {concurrency: 16}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 501}]
api_price: {name: NAME, input: 0.50 USD, output: 1.50 USD, date: 2026-08-15}
"""


def report(name: str = "another", form: str = "markdown", text: str = SPEC) -> str:
    return api.render_report(api.check_text(text.replace("NAME", name)), form)


def rows(text: str) -> dict[str, tuple[str, ...]]:
    """{first cell: the others} of the section's tables."""
    section = text[text.index("## Cost and energy") : text.index("## Margins")]
    lines = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    return {cells[0]: tuple(cells[1:]) for cells in (line.split(" | ") for line in lines)}


@pytest.fixture(scope="module")
def markdown() -> str:
    return report()


@pytest.mark.parametrize(
    ("row", "value"),
    [
        # 2 accelerators x 2 USD, and (400 + 60 + 100) W x 1.5 x 0.2 USD/kWh = 0.168 USD of electricity.
        ("An hour", "4.17 USD/hour (4.13 to 4.17, floor)"),
        # 4 x 2 USD and (3 x 500 + 60) W x 1.5 x 0.2 USD/kWh = 8.468 USD.
        ("An hour with all 3 replicas", "8.47 USD/hour"),
        ("Prefill's share of engine time", "40.3 %"),
        ("Load, of what the hardware serves", "33.3 %"),  # one of three replicas
        ("One accelerator, idle", "60.0 W"),
        ("One accelerator, prefill", "400 W (260 to 400, prior)"),
        ("The same with cooling", "840 W (630 to 840, prior)"),
        ("The deployment, every replica in its hungrier phase", "1.56 kW"),
        # 560 W x 0.86945 s / 501
        ("Energy of an output token", "0.972 J (0.729 to 0.972, prior)"),
    ],
)
def test_figures_are_printed_with_their_bands(markdown: str, row: str, value: str) -> None:
    assert rows(markdown)[row][0] == value


@pytest.mark.parametrize(
    ("row", "word", "source"),
    [
        ("Price of an accelerator", "declared", "hardware.price 2026-08-01"),
        ("Spare accelerators", "declared", "hardware.spares"),
        ("Rated power of an accelerator", "declared", "hardware.accelerator"),
        ("Share of rated power, idle", "catalogue", "power/default"),
        ("Electricity", "declared", "hardware.power.electricity\\_price"),
        ("Service's price, a million output tokens", "declared", "api\\_price, another, 2026-08-15"),
    ],
)
def test_inputs_say_where_they_come_from(markdown: str, row: str, word: str, source: str) -> None:
    assert rows(markdown)[row][1:] == (word, source.replace("\\_", "_"))


def test_break_even_is_told_with_its_date(markdown: str) -> None:
    """4.168 USD x 730 = 3042.64 a month / 0.0012515 = 2.4312e6 requests, 3,649 million tokens; all serve 9.068e6."""
    assert "price (another of 2026-08-15) hosting pays from 3,649 million tokens a month on" in markdown
    assert "26.8 % of what the hardware serves" in markdown
    assert "3,783 USD/month there and 3,043 USD/month here: hosting is cheaper" in markdown


def test_formulas_have_their_inputs(markdown: str) -> None:
    assert "`price x (count x replicas + spares) + electricity`, with price = 2.00 USD/hour" in markdown
    assert "with prefill of one prompt = 350 ms, its share of the decode steps = 519 ms" in markdown


def test_a_hostile_name_stays_text() -> None:
    name = '"<script>alert(1)</script> | [x](http://evil.example) @team"'
    assert "<script" not in report(name, "html")
    section = report(name)
    assert "<script" not in section and "[x](" not in section and "@team" not in section


def test_what_is_not_known_is_said() -> None:
    """Neither price nor power: no table, and what to declare."""
    text = SPEC.replace(", power: 400 W", "").replace("  price: 2 USD/hour\n", "")
    assert "Neither cost nor energy can be computed: declare hardware.price" in report(text=text)
