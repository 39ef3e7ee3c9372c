"""A latency of an endless queue is what the seats make it: nobody waits, so it is not judged, whatever the memory."""

import pytest

from planner.api import check_text

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: queue}
model: {ref: mistralai/Mixtral-8x7B-Instruct-v0.1}
hardware: {accelerator: {memory: MEMORY, bandwidth: 3.35 TB/s, compute: {bf16: 990 TFLOP/s}}, count: 2}
engine: {name: vllm, version: "0.11", tensor_parallel_size: 2, max_model_len: 4096, max_num_batched_tokens: 8192}
workload: {load: {offline: true}, classes: [{name: all, prompt_tokens: 2000, output_tokens: 200}]}
objectives: {inter_token_latency: {mean: 25 ms}}
"""


@pytest.mark.parametrize("memory", ["60 GiB", "80 GiB", "140 GiB"])
def test_more_memory_does_not_make_it_worse(memory: str) -> None:
    judgement = check_text(SPEC.replace("MEMORY", memory))
    assert judgement.verdict.value == "unproven"
    (found,) = [item for item in judgement.findings if item.id == "objective-not-judged"]
    assert "nobody waits" in found.message
    assert "load.concurrency or load.rate" in found.hint


def test_a_declared_concurrency_is_judged() -> None:
    judgement = check_text(SPEC.replace("MEMORY", "80 GiB").replace("offline: true", "concurrency: 8"))
    assert judgement.result is not None
    assert judgement.result.shipped.objectives[0].outcome in ("met", "at-risk", "missed")
