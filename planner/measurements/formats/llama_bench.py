"""`llama-bench`: its tests as JSON, JSON Lines, CSV, and the Markdown table that it prints by default."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Observation, Run
from planner.domain.workload import Load
from planner.measurements.content import Content, UnreadableError
from planner.measurements.values import needed, number, word

TITLE = "llama-bench (JSON, JSON Lines, CSV, Markdown)"
TEST = re.compile(r"^(?:pp([0-9]{1,9}))?\+?(?:tg([0-9]{1,9}))?(?: @ d([0-9]{1,9}))?$")
SPEED = re.compile(r"^([0-9]+(?:\.[0-9]+)?)(?: ± [0-9.]+)?$")
KEYS = frozenset({"n_prompt", "n_gen", "avg_ts"})
MOST_TESTS = 10_000
ALONE = Load("concurrency", concurrency=1.0)


def matches(content: Content) -> bool:
    if content.object.keys() >= KEYS:
        return True
    if not content.object and content.rows and set(content.rows[0]) >= KEYS:
        return True
    return any(_heads(line) is not None for line in content.lines[:200])


def read(content: Content) -> Measurement:
    tests = list(content.objects) or list(_of_csv(content.rows)) or list(_of_markdown(content.lines))
    if not tests:
        raise UnreadableError("holds no test of llama-bench")
    runs = tuple(_run(item, f"test {index}") for index, item in enumerate(tests[:MOST_TESTS], 1))
    build = word(tests[0], "build_number") or str(tests[0].get("build_number") or "")
    dates = [word(item, "test_time")[:10] for item in tests]
    cache = word(tests[0], "type_k")
    subject = Subject(engine="llama-cpp", cache=cache if cache.startswith("q") else "")
    tool = f"llama-bench build {build}" if build.isdecimal() else "llama-bench"
    return Measurement(content.name, tool, runs, subject, date=max(dates))


def _run(item: Mapping[str, Any], where: str) -> Run:
    prompt, output, depth = (number(item, key) or 0.0 for key in ("n_prompt", "n_gen", "n_depth"))
    speed = needed(number(item, "avg_ts"), "tokens a second (`avg_ts`)")
    tokens = prompt + output
    if not tokens:
        return Run(where, ALONE, 1.0, 1.0, (), unusable="neither a prompt nor an answer")
    if prompt and depth:
        why = f"a prompt behind {depth:g} cached tokens"
        return Run(where, ALONE, prompt, 1.0, (Observation("prefill", "mean", tokens / speed),), unusable=why)
    if not output:
        return Run(where, ALONE, prompt, 1.0, (Observation("prefill", "mean", prompt / speed),))
    if not prompt:
        # The cache begins with `depth` tokens and grows: what a request of that prompt sees.
        return Run(where, ALONE, max(depth, 1.0), output, (Observation("inter_token_latency", "mean", 1.0 / speed),))
    return Run(where, ALONE, prompt, output, (Observation("request_latency", "mean", tokens / speed),))


def _of_csv(rows: Sequence[Sequence[str]]) -> Iterator[Mapping[str, str]]:
    if rows and set(rows[0]) >= KEYS:
        for row in rows[1 : MOST_TESTS + 1]:
            yield dict(zip(rows[0], row, strict=False))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.lstrip().startswith("|") else []


def _heads(line: str) -> list[str] | None:
    """The column titles, where a line has those of a table of tests."""
    cells = _cells(line[:4000])
    return cells if {"model", "test", "t/s"} <= set(cells) else None


def _of_markdown(lines: Sequence[str]) -> Iterator[Mapping[str, str]]:
    heads: list[str] = []
    for line in lines[:MOST_TESTS]:
        found = _heads(line)
        if found is not None:
            heads = found
            continue
        row = dict(zip(heads, _cells(line[:4000]), strict=False))
        test, speed = TEST.match(row.get("test", "-")), SPEED.match(row.get("t/s", ""))
        if test is not None and speed is not None:
            names = zip(("n_prompt", "n_gen", "n_depth"), test.groups(), strict=True)
            yield {"avg_ts": speed[1], "type_k": row.get("type_k", ""), **{name: value or "" for name, value in names}}
