"""Both formats: the same sections in the same order, the same bytes for the same input, nothing fetched."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from planner.domain.evaluation import PlanResult
from planner.findings import Finding, Location, Severity, Verdict
from planner.report import build, render_html, render_markdown
from planner.report.render import section_templates

ORDER = [
    "Verdict",
    "What binds",
    "Baseline",
    "Memory by configuration",
    "Levers",
    "What must be evaluated or measured",
    "Where the regime turns",
    "Cost and energy",
    "Margins and sensitivity",
    "The measurement that decides",
    "Where every figure comes from",
    "How to verify it on the real system",
    "Findings and waivers",
]


FOR_SOME = {"under_load", "replicas"}
"""Sections that a spec has only with arrivals of its own, or with replicas that scale, are lost or stand in pools."""


def titles_of_html(text: str) -> list[str]:
    return re.findall(r"<h2[^>]*>([^<]*)</h2>", text)


def titles_of_markdown(text: str) -> list[str]:
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


class TextOf(HTMLParser):
    """The words of the body, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in ("style", "nav", "head")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("style", "nav", "head")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words += data.split()


@pytest.fixture(params=["textbook", "support_chat"])
def report(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    return request.getfixturevalue(request.param)


def test_both_formats_have_the_sections_in_order(report) -> None:  # type: ignore[no-untyped-def]
    model = build(*report.arguments())
    assert titles_of_html(render_html(model)) == ORDER
    assert titles_of_markdown(render_markdown(model)) == ORDER


def test_every_section_has_a_template_of_each_format() -> None:
    names = [name.removesuffix(".md.j2") for name in section_templates("md")]
    assert names == [name.removesuffix(".html.j2") for name in section_templates("html")]
    assert len([name for name in names if name[3:] not in FOR_SOME]) == len(ORDER)


def test_both_formats_say_the_same_figures(report) -> None:  # type: ignore[no-untyped-def]
    model = build(*report.arguments())
    parser = TextOf()
    parser.feed(render_html(model))
    figure = re.compile(r"-?\d[\d,.]*\d")
    in_html = set(figure.findall(" ".join(parser.words)))
    in_markdown = set(figure.findall(render_markdown(model)))
    assert in_markdown - in_html == set()
    assert in_html - in_markdown == set()


def test_same_input_same_bytes(report) -> None:  # type: ignore[no-untyped-def]
    first, second = build(*report.arguments()), build(*report.arguments())
    assert first == second
    assert render_markdown(first) == render_markdown(second)
    assert render_html(first) == render_html(second)


def test_lines_end_in_line_feeds_and_nothing_trails(report) -> None:  # type: ignore[no-untyped-def]
    model = build(*report.arguments())
    for text in (render_markdown(model), render_html(model)):
        assert text.endswith("\n") and not text.endswith("\n\n")
        assert "\r" not in text
        assert not re.search(r"[ \t]$", text, re.MULTILINE)


def test_the_page_is_small_and_asks_for_nothing(report) -> None:  # type: ignore[no-untyped-def]
    text = render_html(build(*report.arguments()))
    assert len(text.encode()) < 400_000
    assert not re.search(r"<(script|link|img|iframe|object|embed|base)\b", text)
    assert not re.search(r"\b(src|srcset|poster|action|formaction|xlink:href)\s*=", text)
    assert set(re.findall(r'href="([^"]?)', text)) == {"#"}
    assert "url(" not in text and "@import" not in text
    assert "default-src 'none'" in text


def test_many_levers_and_findings_stay_below_the_limit(support_chat) -> None:  # type: ignore[no-untyped-def]
    step = replace(support_chat.result.steps[4], note="n" * 5000)
    result = replace(support_chat.result, steps=(step,) * 3000)
    findings = tuple(
        Finding(f"finding-{number}", Severity.WARNING, "m" * 5000, "h" * 5000, "/p" * 900) for number in range(3000)
    )
    model = build(support_chat.document, support_chat.plan, result, findings, Verdict.AT_RISK, support_chat.analysis)
    text = render_html(model)
    assert len(text.encode()) < 2_000_000
    assert "more are left out here" in text
    assert "2900 more are left out here" in render_markdown(model)


def test_a_changed_figure_changes_few_lines(support_chat) -> None:  # type: ignore[no-untyped-def]
    before = render_markdown(build(*support_chat.arguments())).splitlines()
    plan = replace(support_chat.plan, owner="team-other")
    changed = replace(support_chat, plan=plan)
    after = render_markdown(build(*changed.arguments())).splitlines()
    assert len(before) == len(after)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def test_an_invalid_spec_has_its_verdict_and_findings_alone(support_chat) -> None:  # type: ignore[no-untyped-def]
    finding = Finding(
        "schema-unit",
        Severity.ERROR,
        "read 80 Gb, which is gigabits",
        "write 80 GB",
        location=Location("specs/prod.yaml", 7, 3),
        verdict=Verdict.INVALID,
    )
    model = build(support_chat.document, None, None, (finding,), Verdict.INVALID, None)
    text = render_markdown(model)
    assert titles_of_markdown(text) == ["Verdict", "Findings and waivers"]
    assert titles_of_html(render_html(model)) == ["Verdict", "Findings and waivers"]
    assert "The spec has 1 error; nothing was evaluated." in text
    assert "Write 80 GB." in text
    assert "specs/prod.yaml:7:3" in text


def test_it_works_without_an_analysis(support_chat) -> None:  # type: ignore[no-untyped-def]
    arguments = support_chat.arguments()
    model = build(*arguments[:-1], None)
    assert model.memory is not None
    assert [bar.configuration for bar in model.memory.bars] == ["baseline", "shipped"]
    assert render_markdown(model)


def test_the_same_report_wherever_it_is_called_from(support_chat) -> None:  # type: ignore[no-untyped-def]
    here = render_markdown(build(*support_chat.arguments()))
    document = replace(support_chat.document, file="../project/specs/prod.yaml")
    elsewhere = replace(support_chat, document=document)
    assert render_markdown(build(*elsewhere.arguments())) == here


def test_waivers_print_their_date_and_stay_visible(support_chat) -> None:  # type: ignore[no-untyped-def]
    text = render_markdown(build(*support_chat.arguments()))
    assert (
        "| price-undated | /hardware/price | the price has no date | Contract price, under NDA. | 2027-01-31 |" in text
    )


def test_rejected_levers_keep_their_reason(support_chat) -> None:  # type: ignore[no-untyped-def]
    text = render_markdown(build(*support_chat.arguments()))
    row = next(line for line in text.splitlines() if line.startswith("| quantize-kv-cache | rejected"))
    assert row.endswith("| Fails our 32k retrieval set. |")


def test_the_ladder_starts_each_lever_where_the_one_before_ended(support_chat) -> None:  # type: ignore[no-untyped-def]
    # Gap p95 = step * 1.2 * 1.1: 26.5 -> 35.0 ms, 23.1 -> 30.5 ms; (23.1 - 26.5) / 26.5 = -12.8 %.
    text = render_markdown(build(*support_chat.arguments()))
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in text.splitlines() if line.startswith("| ")}
    assert "30.5 ms, -12.8 %" in rows["cuda-graphs"]
    # Prefill 142 -> 56 ms, p95 3.1 times that: 440 -> 174 ms, -60.6 %.
    assert "174 ms, -60.6 % | 30.5 ms |" in rows["prefix-caching"]
    # On top of what ships: 23.1 -> 13.4 ms, -42.0 %.
    assert "| quantize-weights | considered | 16.8 GiB (18.0 GB), -49.0 % |" in text
    assert "17.7 ms, -42.0 %" in text


