"""What vLLM takes by itself and refuses, version by version, as its source distributions have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner import catalogue
from planner.architectures.document import read_document
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.engines import vllm

GIB = 2**30
MakePlan = Callable[..., Plan]


@pytest.mark.parametrize(("version", "fraction"), [("0.19.1", 0.9), ("0.20.0", 0.92)])
def test_the_default_share(make_plan: MakePlan, version: str, fraction: float) -> None:
    assert make_plan("llama-3.1-8b", "vllm", 79.11, version=version).engine.memory_fraction == fraction


@pytest.mark.parametrize(
    ("version", "card", "memory_gib", "sequences", "tokens"),
    [
        ("0.25.0", "b200-sxm", 178.4, 1024, 8192),
        ("0.28.0", "b200-sxm", 178.4, 1024, 16384),  # a tier from 160 GiB
        ("0.28.0", "h100-sxm", 79.1, 1024, 8192),
        ("0.28.0", "a100-sxm-80", 79.2, 256, 2048),
        ("0.32.0", "dgx-spark-gb10", 121.7, 1024, 8192),
        ("0.33.0", "dgx-spark-gb10", 121.7, 256, 2048),  # its memory, not its compute, is a large card's
    ],
)
def test_batches_by_card(
    make_plan: MakePlan, version: str, card: str, memory_gib: float, sequences: int, tokens: int
) -> None:
    plan = make_plan("llama-3.1-8b", "vllm", memory_gib, card={"id": card}, version=version)
    assert (plan.engine.max_num_seqs, plan.engine.max_num_batched_tokens) == (sequences, tokens)


@pytest.mark.parametrize(
    ("version", "bytes_a_logit"),
    [
        ("0.11.0", 12.5),  # FlashInfer where it is installed
        ("0.11.1", 36.0),  # only where it is asked for: the logits are sorted
        ("0.16.0", 36.0),
        ("0.17.1", 14.0),  # kernels that do not sort
    ],
)
def test_sampling(make_plan: MakePlan, version: str, bytes_a_logit: float) -> None:
    # 1024 sequences x 152,064 rows outweigh 2048 tokens of prefill.
    plan = make_plan(
        "qwen2-7b", "vllm", 79.11, version=version, max_num_seqs=1024, max_num_batched_tokens=2048, max_model_len=4096
    )
    assert vllm.memory(plan).memory.activation_bytes == pytest.approx(1024 * 152064 * bytes_a_logit)


@pytest.fixture(scope="module")
def hybrid() -> Model:
    document = catalogue.entry("models", "Qwen/Qwen3.5-27B")
    assert document is not None
    model, findings = read_document(document)
    assert model is not None, findings
    return model


@pytest.mark.parametrize(
    ("version", "eager", "refused"), [("0.19.1", False, False), ("0.20.0", False, True), ("0.20.0", True, False)]
)
def test_more_sequences_than_state_blocks(
    make_plan: MakePlan, hybrid: Model, version: str, eager: bool, refused: bool
) -> None:
    # To 0.19 captured sizes are capped; from 0.20 it stops, where graphs are captured: pull request 38270.
    plan = make_plan(hybrid, "vllm", 79.11, version=version, max_num_seqs=1024, max_model_len=8192, enforce_eager=eager)
    result = vllm.memory(plan)
    assert (result.refusal_values.get("reason") == "state-blocks") is refused
    if refused:
        most = result.refusal_values["largest_max_num_seqs"]
        fewer = replace(plan, engine=replace(plan.engine, max_num_seqs=most))
        assert vllm.memory(fewer).memory.fits


def test_a_step_through_linear_attention(make_plan: MakePlan) -> None:
    # https://github.com/vllm-project/vllm/issues/28228: 64,000 tokens on two ranks; 16 heads of 128 x 128 a rank.
    # 2 x 3 x 2048 + 5 x 2048 + 4 x 2048 of decays + 3 x 16 x 64 + 16 x 128 x 128 / 64 + 3 x 2304 = 44,800 values:
    # x 64,000 x 2 bytes = 5.34 GiB, where the log leaves room for some 7.
    document = catalogue.entry("models", "moonshotai/Kimi-Linear-48B-A3B-Instruct")
    assert document is not None
    model, _ = read_document(document)
    assert model is not None
    settings = {"tensor_parallel_size": 2, "max_num_batched_tokens": 64000, "max_num_seqs": 8, "max_model_len": 120000}
    plan = make_plan(model, "vllm", 23.58, count=2, version="0.11.1", **settings)
    assert vllm.memory(plan).memory.activation_bytes / GIB == pytest.approx(5.34, abs=0.01)
