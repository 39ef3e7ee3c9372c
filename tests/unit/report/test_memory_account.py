"""The lines of the memory account add up as printed, for every engine and kind of load."""

from __future__ import annotations

import pytest

from planner import engines, source
from planner.analysis.memory import fraction
from planner.pipeline import judge_document
from planner.report import memory_account

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: account}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: h100-sxm}
engine: {name: ENGINE, max_model_len: 4096, max_num_seqs: 8}
workload: {load: LOAD, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
"""
LOADS = ("{concurrency: 4}", "{offline: true}", "{rate: 1 request/s}")


def account(engine: str, load: str) -> tuple[list[tuple[str, float, float]], str]:
    document, findings = source.parse(SPEC.replace("ENGINE", engine).replace("LOAD", load))
    assert document is not None, findings
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None, judgement.findings
    assert judgement.result is not None
    table = memory_account.table(judgement.plan, judgement.result)
    rows = [(row.cells[0].text, *(float(cell.text.replace(",", "")) for cell in row.cells[1:])) for row in table.rows]
    return rows, fraction(judgement.result.detail)  # type: ignore[return-value]


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("engine", engines.names())
def test_what_is_printed_adds_up(engine: str, load: str) -> None:
    rows, said = account(engine, load)
    gib = gb = 0.0
    for name, in_gib, in_gb in rows:
        if name.startswith("= "):
            assert (gib, gb) == (pytest.approx(in_gib, abs=1e-6), pytest.approx(in_gb, abs=1e-6)), name
        elif name.startswith("+ "):
            gib, gb = gib + in_gib, gb + in_gb
        else:
            gib, gb = in_gib, in_gb
    assert said


@pytest.mark.parametrize("engine", engines.names())
def test_both_accounts_end_at_what_there_is(engine: str) -> None:
    rows, _ = account(engine, "{concurrency: 4}")
    ends = [row for row in rows if row[0] in ("= usable", "= capacity")]
    assert len(ends) == (1 if engine == "ideal" else 2)
    # The framework reports 79.11 GiB of an H100: 84.94 GB.
    if engine == "vllm":
        assert [end[2] for end in ends] == pytest.approx([84.94] * 2, abs=0.01)


def test_a_shared_load_says_what_it_stands_on() -> None:
    assert "+ cache of the load (guaranteed)" in [row[0] for row in account("vllm", LOADS[0])[0]]
    assert "+ cache of the load (expected)" in [row[0] for row in account("vllm", LOADS[1])[0]]


def test_the_fraction_is_worked_out() -> None:
    """0.9, the default of vLLM 0.11, of 79.11 GiB is 71.2 GiB; graphs are outside of it until 0.20."""
    said = account('vllm, version: "0.11"', LOADS[0])[1]
    assert "CUDA graphs are outside" in said
    assert said.endswith("It is 0.9 x 79.1 GiB = 71.2 GiB (76.4 GB).")
