"""Declared lengths to distributions: percentiles kept, the mean by hand."""

import math

from hypothesis import given
from hypothesis import strategies as st

from planner.bind.lengths import length
from planner.contract.lengths import LEVELS, mean_bounds
from planner.evaluation.mix import quantile


def test_a_number_never_varies() -> None:
    found = length(800)
    assert found.fixed
    assert found.mean == found.maximum == 800


def test_declared_points_stand() -> None:
    found = length({"p50": 900, "p95": 3000, "max": 6000})
    assert (found.at("p50"), found.at("p95"), found.at("max")) == (900, 3000, 6000)


def test_mean_of_the_log_normal() -> None:
    # sigma = ln(3000/900)/1.64485 = 0.73197; exp(ln 900 + sigma^2/2) = 900 x 1.30718 = 1176.5 uncut;
    # cut at 1e9 changes nothing.
    found = length({"p50": 900, "p95": 3000, "max": 1_000_000_000})
    assert math.isclose(found.mean, 1176.5, rel_tol=2e-4)


def test_cutting_at_the_maximum_lowers_the_mean() -> None:
    assert length({"p50": 900, "p95": 3000, "max": 3500}).mean < length({"p50": 900, "p95": 3000, "max": 60000}).mean


def test_quantiles_pass_through_the_declared_points() -> None:
    found = length({"p50": 900, "p95": 3000, "max": 6000})
    assert math.isclose(quantile(found, 0.5), 900)
    assert math.isclose(quantile(found, 0.95), 3000)
    assert math.isclose(quantile(found, 1.0), 6000)


def test_a_median_of_nothing_is_read_as_one_token() -> None:
    # ln 1 = 0; sigma = ln 10 / 1.64485 = 1.39989; the mean exp(sigma^2 / 2) = 2.664, cut or not below the p95.
    found = length({"p50": 0, "p95": 10})
    assert found.mean < 10
    assert found.at("p95") == 10


def test_a_median_and_a_mean_give_the_spread() -> None:
    # sigma^2 / 2 = ln(150 / 100), so sigma = 0.90052; p95 = 100 x exp(1.64485 x 0.90052) = 439.8.
    found = length({"p50": 100, "mean": 150})
    assert math.isclose(found.at("p95"), 439.8, rel_tol=1e-3)
    assert found.mean == 150


def test_a_percentile_that_is_not_declared_lies_between_those_that_are() -> None:
    # The log-normal nearest to the three has 284.8 at its 90th percentile.
    assert length({"p50": 88, "p95": 274, "p99": 1089, "max": 29280}).at("p90") == 274


STATISTICS = st.lists(st.integers(1, 100_000), min_size=5, max_size=5).map(sorted)


@given(STATISTICS, st.sets(st.sampled_from(tuple(LEVELS)), min_size=1))
def test_percentiles_rise_and_the_mean_is_one_that_they_allow(tokens: list[int], kept: set[str]) -> None:
    declared = {key: value for key, value in zip(LEVELS, tokens, strict=True) if key in kept}
    found = length(declared)
    values = [found.at(key) for key in LEVELS]
    assert values == sorted(values)
    low, high = mean_bounds({LEVELS[key]: float(value) for key, value in declared.items()})
    assert low * (1 - 1e-12) <= found.mean <= high * (1 + 1e-12)
    assert all(found.at(key) == value for key, value in declared.items())
