"""Every published config at hand against its true count, cache and state. Skipped where the files are absent."""

from __future__ import annotations

import csv
import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.architectures.config import read_config
from planner.domain import shards

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "models"
ABSENT = not (FOLDER / "INDEX.csv").is_file()
pytestmark = pytest.mark.skipif(ABSENT, reason="the published configs are not beside the repository")


def _number(text: str) -> float:
    return float(text) if text else 0.0


def _rows() -> Iterator[tuple[dict[str, str], tuple[float, float, float]]]:
    """(the row, (parameters, cache bytes for each token, state bytes) as read)."""
    with (FOLDER / "INDEX.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            file = FOLDER / row["file"]
            beside = file.with_name(f"{file.stem}.hf_quant_config.json")
            quantization = json.loads(beside.read_text()) if beside.is_file() else None
            model, _ = read_config(json.loads(file.read_text()), name=row["hf_id"], hf_quant_config=quantization)
            assert model is not None, row["hf_id"]
            cache = shards.kv_bytes_per_token(model, "bf16")
            yield row, (model.parameters, cache, model.state_bytes_per_sequence)


def test_counts_caches_and_states() -> None:
    """Parameters within 0.05 % at the median and 0.1 % everywhere; cache to the byte; state within 2 %."""
    errors = []
    for row, (parameters, cache, state) in _rows():
        total = _number(row["main_params_computed"]) or _number(row["total_params"])
        true = total + _number(row["vision_audio_params"])
        errors.append(abs(parameters - true) / true)
        assert errors[-1] < 0.001, row["hf_id"]
        parts = row["kv_bytes_per_token_window_2B"].split(";")
        windows = sum(float(part.split(":")[1]) for part in parts if ":" in part)
        assert cache == _number(row["kv_bytes_per_token_full_2B"]) + windows, row["hf_id"]
        assert state == pytest.approx(_number(row["recurrent_bytes_per_seq_conv2B_state4B"]), rel=0.02), row["hf_id"]
    assert statistics.median(errors) < 1e-9


def test_files_that_say_their_size() -> None:
    """Weight bytes against the sizes of the published files, where they are known and hold no prediction layers."""
    for row, _ in _rows():
        file = FOLDER / row["file"]
        size, config = _number(row["checkpoint_bytes"]), json.loads(file.read_text())
        if not size or _number(row["mtp_params_computed"]):
            continue
        model, _ = read_config(config, name=row["hf_id"])
        assert model is not None
        if model.quantization is None and size < 1.5 * model.parameters:
            continue  # the copy of the config left its quantisation out
        assert shards.weight_bytes(model) == pytest.approx(size, rel=0.01), row["hf_id"]
