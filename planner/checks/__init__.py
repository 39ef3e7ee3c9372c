"""Findings about an evaluated plan, one module each, found by file name.

A check module has a docstring (why it matters and what to do, for `planner explain` and the documentation) and:

ID: str             the finding's id: the file name with dashes.
SEVERITY: Severity  of what it usually says.
FAILING: str        a spec (YAML) that gets the finding. PASSING: one that does not.
FILES: dict         optional: {name: text} of the files that these specs refer to.

def check(plan: Plan, result: PlanResult) -> Iterator[Finding]

A finding's `path` is a JSON pointer into the spec; its location is filled in afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from planner import discovery

if TYPE_CHECKING:
    from planner.domain.evaluation import PlanResult
    from planner.domain.plan import Plan
    from planner.findings import Finding


def run(plan: Plan, result: PlanResult, without: Collection[str] = ()) -> Iterator[Finding]:
    """What every check has to say, in the order of their names; those in `without` are not asked."""
    for module in discovery.modules(__name__):
        if module.ID not in without:
            yield from module.check(plan, result)
