"""The decision report: build a ReportModel, render it as Markdown or as one self-contained HTML file."""

from __future__ import annotations

from planner.report.build import build
from planner.report.render import render_html, render_index, render_markdown
from planner.report.report_model import ReportModel

__all__ = ["ReportModel", "build", "render_html", "render_index", "render_markdown"]
