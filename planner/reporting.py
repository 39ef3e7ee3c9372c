"""A judgement to the texts of its report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from planner import report
from planner.analysis import analyse
from planner.pipeline import Judgement
from planner.report import index
from planner.report.text import project_path


def texts(judgement: Judgement, formats: Iterable[str] = ("markdown", "html")) -> dict[str, str]:
    """{"markdown": text, "html": text}. The judgement must have a plan."""
    plan, result, document = judgement.plan, judgement.result, judgement.document
    if plan is None or result is None or document is None:
        raise ValueError("an invalid spec has no report")
    model = report.build(document, plan, result, judgement.findings, judgement.verdict, analyse(plan, result))
    renderers = {"markdown": report.render_markdown, "html": report.render_html}
    return {name: renderers[name](model) for name in formats}


def index_texts(judgements: Sequence[Judgement], formats: Iterable[str] = ("markdown", "html")) -> dict[str, str]:
    """{"markdown": text, "html": text} of the index over deployments."""
    entries = [_entry(judgement) for judgement in judgements]
    suffixes = {"markdown": "md", "html": "html"}
    return {
        name: report.render_index(index.build(entries, suffix), suffix)
        for name, suffix in suffixes.items()
        if name in set(formats)
    }


def _entry(judgement: Judgement) -> index.Entry:
    document = judgement.document
    spec = project_path(document, document.file) if document is not None else PurePath(judgement.file).name
    name = judgement.plan.name if judgement.plan is not None else PurePath(judgement.file).stem
    return index.Entry(name, spec, judgement.verdict, judgement.plan, judgement.result)
