"""Every accelerator file: what it must hold, and figures checked by hand against their sources."""

from __future__ import annotations

import re
from datetime import date

import pytest

from planner import catalogue, contract, source, units
from planner.bind.catalogue_accelerator import from_entry
from planner.domain.accelerator import Accelerator

GIB = 2**30
TB = 1e12
NAMES = catalogue.accelerator_ids()


def card(name: str) -> Accelerator:
    document = catalogue.entry("accelerators", name)
    assert document is not None
    return from_entry(name, document)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_binds_and_says_where_its_figures_come_from(name: str) -> None:
    document = catalogue.entry("accelerators", name)
    assert document is not None
    assert (document["apiVersion"], document["kind"]) == ("planner/v1", "Accelerator")
    assert document["metadata"]["name"] == name
    assert document["metadata"]["confidence"] in ("high", "medium", "low")
    found = card(name)
    assert found.sources
    assert found.bandwidth_bytes_per_s > 10e9
    assert 0.3 < found.derate.bandwidth <= 1
    assert 0.3 < found.derate.compute <= 1
    assert found.generation in catalogue.names("generations")
    assert found.kind == "cpu" or found.capacity_bytes > 0
    if found.kind != "cpu":
        assert document["accelerator"]["memory"]["total_basis"]


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_a_valid_accelerator_document(name: str) -> None:
    """Read as a project's own file would be: YAML 1.2, limits, schema, units."""
    file = catalogue.find("accelerators", name)
    assert file is not None
    document, findings = source.load(file)
    assert document is not None, findings
    assert contract.validate(document) == ()
    assert catalogue.digest_of(document.data) == catalogue.digest("accelerators", name)


@pytest.mark.parametrize("name", NAMES)
def test_what_plans_use_is_never_more_than_a_tool_reports_or_the_vendor_prints(name: str) -> None:
    found = card(name)
    if found.driver_bytes is not None:
        assert found.capacity_bytes <= found.driver_bytes
    elif found.marketed_bytes is not None:
        assert found.capacity_bytes <= found.marketed_bytes


@pytest.mark.parametrize("name", NAMES)
def test_prices_are_dated_list_prices_of_tables_under_apache_2(name: str) -> None:
    document = catalogue.entry("accelerators", name)
    assert document is not None
    for row in document.get("prices", ()):
        assert units.si(row["price"], "price") > 0
        assert date.fromisoformat(row["date"]) >= date(2026, 1, 1)
        assert row["class"] == "hyperscaler_list"
        assert row["region"]
        assert row["instance"]
        assert "Apache-2.0" in document["price_tables"][row["provider"]]
        assert re.match(r"(aws|Azure|cloudpilot-ai)/karpenter-provider", document["price_tables"][row["provider"]])


@pytest.mark.parametrize("name", NAMES)
def test_the_default_price_is_the_lowest_of_a_whole_accelerator(name: str) -> None:
    document = catalogue.entry("accelerators", name)
    assert document is not None
    whole = [row for row in document.get("prices", ()) if row["accelerators"] >= 1]
    if whole:
        lowest = min(units.si(row["price"], "price") for row in whole)
        assert card(name).prices[0].usd_per_hour == lowest


@pytest.mark.parametrize(
    ("name", "driver_mib", "framework_gib"),
    [  # nvidia-smi and torch totals, as user reports and system files print them
        ("h100-sxm", 81559, 79.11),
        ("h200-sxm", 143771, 139.80),
        ("b200-sxm", 183359, 178.35),
        ("b300-sxm", 275040, 267.69),
        ("l40s", 46068, 44.39),
        ("l4", 23034, 21.95),
        ("t4", 15360, 14.57),
        ("rtx-4090", 24564, 23.52),
        ("a100-sxm-40", 40960, 39.49),
    ],
)
def test_totals_as_tools_report_them(name: str, driver_mib: int, framework_gib: float) -> None:
    found = card(name)
    assert found.driver_bytes == driver_mib * 2**20
    assert found.capacity_bytes == pytest.approx(framework_gib * GIB, rel=1e-12)


def test_an_h100_has_neither_80_gb_nor_80_gib() -> None:
    found = card("h100-sxm")
    assert found.marketed_text == "80 GB"
    assert found.marketed_bytes == 80 * GIB  # what NVIDIA's GB means
    assert found.driver_bytes is not None
    assert round(found.driver_bytes / GIB, 2) == 79.65  # 81559 / 1024


def test_a_b300_has_decimal_gigabytes() -> None:
    assert card("b300-sxm").marketed_bytes == 288e9  # 275040 MiB = 288.4e9 bytes


def test_amd_prints_gib_as_gb() -> None:
    assert card("mi300x").capacity_bytes == pytest.approx(191.98 * GIB)
    assert card("mi325x").capacity_bytes == pytest.approx(255.98 * GIB)


