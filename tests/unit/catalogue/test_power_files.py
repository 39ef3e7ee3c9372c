"""Constants of power: every figure has its source, and stands between what is known to be true."""

import pytest
import yaml

from planner import catalogue
from planner.bind.catalogue_accelerator import from_entry
from planner.domain.accelerator import Accelerator
from planner.evaluation.power_figures import FOLDER, power_figures

FILES = sorted(FOLDER.glob("*.yaml"))
NAMES = {"idle", "active", "memory", "arithmetic", "band"}


def card(name: str) -> Accelerator:
    entry = catalogue.entry("accelerators", name)
    assert entry is not None
    return from_entry(name, entry)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_figure_has_a_source(path) -> None:  # type: ignore[no-untyped-def]
    content = yaml.safe_load(path.read_text("utf-8"))
    assert content["kind"] == "Power" and content["metadata"]["name"] == path.stem
    assert set(content["figures"]) <= NAMES
    for figure in content["figures"].values():
        assert set(figure) == {"value", "source"} and len(figure["source"]) > 10


def test_files_are_of_generations_that_there_are() -> None:
    known = {name.lower() for name in catalogue.names("generations")}
    assert {path.stem for path in FILES} - {"default"} <= known


def test_the_default_has_every_figure() -> None:
    assert set(yaml.safe_load((FOLDER / "default.yaml").read_text("utf-8"))["figures"]) == NAMES


@pytest.mark.parametrize(
    ("name", "idle", "decode"),
    [
        # Idle watts as read from running engines; decode: one sequence of a small model reads at half of the peak.
        ("h200-sxm", (80, 81), (400, 560)),
        ("a100-sxm-80", (59, 62), (200, 350)),  # 59 to 62 W; 291 to 363 W for models of 3B to 20B
        ("rtx-3090", (17, 31), (230, 340)),  # 17 to 31 W; 335 to 338 W at full bandwidth
        ("v100-sxm2-32", (40, 55), (180, 220)),  # 53 W; 180 to 200 W in decode
    ],
)
def test_watts_are_those_of_public_readings(name: str, idle: tuple[float, float], decode: tuple[float, float]) -> None:
    found = card(name)
    shares = power_figures(found).shares
    assert found.power_w is not None
    assert idle[0] <= shares.idle * found.power_w <= idle[1]
    assert decode[0] <= (shares.active + 0.5 * shares.memory) * found.power_w <= decode[1]


@pytest.mark.parametrize("name", ["h100-sxm", "b200-sxm", "a100-sxm-80", "l40s", "v100-sxm2-32"])
def test_prefill_comes_near_the_limit(name: str) -> None:
    """At 0.4 of the peak of arithmetic and a tenth of the bandwidth: at least nine tenths of the rated power."""
    shares = power_figures(card(name)).shares
    assert shares.active + 0.1 * shares.memory + 0.4 * shares.arithmetic >= 0.9


def test_the_band_holds_the_estimate() -> None:
    for name in ("h100-sxm", "b200-sxm", "l4"):
        low, high = power_figures(card(name)).band
        assert low < 1 < high
