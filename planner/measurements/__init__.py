"""Files with measurements, of whatever tool, to `Measurement`s. Untrusted: bounded, and no fault is an exception.

One module a format in `planner/measurements/formats/`, found by its name. Each has

TITLE: str                                what a person calls the format
def matches(content: Content) -> bool     whether a file is of this format
def read(content: Content) -> Measurement Errors: UnreadableError
"""

from __future__ import annotations

from pathlib import Path

from planner import discovery
from planner.domain.measurement import Measurement
from planner.findings import Finding, Location, Severity, Verdict
from planner.measurements.content import UnreadableError, content_of
from planner.quoting import quoted

__all__ = ["read", "titles"]

FORMATS = f"{__name__}.formats"
Read = tuple[Measurement | None, tuple[Finding, ...]]


def titles() -> tuple[str, ...]:
    """Every format, as a person calls it."""
    return tuple(module.TITLE for module in discovery.modules(FORMATS))


def read(file: Path, *, name: str) -> Read:
    """What a file says, or why it says nothing. name: what findings call it."""
    try:
        content = content_of(file, name)
        module = next((item for item in discovery.modules(FORMATS) if item.matches(content)), None)
        if module is None:
            raise UnreadableError(f"is of no format that is read here. Read: {'; '.join(titles())}")
        found: Measurement = module.read(content)
    except UnreadableError as error:
        return None, (fault(name, str(error)),)
    except (OSError, RecursionError) as error:
        return None, (fault(name, f"cannot be read ({type(error).__name__})"),)
    if not found.runs and found.memory is None:
        return None, (fault(name, f"holds no measurement ({module.TITLE})"),)
    return found, ()


def fault(name: str, what: str) -> Finding:
    """The finding of a file that cannot be used."""
    message = f"{quoted(name)} {what}"
    return Finding("measurement-not-read", Severity.ERROR, message, location=Location(name), verdict=Verdict.INVALID)
