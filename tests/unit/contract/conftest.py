"""Specs as text, with the place where a finding is expected marked by `§`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner import contract, source
from planner.findings import Finding

MARK = "§"
SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata:
  name: chat
model:
  ref: meta-llama/Llama-3.1-8B-Instruct
hardware:
  accelerator: l4
  count: 1
engine:
  name: vllm
  version: "0.11"
  max_model_len: 8192
workload:
  load: {concurrency: 8}
  classes:
    - name: chat
      prompt_tokens: 500
      output_tokens: 100
objectives:
  time_to_first_token: {p95: 500 ms}
levers:
  - use: prefix-caching
"""

Validate = Callable[[str], tuple[Finding, ...]]
Found = Callable[[str, str], tuple[Finding, str]]


def validated(text: str) -> tuple[Finding, ...]:
    """The findings of a text that can be read."""
    document, problems = source.parse(text)
    assert document is not None, problems
    return contract.validate(document)


@pytest.fixture
def spec() -> str:
    return SPEC


@pytest.fixture
def validate() -> Validate:
    return validated


@pytest.fixture
def marked() -> Found:
    """Replace `old` by `new` in the spec; the only finding, and the place that `§` marks in `new`."""

    def find(old: str, new: str) -> tuple[Finding, str]:
        assert old in SPEC, old
        text = SPEC.replace(old, new, 1)
        before = text.split(MARK, 1)[0]
        place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        found = validated(text.replace(MARK, "", 1))
        assert len(found) == 1, [(item.id, item.message) for item in found]
        return found[0], place

    return find
