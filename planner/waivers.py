"""Waivers: an excuse for one finding, with a reason and a date. `today` is an argument."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace

from planner import finding_ids
from planner.findings import Finding, Severity, Verdict, Waiver
from planner.quoting import quoted
from planner.source.document import Document


def waivers_of(document: Document) -> tuple[Waiver, ...]:
    return tuple(
        Waiver(item["finding"], item["path"], item["reason"], item["expires"])
        for item in document.data.get("waivers") or ()
    )


def apply(findings: Sequence[Finding], document: Document, today: str) -> tuple[Finding, ...]:
    """Findings with the waived ones marked; an expired waiver is an error, an unused one a warning.

    A finding is waived where id and path agree. What makes a spec invalid cannot be waived.
    """
    waived = list(findings)
    extra: list[Finding] = []
    for index, waiver in enumerate(waivers_of(document)):
        location = document.location(("waivers", index))
        hits = [at for at, finding in enumerate(waived) if _covers(waiver, finding)]
        if waiver.expires < today:
            extra.append(_expired(waiver, index, document))
        elif hits:
            for at in hits:
                waived[at] = replace(waived[at], waived=waiver)
        else:
            extra.append(replace(_unused(waiver, index, findings), location=location))
    return (*waived, *extra)


def _covers(waiver: Waiver, finding: Finding) -> bool:
    waivable = finding.verdict is not Verdict.INVALID
    return waivable and finding.id == waiver.finding and finding.path == waiver.path


def _expired(waiver: Waiver, index: int, document: Document) -> Finding:
    return Finding(
        "waiver-expired",
        Severity.ERROR,
        f"the waiver of {waiver.finding} at {_place(waiver)} expired on {waiver.expires}",
        "Mend what it excused, or renew it with a later date and a reason that still holds.",
        f"/waivers/{index}",
        {"expires": waiver.expires},
        document.location(("waivers", index)),
        None,
    )


def _place(waiver: Waiver) -> str:
    return waiver.path or "the whole spec"


def _unused(waiver: Waiver, index: int, findings: Sequence[Finding]) -> Finding:
    places = [finding.path for finding in findings if finding.id == waiver.finding]
    invalid = any(finding.verdict is Verdict.INVALID and finding.id == waiver.finding for finding in findings)
    nearest = difflib.get_close_matches(waiver.path, places, n=1, cutoff=0.0)
    if invalid:
        hint = "What makes a spec invalid cannot be waived: mend it."
    elif nearest:
        hint = f"That finding is at {nearest[0]}."
    elif waiver.finding not in finding_ids.known():
        hint = f"There is no finding {quoted(waiver.finding)}. {finding_ids.nearest(waiver.finding)}"
    else:
        hint = "Remove it: nothing like it was found."
    return Finding(
        "waiver-unused",
        Severity.WARNING,
        f"the waiver of {waiver.finding} at {_place(waiver)} excuses nothing",
        hint,
        f"/waivers/{index}",
    )
