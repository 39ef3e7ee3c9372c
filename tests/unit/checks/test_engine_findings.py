"""Numbers and severities of engine findings on public cases, and their near siblings."""

from __future__ import annotations

import pytest

from planner import checks, source
from planner.checks import engine_quantization_tile, engine_tensor_parallel, engine_weight_format
from planner.findings import Finding, Severity, Verdict
from planner.pipeline import judge_document


def findings(spec: str, identifier: str) -> list[Finding]:
    document, problems = source.parse(spec)
    assert document is not None, problems
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None, judgement.findings
    return [item for item in judgement.findings if item.id == identifier]


def test_heads() -> None:
    (found,) = findings(engine_tensor_parallel.FAILING, "engine-tensor-parallel")
    assert found.values["valid_tp"] == [1, 2, 4]
    assert found.values["shapes"]["attention heads"] == 28  # 28 mod 8 = 4
    assert found.verdict is Verdict.INFEASIBLE


class TestTile:
    def test_remainders(self) -> None:
        # 29,568 = 128 x 231: 14,784, 7392 and 3696 leave 64, 96 and 112 of 128; whole it leaves none.
        (found,) = findings(engine_quantization_tile.FAILING, "engine-quantization-tile")
        assert found.values["shard_width"] == 7392
        assert found.values["remainder_by_tp"] == {"1": 0, "2": 64, "4": 96, "8": 112}
        assert found.values["valid_tp"] == [1]
        assert "tensor_parallel_size 1" in found.hint

    def test_one_rank_is_not_told_to_lower_its_ranks(self) -> None:
        # 10,944 mod 128 = 64, mod 64 = 0: https://github.com/vllm-project/vllm/issues/9913
        spec = (
            engine_quantization_tile.FAILING.replace("29568", "10944")
            .replace("count: 4", "count: 1")
            .replace("tensor_parallel_size: 4, ", "")
            .replace("72.7e9", "15.7e9")
        )
        (found,) = findings(spec, "engine-quantization-tile")
        assert (found.values["remainder"], found.values["remainder_64"]) == (64, 0)
        assert "tensor_parallel" not in found.hint
        assert found.path == "/model/weights"

    def test_newer_versions_pad(self) -> None:
        spec = engine_quantization_tile.FAILING.replace('"0.5.1"', '"0.25"')
        (found,) = findings(spec, "engine-quantization-tile")
        assert found.severity is Severity.WARNING
        assert found.verdict is None


class TestWeightFormat:
    @pytest.mark.parametrize(
        ("weights", "version", "refused"),
        [
            ("fp8", "0.4", True),  # no FP8 units on sm_80
            ("fp8", "0.8", False),  # stored only, widened by Marlin: https://github.com/vllm-project/vllm/issues/6979
            ("nvfp4", "0.7", True),
            ("nvfp4", "0.10", False),
            ("int8", "0.7", False),
        ],
    )
    def test_on_ampere(self, weights: str, version: str, refused: bool) -> None:
        spec = engine_weight_format.FAILING.replace("nvfp4", weights).replace('"0.7"', f'"{version}"')
        assert bool(findings(spec, "engine-weight-format")) is refused

    def test_an_8_bit_cache_is_stored_on_older_cards(self) -> None:
        # https://github.com/vllm-project/vllm/issues/3965
        spec = engine_weight_format.PASSING.replace(
            "max_model_len: 4096", "max_model_len: 4096, kv_cache_dtype: fp8_e5m2"
        )
        assert not findings(spec, "engine-weight-format")


def test_every_engine_check_is_discovered() -> None:
    from planner import discovery

    assert len([name for name in discovery.names(checks.__name__) if name.startswith("engine_")]) >= 10
