"""Text for people: notes on one line, everything that a run fails by whole, latencies with their statistic."""

from __future__ import annotations

import json
from collections.abc import Callable

from click.testing import Result

Write = Callable[..., str]
Planner = Callable[..., Result]


def test_notes_are_counted_on_one_line(write: Write, planner: Planner) -> None:
    path = write("feasible")
    text = planner("check", path).stdout
    found = json.loads(planner("check", "--format", "json", path).stdout)["results"][0]["findings"]
    notes = [item for item in found if item["severity"] == "note"]
    assert len(notes) >= 2
    (line,) = (line for line in text.splitlines() if " notes: " in line)
    assert line.startswith(f"{path}: {len(notes)} notes: ")
    assert all(item["id"] in line for item in notes)
    assert not any(item["message"] in text for item in notes)


def test_verbose_prints_notes_whole(write: Write, planner: Planner) -> None:
    path = write("feasible")
    text = planner("check", "--verbose", path).stdout
    found = json.loads(planner("check", "--format", "json", path).stdout)["results"][0]["findings"]
    assert all(item["message"] in text for item in found)
    assert " notes: " not in text


def test_errors_and_warnings_are_never_folded(write: Write, planner: Planner) -> None:
    for kind in ("too-big", "too-slow", "at-risk", "unproven", "invalid", "unexpected"):
        path = write(kind)
        text = planner("check", path).stdout
        found = json.loads(planner("check", "--format", "json", path).stdout)["results"][0]["findings"]
        decisive = [item for item in found if item["severity"] != "note"]
        assert decisive, kind
        assert all(item["id"] in text and item["message"] in text for item in decisive), kind


def test_latencies_say_which_statistic_and_whether_anything_waits(write: Write, planner: Planner) -> None:
    """31.2 ms a token, of the mean that the objective binds; the ideal engine with prompts queues nothing."""
    assert "    latency     ITL mean 31.2 ms (floor)" in planner("check", write("feasible")).stdout
    lengths = '/workload/classes=[{"name": "all", "prompt_tokens": 4000, "output_tokens": 100}]'
    text = planner("check", "--set", lengths, write("feasible", "prompts")).stdout
    assert "latency     TTFT mean " in text
    assert " without queueing, ITL mean " in text
    waits = planner(
        "check", "--set", "/objectives/inter_token_latency={p95: 90 ms}", "--set", lengths, write("at-risk")
    )
    assert ", ITL p95 " in waits.stdout
    assert "without queueing" not in waits.stdout
