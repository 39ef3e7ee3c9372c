"""The textbook's 7B: 14 GB of weights and 17.18 GB of cache at 1 TB/s, 31.2 ms; 32-bit cache doubles the second."""

from __future__ import annotations

import pytest

from planner import source
from planner.checks import lever_worsens
from planner.pipeline import judge_document


def test_a_wider_cache_is_said_with_its_figures() -> None:
    """Cache x 2 is +100 %; 14 + 34.36 = 48.36 ms against 31.18 ms is +55.1 %."""
    document, findings = source.parse(lever_worsens.FAILING)
    assert document is not None, findings
    (found,) = (item for item in judge_document(document, today="2026-01-01").findings if item.id == "lever-worsens")
    assert found.values["kv_cache_bytes"] == pytest.approx(1.0)
    assert found.values["inter_token_latency_s"] == pytest.approx(0.551, abs=0.001)
    assert "quantize-kv-cache makes worse" in found.message


def test_a_window_longer_than_the_context_says_so() -> None:
    """An engine that admits 131,072 tokens, and a load of 8,192: a window of 100,000 cuts nothing."""
    text = lever_worsens.FAILING.replace("format: fp32", "window: 100000")
    text = text.replace("quantize-kv-cache", "sliding-window-attention")
    document, findings = source.parse(text.replace("{name: ideal}", "{name: ideal, max_model_len: 131072}"))
    assert document is not None, findings
    found = {item.id: item for item in judge_document(document, today="2026-01-01").findings}
    said = "the window of 100,000 tokens is longer than the context of the load, 8,192"
    assert said in found["lever-without-effect"].message
