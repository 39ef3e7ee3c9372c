"""The committed reports agree with themselves, section with section, and come out the same under any hash seed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
REPORTS = sorted(path for path in (ROOT / "reports").glob("*.md") if path.stem != "index")
NAMES = [file.stem for file in REPORTS]


def rows(text: str, heading: str) -> list[list[str]]:
    """The table rows below `heading`, until the next heading of any level."""
    body = re.split(r"^#+ ", text.split(f"{heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in body.splitlines() if line.startswith("| ") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def value(cell: str) -> str:
    """The figure without its band, its change and its unit."""
    return re.split(r"[ ,] ?(?=[(+x-])", cell)[0].split(" ")[0].rstrip(",")


@pytest.mark.parametrize("file", REPORTS, ids=NAMES)
def test_the_ladder_ends_at_what_ships(file: Path) -> None:
    text = file.read_text("utf-8")
    baseline = {row[0]: row for row in rows(text, "## Baseline")}
    steps = [row for name in ("preserving", "changing") for row in ladder(text, f"### Output-{name} levers")]
    adopted = [row for row in steps if row[1] == "adopted"]
    if not adopted:
        return
    titles = {"tokens/s, all": "Output tokens per second, whole deployment", "Weights": "Weights, per accelerator"}
    for column, title in titles.items():
        shipped = baseline[title][2]
        assert value(adopted[-1][HEADS.index(column)]) == value(shipped), column


HEADS = ["Lever", "Status", "Weights", "KV cache", "Free", "TTFT", "ITL", "tokens/s, user", "tokens/s, all", "USD"]


def ladder(text: str, heading: str) -> list[list[str]]:
    return [row for row in rows(text, heading) if len(row) == len(HEADS) + 1]


@pytest.mark.parametrize("file", REPORTS, ids=NAMES)
def test_the_verdict_counts_what_the_objectives_say(file: Path) -> None:
    text = file.read_text("utf-8")
    outcomes = [row[1] for row in rows(text, "## Margins and sensitivity")[1:] if len(row) == 6]
    counted = re.search(r"^- \*\*Objectives:\*\* (.+)$", text, re.MULTILINE)
    assert counted is not None
    said = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z-]+)", counted.group(1))}
    assert said == {word: outcomes.count(word) for word in set(outcomes)}


@pytest.mark.parametrize("file", REPORTS, ids=NAMES)
def test_the_hour_costs_price_times_accelerators(file: Path) -> None:
    text = file.read_text("utf-8")
    price = re.search(
        r"^- Price: ([\d.,]+) USD/hour per accelerator, ([\d.,]+) USD/hour (?:in all|for the (\d+) always paid for)$",
        text,
        re.MULTILINE,
    )
    if price is None:
        assert "| Cost per hour | n/a | n/a |" in text
        return
    hardware = re.search(r"^- Hardware: (?:(\d+)(?: to \d+)? replicas of )?(\d+) ", text, re.MULTILINE)
    assert hardware is not None
    number = int(hardware.group(1) or 1) * int(hardware.group(2))
    spares = re.search(r"^\| Spare accelerators \| (\d+) \|", text, re.MULTILINE)
    number += int(spares.group(1)) if spares else 0
    assert int(price.group(3) or number) == number
    assert float(price.group(2)) == pytest.approx(float(price.group(1)) * number, rel=1e-3)
    electricity = re.search(r"^\| of it, electricity \| ([\d.,]+) USD/hour", text, re.MULTILINE)
    shipped = {row[0]: row[2] for row in rows(text, "## Baseline")}["Cost per hour"]
    hour = float(price.group(2)) + float(electricity.group(1) if electricity else 0)
    assert float(shipped.split()[0]) == pytest.approx(hour, rel=1e-3)


@pytest.mark.parametrize("seed", ["1", "2718"])
def test_same_bytes_whatever_the_hash_seed(seed: str, tmp_path: Path) -> None:
    """All reports, both formats, against the committed ones."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "planner", "report", "--directory", str(tmp_path), "specs/"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    committed = {path.name: path.read_bytes() for path in (ROOT / "reports").glob("*.*") if path.is_file()}
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")} == committed
