"""The bars add up: each part ends where the sum of the parts ends, whatever rounding did to the one before."""

from __future__ import annotations

import pytest

from planner.report import memory_picture
from planner.report.analysis_types import MemoryRow


def test_the_textbook_bar_crosses_the_capacity_line() -> None:
    # Scale 82.72 GB on 40 columns: weights 14 / 82.72 * 40 = 6.8 -> 7; all 40; capacity 80 / 82.72 * 40 = 38.7 -> 39.
    row = MemoryRow("baseline", 14e9, 68.72e9, 0.0, 80e9)
    section = memory_picture.section([row])
    assert section is not None
    bar = section.bars[0]
    assert bar.text == "█" * 7 + "▓" * 32 + "┃" + "▓"
    assert not bar.fits
    assert bar.free == "2.53 GiB (2.72 GB) too much"
    assert bar.capacity == pytest.approx(80 / 82.72 * 100)
    assert [segment.part for segment in bar.segments] == ["weights", "cache"]
    assert bar.segments[1].start + bar.segments[1].width == pytest.approx(100)


def test_all_configurations_share_one_scale() -> None:
    # 20 + 10 + 5 of 50, and 100 in the second: the first takes 8 + 4 + 2 of 40 columns and its line stands at 20.
    rows = [MemoryRow("small", 20.0, 10.0, 5.0, 50.0), MemoryRow("large", 20.0, 10.0, 5.0, 100.0)]
    section = memory_picture.section(rows)
    assert section is not None
    assert section.bars[0].text == "█" * 8 + "▓" * 4 + "▒" * 2 + "·" * 6 + "┃"
    assert section.bars[1].text == "█" * 8 + "▓" * 4 + "▒" * 2 + "·" * 26 + "┃"


def test_parts_round_at_their_sums() -> None:
    # Three parts of 1/3 column each: sums 0.33, 0.67, 1.0 columns -> 0, 1, 1: one column in all, not none.
    row = MemoryRow("thin", 1 / 3, 1 / 3, 1 / 3, 40.0)
    assert memory_picture.text_bar(row, 40.0) == "▓" + "·" * 39 + "┃"


def test_an_unknown_cache_is_said_to_be_unknown() -> None:
    section = memory_picture.section([MemoryRow("baseline", 10.0, None, 0.0, 40.0)])
    assert section is not None
    assert section.bars[0].used.endswith("without the cache")
    assert "cache n/a" in section.bars[0].parts


def test_no_rows_no_picture() -> None:
    assert memory_picture.section([]) is None
