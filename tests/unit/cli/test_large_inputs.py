"""Large inputs: judged in time that grows no faster than they do, or refused by a limit that the finding names."""

from __future__ import annotations

import json
import time
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
    (classes, "/workload/classes", 256),
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


@pytest.mark.parametrize("text", [classes, changes], ids=["classes", "changes"])
def test_twice_the_items_take_no_more_than_three_times_as_long(
    text: Callable[[int], str], write: Write, planner: Planner
) -> None:
    """Processor time, so that what else runs does not count; twice as long would be linear."""

    def seconds(number: int) -> float:
        path = write("feasible", name=f"large-{number}", text=text(number))
        begin = time.process_time()
        assert planner("check", path).exit_code == 0
        return time.process_time() - begin

    seconds(1)  # imports
    assert min(seconds(60) for _ in range(2)) < 3.0 * min(seconds(30) for _ in range(2))
