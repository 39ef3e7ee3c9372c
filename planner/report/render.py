"""ReportModel -> text. One template a section and a format, found by sorting file names.

Everything that a template prints is escaped for its format unless the template itself wrote it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner import resources
from planner.report import markdown
from planner.report.text import block, one_line

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from planner.report.index import IndexModel
    from planner.report.report_model import ReportModel

_BESIDE = re.compile(r"[a-z0-9][a-z0-9.-]{0,220}\.(?:md|html)")
"""A file beside the report, and nothing else: what a link may lead to."""
_SECTION = re.compile(r"^\d\d_(?P<name>[a-z0-9_]+)\.(?P<format>md|html)\.j2$")


@dataclass(frozen=True, slots=True)
class RenderedSection:
    anchor: str
    title: str
    body: Markup


def section_templates(text_format: str, folder: Path | None = None) -> tuple[str, ...]:
    """File names of the sections in reading order."""
    names = sorted(path.name for path in (folder or resources.folder("templates")).iterdir())
    return tuple(name for name in names if (match := _SECTION.match(name)) and match["format"] == text_format)


def render_markdown(model: ReportModel) -> str:
    return _page(_markdown_environment(), "md", model)


def render_html(model: ReportModel) -> str:
    """One self-contained file: no script, nothing fetched."""
    return _page(_html_environment(), "html", model)


def render_index(model: IndexModel, text_format: str) -> str:
    """text_format: `md` or `html`, the suffix of the file."""
    environment = _markdown_environment() if text_format == "md" else _html_environment()
    return _tidy(environment.get_template(f"index.{text_format}.j2").render(model=model))


def _page(environment: Environment, text_format: str, model: ReportModel) -> str:
    sections = []
    for name in section_templates(text_format):
        module: Any = environment.get_template(name).make_module({"model": model})
        body = str(module).strip("\n")
        if body.strip():
            sections.append(_rendered(name, str(module.title), body))
    page = environment.get_template(f"page.{text_format}.j2").render(model=model, sections=sections)
    return _tidy(page)


def _tidy(page: str) -> str:
    lines = [line.rstrip() for line in page.replace("\r\n", "\n").split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def _rendered(name: str, title: str, body: str) -> RenderedSection:
    from markupsafe import Markup

    match = _SECTION.match(name)
    anchor = match["name"].replace("_", "-") if match else name
    return RenderedSection(anchor, title, Markup(body))


def _environment(finalize: Any) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(resources.folder("templates")),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        newline_sequence="\n",
        auto_reload=False,
    )


def _beside(link: str) -> str:
    """The link where it names a file beside the report, else ""."""
    return link if _BESIDE.fullmatch(link) else ""


@cache
def _html_environment() -> Environment:
    from markupsafe import Markup

    def finalize(value: Any) -> Any:
        return value if isinstance(value, Markup | float | int) else one_line(str(value))

    environment = _environment(finalize)
    environment.filters["block"] = lambda text: Markup("{}").format(block(text))
    environment.filters["beside"] = _beside
    environment.filters["fixed"] = lambda number: Markup(f"{number:.2f}")
    environment.filters["polyline"] = lambda points: Markup(" ".join(f"{x:.2f},{y:.2f}" for x, y in points))
    environment.filters["sortable"] = lambda number: Markup(f"{number:.9g}")
    environment.globals["style"] = Markup((resources.folder("templates") / "style.css").read_text("utf-8"))
    return environment


@cache
def _markdown_environment() -> Environment:
    """Autoescape is on so that a macro's result is known from text; `finalize` does the escaping."""
    from markupsafe import Markup

    def finalize(value: Any) -> Markup:
        return value if isinstance(value, Markup) else Markup(markdown.escape(str(value)))

    environment = _environment(finalize)
    environment.filters["beside"] = _beside
    environment.filters["code"] = lambda text: Markup(markdown.code_span(text))
    environment.filters["fenced"] = lambda text, language="": Markup(markdown.fenced(text, language))
    return environment
