"""The index over deployments: sums by hand, links, names that nobody meant well."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from planner.domain.accelerator import Accelerator, Hardware, Replicas
from planner.domain.cost import Cost, Power
from planner.domain.evaluation import RunsOut
from planner.domain.workload import Growth
from planner.findings import Verdict
from planner.report import index, render_index
from planner.report.index import Entry

H100 = Accelerator("h100-sxm", "H100 SXM5 80GB")
L4 = Accelerator("l4", "L4")
HOSTILE = '<script>x</script> | [a](http://evil.example) @team "'


def entry(support_chat: Any, name: str, hardware: Hardware, cost: Cost, verdict: Verdict = Verdict.FEASIBLE) -> Entry:
    plan = replace(support_chat.plan, name=name, hardware=hardware, owner="team-a")
    result = replace(support_chat.result, shipped=replace(support_chat.result.shipped, cost=cost))
    return Entry(name, f"specs/{name}.yaml", verdict, plan, result)


def spent(usd: float | None, watts: float | None) -> Cost:
    power = None if watts is None else Power(700, 80, 500, 700, 1.0, watts, watts * 1.25, watts * 2, (0.8, 1.35))
    return Cost(usd_per_month=usd, watts=watts, power=power, utilisation=0.5)


@pytest.fixture
def entries(support_chat: Any) -> list[Entry]:
    """Eight H100 for 8,000 USD and 4 kW; one to three and two spares for 3,000 USD, power unknown; an L4 beside one."""
    return [
        entry(support_chat, "chat", Hardware((H100,) * 4, Replicas(2, 2)), spent(8000, 4000), Verdict.AT_RISK),
        entry(support_chat, "batch", Hardware((H100,), Replicas(1, 3), spares=2), spent(3000, None)),
        entry(support_chat, "mixed", Hardware((H100, L4)), spent(None, 600)),
    ]


def rows(entries: list[Entry], suffix: str = "md") -> dict[str, list[str]]:
    found = re.findall(r"^\| (.*) \|$", render_index(index.build(entries, suffix), suffix), re.MULTILINE)
    return {cells[0]: cells[1:] for cells in (line.split(" | ") for line in found)}


def test_accelerators_are_summed_by_kind(entries: list[Entry]) -> None:
    """H100: 8 + 1 + 1 at the load, 8 + 3 + 1 at most, 2 spares; 11,000 USD without the one of `mixed`; 4 kW and half of
    0.6 kW, without the three of `batch`; most 5 kW and half of 0.75."""
    found = rows(entries)
    assert found["H100 SXM5 80GB"] == [
        "10", "2", "12", "14", "11,000 USD/month (without 1)", "4.30 kW (without 3)", "5.38 kW (without 3)",
    ]  # fmt: skip
    assert found["L4"] == ["1", "0", "1", "1", "n/a", "300 W", "375 W"]
    assert found["All"][:4] == ["11", "2", "13", "15"]


def test_each_deployment_has_a_line_and_a_link(entries: list[Entry]) -> None:
    found = rows(entries)
    assert list(found)[2:5] == ["[batch](batch.md)", "[chat](chat.md)", "[mixed](mixed.md)"]
    assert found["[chat](chat.md)"] == [
        "at-risk", "2 x 4 x H100 SXM5 80GB", "0", "50.0 %", "8,000 USD/month", "4.00 kW", "5.00 kW",
        "n/a: no growth is declared", "team-a",
    ]  # fmt: skip
    assert found["[batch](batch.md)"][1] == "1 to 3 x 1 x H100 SXM5 80GB"


@pytest.mark.parametrize(
    ("growth", "found", "text"),
    [
        (None, None, "n/a: no growth is declared"),
        (Growth(0.08, "2026-11-01"), None, "n/a: not computed for this load"),
        (
            Growth(0.08, "2026-11-01"),
            RunsOut("2027-05", "time_to_first_token.p95"),
            "2027-05 (time_to_first_token.p95)",
        ),
        (Growth(0.001, "2026-11-01"), RunsOut(None, "holds for ten years"), "n/a: holds for ten years"),
    ],
)
def test_when_it_runs_out(entries: list[Entry], growth: Growth | None, found: RunsOut | None, text: str) -> None:
    chat = entries[0]
    assert chat.plan is not None and chat.result is not None
    plan = replace(chat.plan, workload=replace(chat.plan.workload, growth=growth))
    grown = replace(chat, plan=plan, result=replace(chat.result, runs_out=found))
    assert rows([grown])["[chat](chat.md)"][7] == text


def test_what_is_kept_to_say_why_not_is_not_summed(entries: list[Entry]) -> None:
    chat = entries[0]
    assert chat.plan is not None
    kept = replace(chat, verdict=Verdict.INFEASIBLE, plan=replace(chat.plan, expect="infeasible"))
    found = rows([kept, *entries[1:]])
    assert found["H100 SXM5 80GB"][0] == "2"
    assert found["[chat](chat.md)"][0] == "infeasible, as expected"


def test_an_invalid_spec_is_listed_without_a_link(entries: list[Entry]) -> None:
    text = render_index(index.build([*entries, Entry("broken", "specs/broken.yaml", Verdict.INVALID)], "md"), "md")
    assert "| broken (specs/broken.yaml) | invalid |" in text
    assert "4 deployments: 2 feasible, 1 at-risk, 1 invalid." in text


def test_one_changed_spec_changes_its_line_and_the_sums(entries: list[Entry], support_chat: Any) -> None:
    changed = [entry(support_chat, "chat", Hardware((H100,) * 4, Replicas(3, 3)), spent(12000, 6000)), *entries[1:]]
    before, after = (render_index(index.build(item, "md"), "md").splitlines() for item in (entries, changed))
    assert len(before) == len(after)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 4  # counts, its line, H100, all


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]


def test_links_lead_beside_the_index_only(entries: list[Entry]) -> None:
    parser = Links()
    parser.feed(render_index(index.build(entries, "html"), "html"))
    assert parser.links == ["#deployments", "batch.html", "chat.html", "mixed.html"]


@pytest.mark.parametrize(
    "name", [HOSTILE, "../../etc/passwd", "javascript:alert(1)", "http://evil.example/a", "//evil"]
)
def test_hostile_names_stay_text(support_chat: Any, name: str) -> None:
    card = replace(H100, name=HOSTILE)
    found = entry(support_chat, name, Hardware((card,)), spent(1, 1))
    assert found.plan is not None
    found = replace(found, plan=replace(found.plan, owner=HOSTILE))
    listed = [found, Entry(HOSTILE, HOSTILE, Verdict.INVALID)]
    parser = Links()
    parser.feed(render_index(index.build(listed, "html"), "html"))
    assert parser.links == ["#deployments"] and not parser.tags & {"script", "img"}
    markdown = render_index(index.build(listed, "md"), "md")
    assert "<script" not in markdown and "](" not in markdown.replace("\\](", "") and "@team" not in markdown
    table = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {11, 9}