def test_of_a_board_of_two_devices_one_is_planned() -> None:
    found = card("mi250x")
    assert found.bandwidth_bytes_per_s == 3277e9 / 2
    assert found.arithmetic_flop_per_s["bf16"] == 383e12 / 2
    assert found.capacity_bytes == pytest.approx(127.98 * GIB / 2)


def test_the_parent_of_a_slice_is_in_the_catalogue() -> None:
    for name in NAMES:
        document = catalogue.entry("accelerators", name)
        assert document is not None
        partition = document["accelerator"].get("partition")
        if partition:
            assert partition["parent"] in NAMES
            assert 1 <= partition["compute_slices"] <= 7
            assert partition["memory_share"] in (0.125, 0.25, 0.5, 1.0)


def test_a_slice_reports_its_driver_total_whole() -> None:
    # "39.25 GiB total capacity" of a 3g.40gb slice: 40192 / 1024 = 39.25
    assert card("a100-80-mig-3g.40gb").capacity_bytes == 39.25 * GIB


@pytest.mark.parametrize(
    ("name", "present", "absent"),
    [
        ("t4", "fp16 int8", "bf16 fp8"),  # Turing has no bf16
        ("v100-sxm2-16", "fp16", "bf16 fp8 int8"),
        ("a100-sxm-80", "bf16 fp16 tf32 int8", "fp8 fp4"),  # no FP8 on Ampere
        ("l40s", "bf16 fp8", "fp4"),
        ("h100-sxm", "bf16 fp8 int8", "fp4"),
        ("b200-sxm", "bf16 fp8 fp4", ""),
        ("b300-sxm", "bf16 fp8 fp4", "int8"),  # INT8 was cut to almost nothing
        ("jetson-agx-orin-64", "bf16 fp16 int8", "fp8"),
        ("tpu-v5e", "bf16 int8", "fp16"),
        ("m1-max", "fp16", "bf16"),
    ],
)
def test_arithmetic_by_number_format(name: str, present: str, absent: str) -> None:
    rates = card(name).arithmetic_flop_per_s
    assert set(present.split()) <= set(rates)
    assert not set(absent.split()) & set(rates)


def test_peaks_are_dense() -> None:
    # The printed 1979 and 3958 TFLOP/s of an H100 are with 2:4 sparsity: half is dense.
    assert card("h100-sxm").arithmetic_flop_per_s["bf16"] == 989.5e12
    assert card("h100-sxm").arithmetic_flop_per_s["fp8"] == 1979e12
    assert card("rtx-4090").arithmetic_flop_per_s["bf16"] == 165.2e12  # fp32 accumulation


def test_links_are_per_direction() -> None:
    # Printed as 900 GB/s, both directions together.
    links = card("h100-sxm").interconnect
    assert (links.scale_up_bytes_per_s, links.domain, links.topology) == (450e9, 8, "nvswitch")
    assert card("gb200").interconnect.domain == 72
    assert card("mi300x").interconnect.topology == "xgmi-mesh"  # 7 links of 64 GB/s: a pair gets 64
    assert card("rtx-4090").interconnect.topology == "pcie-host"


def test_apple_leaves_the_gpu_two_thirds_or_three_quarters() -> None:
    # Metal reports 11453 MB (decimal) on a 16 GB machine: 11453e6 / (16 x 2^30) = 0.667
    assert card("m1").capacity_bytes / (16 * GIB) == pytest.approx(2 / 3, abs=0.001)
    assert card("m3-ultra").capacity_bytes == 0.75 * 512 * GIB
    assert card("m3-ultra").unified


def test_jetson_has_what_its_operating_system_sees() -> None:
    assert card("jetson-agx-orin-64").capacity_bytes == 62841 * 2**20  # tegrastats


def test_measured_shares_of_peak() -> None:
    assert card("h100-sxm").efficiencies == {"gemm_bf16": 0.803, "gemm_fp8": 0.709}
    assert card("arc-pro-b60").derate.bandwidth == 0.5  # about 48 % of peak in simple kernels
    assert card("l40s").derate.bandwidth > card("a100-sxm-80").derate.bandwidth  # GDDR reads reach more than HBM's


def test_all_reduce_times_of_eight_h100() -> None:
    table = card("h100-sxm").interconnect.all_reduce
    captured, eager = dict(table[8, True]), dict(table[8, False])
    assert captured[256 * 1024] == pytest.approx(10.8e-6)
    assert captured[256 * 2**20] == pytest.approx(1091e-6)
    assert eager[1024] == pytest.approx(22e-6)  # the launch, not the wire: NCCL alone takes 15.6
    assert eager[256 * 2**20] == pytest.approx(1092e-6)


def test_rows_that_are_not_to_be_trusted_are_not_used() -> None:
    table = card("l40s").interconnect.all_reduce
    assert (2, True) in table
    assert (4, True) not in table  # that host had poor peer-to-peer
