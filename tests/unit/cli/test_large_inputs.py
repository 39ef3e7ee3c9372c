"""Large inputs: judged in time that grows no faster than they do, or refused by a limit that the finding names."""

from __future__ import annotations

import cProfile
import json
import pstats
from collections.abc import Callable

import pytest
from click.testing import Result

from tests.unit.cli.conftest import SPEC

Write = Callable[..., str]
Planner = Callable[..., Result]

CLASS = "    - {{name: c{0}, prompt_tokens: {{p50: {1}, p95: 4000, max: 6000}}, output_tokens: 200}}\n"
CHANGE = "  - {{use: change, name: n{0}, set: {{engine: {{max_num_seqs: {1}}}}}, status: consider}}\n"
WAIVER = "  - {{finding: objectives-incomplete, path: /x{0}, reason: because, expires: 2027-01-01}}\n"
REAL = SPEC.replace("{name: ideal}", '{name: vllm, version: "0.11", max_model_len: 8192}').replace("NAME", "large")
HEAD, TAIL = REAL.split("  classes: [{name: all, context_tokens: 8192}]\n")


def classes(number: int) -> str:
    return f"{HEAD}  classes:\n{''.join(CLASS.format(index, 500 + index) for index in range(number))}{TAIL}"


def changes(number: int) -> str:
    return f"{REAL}levers:\n{''.join(CHANGE.format(index, 64 + index) for index in range(number))}"


def waivers(number: int) -> str:
    return f"{REAL}waivers:\n{''.join(WAIVER.format(index) for index in range(number))}"


def files(number: int) -> str:
    return f"{REAL}measurements:\n{''.join(f'  - m/{index}.json{chr(10)}' for index in range(number))}"


LISTS = [
    (classes, "/workload/classes", 100),
    (changes, "/levers", 100),
    (waivers, "/waivers", 500),
    (files, "/measurements", 100),
]


@pytest.mark.parametrize(("text", "path", "most"), LISTS, ids=[path for _, path, _ in LISTS])
def test_a_list_that_is_too_long_is_one_finding_with_the_limit(
    text: Callable[[int], str], path: str, most: int, write: Write, planner: Planner
) -> None:
    found = planner("check", "--format", "json", write("feasible", text=text(10 * most)))
    assert found.exit_code == 1
    [finding] = json.loads(found.stdout)["results"][0]["findings"]
    assert (finding["id"], finding["path"], finding["values"]) == ("out-of-range", path, {"limit": most})
    assert finding["message"] == f"read {10 * most} of at most {most} items"


@pytest.mark.parametrize("text", [classes, changes, waivers], ids=["classes", "changes", "waivers"])
def test_twice_the_items_are_about_twice_the_work(text: Callable[[int], str], write: Write, planner: Planner) -> None:
    """Counted in calls of functions, which a busy machine does not change: quadratic would be four times."""

    def calls(number: int) -> int:
        path = write("feasible", name=f"large-{number}", text=text(number))
        profile = cProfile.Profile()
        profile.enable()
        found = planner("check", path)
        profile.disable()
        assert found.exit_code == 0
        return pstats.Stats(profile).total_calls  # type: ignore[attr-defined,no-any-return]

    calls(1)  # imports
    empty, few, many = calls(1), calls(30), calls(60)
    assert many - empty < 3.0 * (few - empty)