def test_floors_are_called_floors(textbook, support_chat) -> None:  # type: ignore[no-untyped-def]
    phrase = "nothing but bytes and arithmetic"
    assert phrase in render_markdown(build(*textbook.arguments()))
    assert phrase not in render_markdown(build(*support_chat.arguments()))


def test_an_outcome_without_figures_is_printed(textbook) -> None:  # type: ignore[no-untyped-def]
    bare = replace(textbook.result.shipped, memory=replace(textbook.result.shipped.memory, kv_cache_bytes=None))
    result = PlanResult(bare, bare)
    text = render_markdown(build(textbook.document, textbook.plan, result, (), Verdict.FEASIBLE, textbook.analysis))
    assert "| KV cache of the declared load, per accelerator | n/a | n/a |  |" in text


def test_importing_the_report_does_not_import_jinja2() -> None:
    code = "import sys, planner.report; sys.exit('jinja2' in sys.modules or 'numpy' in sys.modules)"
    root = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_the_textbook_report_is_the_committed_one(textbook) -> None:  # type: ignore[no-untyped-def]
    """Checked by hand against the textbook: 82.7 GB of 80, then 31.2 GB, 31.2 ms, 32.1 and 513 tokens/s."""
    expected = (Path(__file__).parent / "textbook.md").read_text("utf-8")
    assert render_markdown(build(*textbook.arguments())) == expected
