"""A judgement to the texts of its report."""

from __future__ import annotations

from collections.abc import Iterable

from planner import report
from planner.analysis import analyse
from planner.pipeline import Judgement


def texts(judgement: Judgement, formats: Iterable[str] = ("markdown", "html")) -> dict[str, str]:
    """{"markdown": text, "html": text}. The judgement must have a plan."""
    plan, result, document = judgement.plan, judgement.result, judgement.document
    if plan is None or result is None or document is None:
        raise ValueError("an invalid spec has no report")
    model = report.build(document, plan, result, judgement.findings, judgement.verdict, analyse(plan, result))
    renderers = {"markdown": report.render_markdown, "html": report.render_html}
    return {name: renderers[name](model) for name in formats}
