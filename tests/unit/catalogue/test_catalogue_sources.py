"""The packaged accelerators against the tables that they were made from, where those are at hand."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from planner import catalogue, units
from planner.bind.catalogue_accelerator import from_entry

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "hardware"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the source tables are not beside the repository")


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_row_has_a_file_and_every_file_a_row() -> None:
    names = {row["sku_id"] for row in rows("accelerators.csv")}
    assert len(names) == 126
    assert names == set(catalogue.accelerator_ids())


def test_figures_are_those_of_the_rows() -> None:
    for row in rows("accelerators.csv"):
        name = row["sku_id"]
        document = catalogue.entry("accelerators", name)
        assert document is not None
        figures = document["accelerator"]
        memory = figures.get("memory", {})
        assert document["metadata"]["confidence"] == row["confidence"], name
        assert units.si(figures["bandwidth"], "bandwidth") == pytest.approx(float(row["memory_bandwidth_gb_s"]) * 1e9)
        if row["memory_marketed_value"]:
            assert memory["marketed"] == f"{row['memory_marketed_value']} {row['memory_marketed_unit']}", name
        if row["usable_memory_driver_mib"]:
            assert units.si(memory["driver"], "memory") == float(row["usable_memory_driver_mib"]) * 2**20, name
        if row["usable_memory_framework_gib"]:
            assert units.si(memory["framework"], "memory") / 2**30 == pytest.approx(
                float(row["usable_memory_framework_gib"])
            ), name
        columns = {
            "fp32": "fp32_tflops",
            "fp8": "fp8_tflops_dense",
            "int8": "int8_tops_dense",
            "fp4": "fp4_tflops_dense",
        }
        for key, column in columns.items():
            found = figures.get("compute", {}).get(key)
            assert (found is not None) == bool(row[column]), (name, key)
            if found:
                assert units.si(found, "arithmetic") == pytest.approx(float(row[column]) * 1e12), (name, key)


def test_every_price_is_that_of_an_apache_licensed_row() -> None:
    known = {
        (row["sku_id"], row["provider"], row["instance_type"], row["region"], row["price_date"]): row
        for row in rows("instances.csv")
        if row["licence"] == "Apache-2.0"
    }
    priced = 0
    for name in catalogue.accelerator_ids():
        document = catalogue.entry("accelerators", name)
        assert document is not None
        for price in document.get("prices", ()):
            key = (name, price["provider"], price["instance"], price["region"], price["date"])
            value = units.si(price["price"], "price")
            assert value == pytest.approx(float(known[key]["on_demand_usd_per_accelerator_h"]), rel=1e-5), key
            priced += 1
    sellable = [
        row
        for key, row in known.items()
        if key[0] and row["on_demand_usd_per_accelerator_h"] and float(row["count"] or 0) > 0
    ]
    assert priced == len(sellable)


def test_memory_is_never_that_of_a_price_row() -> None:
    """Price tables list 22888 MiB for an L4; its driver prints 23034."""
    document = catalogue.entry("accelerators", "l4")
    assert document is not None
    assert from_entry("l4", document).driver_bytes == 23034 * 2**20
