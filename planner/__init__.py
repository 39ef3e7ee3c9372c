"""Plan before apply for LLM inference. The names of `planner.api` and what they return, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.api import check_spec, check_specs, check_text, load_spec, render_findings, render_report
    from planner.findings import Finding, Severity, Verdict
    from planner.pipeline import Judgement

__version__ = "0.1.0"
__all__ = [
    "Finding",
    "Judgement",
    "Severity",
    "Verdict",
    "__version__",
    "check_spec",
    "check_specs",
    "check_text",
    "load_spec",
    "render_findings",
    "render_report",
]

_HOMES = {
    "Finding": "planner.findings",
    "Severity": "planner.findings",
    "Verdict": "planner.findings",
    "Judgement": "planner.pipeline",
}


def __getattr__(name: str) -> Any:
    """`planner.check_spec` and the rest: importing planner itself must stay light."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "planner.api")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
