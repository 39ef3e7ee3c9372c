"""A `hardware.accelerator` value to an Accelerator: a name, a name corrected in place, figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.bind.accelerator import accelerator, memory_doubt
from planner.bind.context import Binding
from planner.domain.accelerator import Accelerator, Derate
from planner.findings import Severity
from planner.source.document import Document

GIB = 2**30
PATH = ("hardware", "accelerator")


def bound(value: Any, *folders: Path) -> tuple[Accelerator | None, Binding]:
    document = Document("spec.yaml", Path(), Path(), {"hardware": {"accelerator": value}})
    binding = Binding(document, folders)
    return accelerator(value, PATH, binding), binding


def card(value: Any, *folders: Path) -> Accelerator:
    found, binding = bound(value, *folders)
    assert found is not None, binding.findings
    return found


def test_a_name() -> None:
    found, binding = bound("h100-sxm")
    assert found is not None
    assert found.catalogue_id == "h100-sxm"
    assert set(binding.catalogue) == {"h100-sxm", "generations/hopper", "collectives/h100-sxm"}
    assert not binding.findings


def test_an_unknown_name_suggests_the_nearest() -> None:
    found, binding = bound("h100-smx")
    assert found is None
    (finding,) = binding.findings
    assert (finding.id, finding.path) == ("unknown-accelerator", "/hardware/accelerator")
    assert "`h100-smx`" in finding.message
    assert "h100-sxm" in finding.hint


def test_control_characters_of_a_name_are_not_printed() -> None:
    _, binding = bound("h100\x1b[31m")
    assert "\x1b" not in binding.findings[0].message + binding.findings[0].hint


def test_figures_in_place_are_taken_at_their_word() -> None:
    found = card({"memory": "80 GB", "bandwidth": "1 TB/s", "compute": {"fp16": "40 TFLOP/s"}})
    assert found.capacity_bytes == 80e9
    assert found.bandwidth_bytes_per_s == 1e12
    assert found.arithmetic_flop_per_s == {"fp16": 40e12}
    assert found.derate == Derate(bandwidth=0.8, compute=0.6)
    assert (found.catalogue_id, found.kind, found.interconnect.domain) == (None, "gpu", 1)


def test_figures_may_name_a_generation() -> None:
    found = card({"memory": "80 GiB", "bandwidth": "2 TB/s", "generation": "hopper", "memory_type": "HBM3"})
    assert found.derate == card("h100-sxm").derate


def test_a_correction_replaces_and_keeps_the_rest() -> None:
    found = card({"ref": "l4", "power": "60 W", "compute": {"fp8": "200 TFLOP/s"}, "price": "0.5 USD/hour"})
    assert found.power_w == 60
    assert found.arithmetic_flop_per_s["fp8"] == 200e12
    assert found.arithmetic_flop_per_s["bf16"] == 121e12
    assert [price.usd_per_hour for price in found.prices] == [0.5]
    assert found.capacity_bytes == card("l4").capacity_bytes


def test_a_smaller_machine_leaves_the_gpu_the_same_share() -> None:
    # 256 GB at its word, three quarters of it for the GPU
    found = card({"ref": "m3-ultra", "memory": "256 GB"})
    assert found.capacity_bytes == 0.75 * 256e9
    assert found.marketed_text == "256 GB"


def test_other_links_drop_what_was_measured_on_the_catalogues() -> None:
    found = card({"ref": "h100-sxm", "interconnect": {"scale_up": "200 GB/s"}})
    assert found.interconnect.scale_up_bytes_per_s == 200e9
    assert found.interconnect.domain == 8
    assert not found.interconnect.all_reduce


@pytest.mark.parametrize(
    ("name", "memory", "doubted"),
    [
        ("h100-sxm", "80 GB", True),  # 80e9 bytes; the card has 80 GiB = 85.9e9
        ("h100-sxm", "80 GiB", False),
        ("h100-sxm", "79.65 GB", True),  # the driver's 79.65 GiB with the wrong unit
        ("h100-sxm", "60 GiB", False),  # something else is meant
        ("b300-sxm", "288 GB", False),
        ("b300-sxm", "288 GiB", True),  # there the printed GB are decimal
    ],
)
def test_the_ratio_of_gib_to_gb_is_doubted(name: str, memory: str, doubted: bool) -> None:
    found, binding = bound({"ref": name, "memory": memory})
    assert found is not None
    assert [(finding.id, finding.severity) for finding in binding.findings] == (
        [("memory-unit-doubt", Severity.WARNING)] if doubted else []
    )
    assert bool(memory_doubt(memory, card(name))) is doubted


def test_the_memory_of_a_host_must_be_declared() -> None:
    found, binding = bound("xeon-spr")
    assert found is None
    assert "memory: 512 GiB" in binding.findings[0].hint
    assert card({"ref": "xeon-spr", "memory": "512 GiB"}).capacity_bytes == 512 * GIB


def test_low_confidence_is_an_assumption() -> None:
    _, binding = bound("a10g")
    assert any("a10g" in line and "low" in line for line in binding.assumptions)


def test_a_projects_own_card(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(
        "apiVersion: planner/v1\nkind: Accelerator\nmetadata: {name: lab}\n"
        "accelerator: {memory: 10 GiB, bandwidth: 1 TB/s, price: 1 USD/hour}\n",
        encoding="utf-8",
    )
    found = card("lab", tmp_path)
    assert found.capacity_bytes == 10 * GIB
    assert found.prices[0].usd_per_hour == 1
    assert found.confidence == "declared"


@pytest.mark.parametrize(
    "body", ["accelerator: 7", "accelerator: {memory: 80}", "accelerator: {bandwidth: 1 TB/s, devices: x}", ""]
)
def test_a_projects_card_that_is_none_is_a_finding(body: str, tmp_path: Path) -> None:
    text = f"apiVersion: planner/v1\nkind: Accelerator\nmetadata: {{name: lab}}\n{body}\n"
    (tmp_path / "lab.yaml").write_text(text, encoding="utf-8")
    found, binding = bound("lab", tmp_path)
    assert found is None
    assert [finding.id for finding in binding.findings] == ["catalogue-entry"]
    assert "lab.yaml:" in binding.findings[0].message
