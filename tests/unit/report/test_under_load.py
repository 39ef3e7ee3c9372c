"""Charts and tables of the deployment under arrivals, from figures made by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from planner.domain.workload import Load, Objective, Objectives
from planner.report import build, render_html, render_markdown
from planner.report.analysis_types import LoadInterval, LoadPoint, UnderLoad
from planner.report.axes import Axis, around, from_zero, round_down, round_up


def times(p50: float) -> dict[str, float]:
    return {"mean": p50, "p50": p50, "p90": 1.5 * p50, "p95": 2 * p50, "p99": 4 * p50, "max": 5 * p50}


POINTS = (
    LoadPoint(2.0, times(0.05), times(0.010), 2.0, 2.0, 0.0, 0.01),
    LoadPoint(5.0, times(0.10), times(0.015), 5.0, 4.5, 0.0, 0.25),
    LoadPoint(8.0, times(0.40), times(0.030), 8.0, 4.0, 0.0, 3.0),
)
SERIES = tuple(LoadInterval(10.0 * index, 10.0 * index + 10.0, float(index), 8.0, 0) for index in range(30))
HOLDS = UnderLoad(
    POINTS, SERIES, 5.0, 10.0, 6.25, ("time_to_first_token.p95",), "time_per_output_token",
    tuple(0.001 * index for index in range(1, 201)), 3600, False,
)  # fmt: skip


def reported(support_chat, found: UnderLoad | None = HOLDS):  # type: ignore[no-untyped-def]
    """The model of a chat under a rate, with one limit on TTFT."""
    limits = (Objective("time_to_first_token", "p95", "max", 0.3), Objective("rejected_requests", None, "max", 0.01))
    plan = replace(
        support_chat.plan,
        workload=replace(support_chat.plan.workload, load=Load("rate", rate_per_s=5.0)),
        objectives=Objectives(limits),
    )
    analysis = replace(support_chat.analysis, under_load=found)
    return build(*replace(support_chat, plan=plan, analysis=analysis).arguments())


def chart(model, key: str):  # type: ignore[no-untyped-def]
    return next(item for item in model.load.charts if item.key == key)


def test_a_closed_loop_has_no_such_section(support_chat) -> None:  # type: ignore[no-untyped-def]
    model = build(*support_chat.arguments())
    assert model.load is None
    assert "Under load" not in render_html(model) + render_markdown(model)


def test_it_says_how_the_load_stands(support_chat) -> None:  # type: ignore[no-untyped-def]
    text = render_markdown(reported(support_chat))
    assert "5.00 requests/s arrive, 50.0 % of the 10.0 requests/s at which the queue would grow without bound." in text
    assert "Every objective holds up to 6.25 requests/s; above it breaks time_to_first_token.p95." in text
    assert "| 5.00 (offered) | 100 ms | 200 ms | 400 ms | 15.0 ms | 30.0 ms | 60.0 ms | 90.0 % | 0.0 % | 0.25 |" in text
    # 30 intervals of 10 s in tens rows of 30 s: the first three wait 0, 1 and 2
    assert "| 0 ms | 30.0 s | 1.00 | 8.00 | 0 |" in text
    assert "| 50.0 % | 100 ms |" in text and "| all | 200 ms |" in text


def test_lines_stand_where_the_values_are(support_chat) -> None:  # type: ignore[no-untyped-def]
    """Rates from 0 to 10 x 1.04; TTFT from 50 ms to 2 s by logarithm; the limit of 300 ms across."""
    model = reported(support_chat)
    first = chart(model, "time-to-first-token")
    assert [line.name for line in first.lines] == ["p50", "p95", "p99"]
    assert [point[0] for point in first.lines[0].points] == pytest.approx([19.23, 48.08, 76.92], abs=0.01)
    assert first.lines[0].points[0][1] == pytest.approx(100.0)  # 50 ms, at the bottom
    assert first.lines[1].points[0][1] == pytest.approx(100.0 * (1 - 0.301 / 1.602), abs=0.05)  # 100 ms
    limit, offered, edge = first.rules
    assert limit.across and limit.name == "limit on p95: 300 ms"
    assert limit.at == pytest.approx(100.0 * (1 - 0.778 / 1.602), abs=0.05)
    assert (offered.name, edge.name) == ("offered: 5.00 requests/s", "capacity: 10.0 requests/s")
    assert (offered.at, edge.at) == pytest.approx((48.08, 96.15), abs=0.01)
    assert chart(model, "time-per-output-token").rules[0].kind == "offered"  # no limit on it
    assert len(chart(model, "queue").lines[0].points) == 60
    assert chart(model, "first-token-distribution").rules[0].across is False


def test_overload_has_a_growing_queue_and_no_distribution(support_chat) -> None:  # type: ignore[no-untyped-def]
    grows = LoadPoint(12.0, {}, {}, 9.0, 0.0, 0.0, 500.0)
    model = reported(
        support_chat, replace(HOLDS, points=(*POINTS, grows), arrivals_per_s=12.0, overloaded=True, first_tokens=())
    )
    text = render_markdown(model)
    assert "12.0 requests/s arrive and 10.0 requests/s can be served, so the queue grows without bound and no" in text
    assert "| 12.0 (offered) | n/a | n/a | n/a | n/a | n/a | n/a | n/a | 0.0 % | grows |" in text
    assert [item.key for item in model.load.charts][-1] == "queue"
    assert "Distribution" not in text


def test_a_limited_queue_says_what_it_turns_away(support_chat) -> None:  # type: ignore[no-untyped-def]
    full = LoadPoint(12.0, times(1.0), times(0.04), 9.0, 1.0, 0.25, 40.0)
    model = reported(
        support_chat, replace(HOLDS, points=(*POINTS, full), arrivals_per_s=12.0, limited=True, holds_per_s=0.0)
    )
    text = render_markdown(model)
    assert (
        "12.0 requests/s arrive, 120.0 % of the 10.0 requests/s that can be served; the queue turns 25.0 % away."
        in text
    )
    assert "No rate holds every objective: time_to_first_token.p95 is missed at the lowest." in text


class Drawings(HTMLParser):
    """Of each drawing: its title, its description, and the identifiers that it is labelled by."""

    def __init__(self) -> None:
        super().__init__()
        self.labelled: list[list[str]] = []
        self.found: dict[str, str] = {}
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "svg" and "aria-labelledby" in known:
            assert known["role"] == "img"
            self.labelled.append((known["aria-labelledby"] or "").split())
        self._open = known.get("id") or "" if tag in ("title", "desc") else ""

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.found[self._open] = self.found.get(self._open, "") + data


def test_drawings_can_be_heard(support_chat) -> None:  # type: ignore[no-untyped-def]
    drawings = Drawings()
    drawings.feed(render_html(reported(support_chat)))
    assert len(drawings.labelled) == 5
    names = [name for pair in drawings.labelled for name in pair]
    assert len(set(names)) == 10 and all(drawings.found[name].strip() for name in names)
    assert drawings.found["chart-queue-desc"] == (
        "Mean requests that wait, at 5.00 requests/s: 29.0 at most, from 290 s on."
    )


def test_both_formats_have_the_same_tables_and_bytes_repeat(support_chat) -> None:  # type: ignore[no-untyped-def]
    first, second = reported(support_chat), reported(support_chat)
    assert render_html(first) == render_html(second) and render_markdown(first) == render_markdown(second)
    html, markdown = render_html(first), render_markdown(first)
    for cell in ("30.0 ms", "90.0 %", "4.00", "200 ms"):
        assert cell in html and cell in markdown
    points = re.findall(r'points="([^"]+)"', html)
    assert len(points) == 3 + 3 + 2 + 1 + 1
    assert all(re.fullmatch(r"(-?\d+\.\d\d,-?\d+\.\d\d ?)+", item) for item in points)


@pytest.mark.parametrize(
    ("axis", "value", "share"),
    [(Axis(0.0, 10.0), 2.5, 25.0), (Axis(1.0, 100.0, True), 10.0, 50.0), (Axis(0.0, 10.0), 20.0, 100.0)],
)
def test_places_on_an_axis(axis: Axis, value: float, share: float) -> None:
    assert axis.share(value) == pytest.approx(share)


def test_ticks_are_round_and_few() -> None:
    text = "{:g}".format
    assert [tick.text for tick in Axis(0.0, 10.4).ticks(6, text)] == ["0", "2", "4", "6", "8", "10"]
    assert [tick.text for tick in Axis(0.05, 2.0, True).ticks(6, text)] == ["0.05", "0.1", "0.2", "0.5", "1", "2"]
    assert len(Axis(1e-3, 1e3, True).ticks(6, text)) <= 7
    assert (round_up(0.03), round_down(0.03), round_up(0.0)) == (0.05, 0.02, 1.0)
    assert (from_zero([]).high, from_zero([100.0]).high) == (1.0, 104.0)
    assert (around([0.03, 4.0]).low, around([0.03, 4.0]).high) == (0.02, 5.0)
    assert around([0.05, 0.05]).high > around([0.05]).low
