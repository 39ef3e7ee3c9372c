"""Five measured points of a group, and the rest of it: what calibration is worth on published runs.

A group is what one calibration can hold for: source, model, accelerator, engine and precision, twelve rows or more;
parallel sizes may differ. Prints its table with `pytest -s`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import pytest

from planner.calibration import calibrate
from planner.calibration.predicting import with_scalars
from planner.calibration.residuals import bands
from planner.evaluation import evaluate
from planner.evaluation.configure import shipped
from tests.accuracy import rows as truth

pytestmark = pytest.mark.skipif(not truth.SCORER.is_file(), reason="the measured runs are not beside this repository")

MEDIAN, NINETIETH = 0.08, 0.20
NONE = (0.0,) * 5


@dataclass(frozen=True)
class Scored:
    """Logarithms of predicted over measured of the rows that were not points, without and with the scalars.

    beyond_rounding: those with the scalars, to the nearest gap that prints as the row's figure. half_band: of the
    calibration's own band of latency, logarithm.
    """

    name: str
    before: Sequence[float]
    after: Sequence[float]
    beyond_rounding: Sequence[float]
    half_band: float
    factors: str

    @property
    def noise(self) -> float:
        """Half of the rows lie farther than this from the group's own middle, whatever is right on average."""
        middle = quantile(self.before, 0.5)
        return quantile([abs(value - middle) for value in self.before], 0.5)


def quantile(values: Sequence[float], share: float) -> float:
    """As the scorer takes it."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def error(values: Sequence[float], share: float) -> float:
    """Quantile of the relative error, the same for twice too much and half of it."""
    return math.expm1(quantile([abs(value) for value in values], share))


@cache
def scored() -> tuple[Scored, ...]:
    return tuple(_scored(members) for members in truth.groups().values())


def _scored(members: Sequence[truth.Row]) -> Scored:
    points = truth.spread(members)
    plan = max(points, key=lambda row: row.spec["engine"]["max_model_len"]).plan()
    found = calibrate(plan, [row.measurement() for row in points])
    assert found.fitted is not None and len(found.used) == len(points)
    rest = [row for row in members if row not in points]
    before, after = ([_off(row, logarithms) for row in rest] for logarithms in (NONE, found.fitted.logarithms))
    factors = ", ".join(f"{name} {value:.2f}" for name, value in found.multipliers.items())
    beyond = [_beyond_rounding(row, value) for row, value in zip(rest, after, strict=True)]
    half_band = math.log(bands(found, "calibrated").latency[1])
    return Scored(" ".join(members[0].subject), before, after, beyond, half_band, factors)


def _off(row: truth.Row, logarithms: Sequence[float]) -> float:
    """As `planner check` evaluates the row's spec, the simulation of a finite run included."""
    found = evaluate(with_scalars(shipped(row.plan()), logarithms), simulate=True).latency.inter_token_latency_s.mean
    return math.log(found / row.itl_s) if found else math.inf


def _beyond_rounding(row: truth.Row, value: float) -> float:
    """A figure printed in steps of r stands for every gap from r / 2 below it to r / 2 above it."""
    half = min(row.resolution_s / row.itl_s, 1.0) / 2.0
    return value - min(max(value, math.log1p(-half)), math.log1p(half))


def table() -> str:
    """One line a group: median and 90th percentile, before and after."""
    lines = [f"{'group':70}{'rows':>5}{'before':>16}{'after':>16}{'noise':>8}  scalars"]
    for item in scored():
        pairs = (f"{error(values, 0.5):7.1%} /{error(values, 0.9):6.1%}" for values in (item.before, item.after))
        before, after = pairs
        lines.append(f"{item.name:70}{len(item.after):5}{before:>16}{after:>16}{item.noise:8.1%}  {item.factors}")
    return "\n".join(lines)


def test_the_rest_of_every_group_taken_together() -> None:
    print(f"\n{table()}")
    after = [value for item in scored() for value in item.after]
    print(f"all: {error(after, 0.5):.1%} / {error(after, 0.9):.1%}")
    assert len(after) > 200
    assert error(after, 0.5) <= MEDIAN
    assert error(after, 0.9) <= NINETIETH


def test_the_median_of_each_group() -> None:
    missed = {item.name: error(item.after, 0.5) for item in scored() if error(item.after, 0.5) > MEDIAN}
    assert not missed


@pytest.mark.xfail(strict=True, reason="one group of open loops is at 22.9 %: gaps of 5 to 16 ms in whole milliseconds")
def test_the_ninetieth_percentile_of_each_group() -> None:
    assert not {item.name: error(item.after, 0.9) for item in scored() if error(item.after, 0.9) > NINETIETH}


def test_the_ninetieth_percentile_of_each_group_beyond_rounding() -> None:
    """Gaps of 5 to 16 ms in whole milliseconds are off by up to 10 % before anything is predicted: here only what their
    rounding leaves unexplained counts."""
    beyond = {item.name: error(item.beyond_rounding, 0.9) for item in scored()}
    assert not {name: value for name, value in beyond.items() if value > NINETIETH}


def test_the_band_covers_what_it_says() -> None:
    """80 to 95 % of the rows that were not points lie within the band that their own calibration gives."""
    inside = [abs(value) <= item.half_band for item in scored() for value in item.after]
    covered = sum(inside) / len(inside)
    print(f"covered: {covered:.1%}")
    assert 0.80 <= covered <= 0.95


def test_the_width_of_the_band_is_not_one_groups_own() -> None:
    """The 90 % quantile of all other groups covers 80 to 95 % of the rows of the groups left out in turn."""
    inside: list[bool] = []
    for left_out in scored():
        width = quantile([abs(value) for item in scored() if item is not left_out for value in item.after], 0.9)
        inside += [abs(value) <= width for value in left_out.after]
    assert 0.80 <= sum(inside) / len(inside) <= 0.95


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_no_group_gets_worse_by_more_than_its_noise(share: float) -> None:
    worse = {
        item.name: (error(item.before, share), error(item.after, share), item.noise)
        for item in scored()
        if error(item.after, share) > error(item.before, share) + item.noise
    }
    assert not worse
