"""Laws that hold for every spec: more hardware never hurts, more load never needs less, spelling changes nothing."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planner import source
from planner.findings import Verdict
from planner.output.json import result_of
from planner.pipeline import Judgement, judge_document

ORDER = tuple(Verdict)
# Declared, for a larger card also has other defaults: more tokens in a step, and with them longer gaps.
SIZES = {"max_model_len": 4096, "max_num_seqs": 256, "max_num_batched_tokens": 2048}
FEW = settings(max_examples=40, deadline=None)


def spec(**changes: Any) -> dict[str, Any]:
    values = {
        "parameters": 7e9,
        "layers": 32,
        "heads": 32,
        "kv_heads": 8,
        "memory": 80.0,
        "bandwidth": 2000.0,
        "compute": 300.0,
        "engine": "vllm",
        "concurrency": 8,
        "prompt": 800,
        "output": 300,
        "itl": 60.0,
        "levers": [],
        **changes,
    }
    return {
        "apiVersion": "planner/v1",
        "kind": "Deployment",
        "metadata": {"name": "law"},
        "model": {
            "architecture": {
                "parameters": values["parameters"],
                "layers": values["layers"],
                "hidden": 4096,
                "attention": {"heads": values["heads"], "kv_heads": values["kv_heads"], "head_dim": 128},
            },
            "weights": "fp16",
        },
        "hardware": {
            "accelerator": {
                "memory": f"{values['memory']:.6f} GB",
                "bandwidth": f"{values['bandwidth']:.6f} GB/s",
                "compute": {"fp16": f"{values['compute']:.6f} TFLOP/s"},
            }
        },
        "engine": {"name": values["engine"]} | ({} if values["engine"] == "ideal" else SIZES),
        "workload": {
            "load": {"concurrency": values["concurrency"]},
            "classes": [{"name": "all", "prompt_tokens": values["prompt"], "output_tokens": values["output"]}],
        },
        "objectives": values.get("objectives") or {"inter_token_latency": {"mean": f"{values['itl']:.6f} ms"}},
        "levers": values["levers"],
    }


def judge(data: dict[str, Any]) -> Judgement:
    document, findings = source.parse(json.dumps(data))
    assert document is not None, findings
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None, judgement.findings
    return judgement


def rank(judgement: Judgement) -> int:
    return ORDER.index(judgement.verdict)


plans = st.fixed_dictionaries(
    {
        "parameters": st.sampled_from([1e9, 7e9, 13e9, 34e9]),
        "kv_heads": st.sampled_from([4, 8, 32]),
        "memory": st.sampled_from([16.0, 24.0, 48.0, 80.0]),
        "bandwidth": st.sampled_from([300.0, 1000.0, 3000.0]),
        "compute": st.sampled_from([60.0, 300.0, 900.0]),
        "engine": st.sampled_from(["ideal", "vllm"]),
        "concurrency": st.sampled_from([1, 4, 32, 128]),
        "prompt": st.sampled_from([100, 800, 3000]),
        "output": st.sampled_from([2, 50, 900]),
        "itl": st.sampled_from([5.0, 30.0, 120.0]),
    }
)
more = st.sampled_from([1.1, 1.5, 2.0, 4.0])


@FEW
@given(plans, more, st.sampled_from(["memory", "bandwidth", "compute"]))
def test_more_hardware_never_worsens_the_verdict(values: dict[str, Any], factor: float, what: str) -> None:
    if what == "memory":
        # With room for more requests at once each of them decodes slower, and none waits: the gap between tokens may
        # grow, the whole request may not.
        whole = {"request_latency": {"mean": f"{values['itl'] * values['output'] * 3:.6f} ms"}}
        values = {**values, "objectives": whole}
    before = judge(spec(**values))
    after = judge(spec(**{**values, what: values[what] * factor}))
    assert rank(after) <= rank(before)


@FEW
@given(plans, st.sampled_from([2, 3, 8]))
def test_more_concurrency_never_needs_less_memory_nor_serves_less(values: dict[str, Any], factor: int) -> None:
    before = judge(spec(**values))
    after = judge(spec(**{**values, "concurrency": values["concurrency"] * factor}))
    assert before.result is not None and after.result is not None
    needed, larger = before.result.shipped.memory.kv_cache_bytes, after.result.shipped.memory.kv_cache_bytes
    assert needed is not None and larger is not None and larger >= needed
    if after.result.shipped.memory.fits:
        slow, fast = (
            before.result.shipped.throughput.output_tokens_per_s,
            after.result.shipped.throughput.output_tokens_per_s,
        )
        assert slow is not None and fast is not None and fast >= slow * (1 - 1e-9)


@FEW
@given(plans)
def test_unit_spelling_changes_nothing(values: dict[str, Any]) -> None:
    plain = spec(**values)
    other = spec(**values)
    card = other["hardware"]["accelerator"]
    card["memory"] = f"{values['memory'] / 1000:.9f} TB"
    card["bandwidth"] = f"{values['bandwidth'] / 1000:.9f} TB/s"
    card["compute"]["fp16"] = f"{values['compute'] / 1000:.9f} PFLOP/s"
    other["objectives"]["inter_token_latency"]["mean"] = f"{values['itl'] / 1000:.9f} s"
    assert judge(plain).verdict is judge(other).verdict
    left, right = judge(plain).result, judge(other).result
    assert left is not None and right is not None
    step, same = left.shipped.latency.decode_step_s, right.shipped.latency.decode_step_s
    assert step is not None and same is not None and abs(step / same - 1) < 1e-6


LEVERS = st.sampled_from(
    [
        {"use": "quantize-weights", "format": "fp8"},
        {"use": "quantize-kv-cache", "format": "fp8"},
        {"use": "speculative-decoding", "method": "ngram", "num_speculative_tokens": 3, "acceptance_length": 1.9},
        {"use": "sliding-window-attention", "window": 512},
    ]
)


@FEW
@given(plans, LEVERS)
def test_a_rejected_lever_is_an_absent_one(values: dict[str, Any], lever: dict[str, Any]) -> None:
    rejected = result_of(judge(spec(**values, levers=[{**lever, "status": "reject", "reason": "no"}])))
    absent = result_of(judge(spec(**values)))
    for key in ("verdict", "shipped", "baseline", "model"):
        assert rejected[key] == absent[key]


@FEW
@given(plans, st.randoms(use_true_random=False), LEVERS)
def test_the_order_of_keys_changes_nothing(values: dict[str, Any], random: Any, lever: dict[str, Any]) -> None:
    data = spec(**values, levers=[lever])

    def shuffled(node: Any) -> Any:
        if isinstance(node, dict):
            items = [(key, shuffled(value)) for key, value in node.items()]
            random.shuffle(items)
            return dict(items)
        return [shuffled(item) for item in node] if isinstance(node, list) else node

    left, right = result_of(judge(data)), result_of(judge(shuffled(data)))
    for key in ("verdict", "shipped", "baseline", "model", "levers"):
        assert left[key] == right[key]
