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

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING

from planner import discovery

if TYPE_CHECKING:
    from planner.domain.evaluation import PlanResult
    from planner.domain.plan import Plan
    from planner.findings import Finding


def run(plan: Plan, result: PlanResult, without: Collection[str] = ()) -> Iterator[Finding]:
    """What every check has to say, in the order of their names; those in `without` are not asked.

    Where prompts and answers have pools of their own, what the engine refuses is asked of each pool.
    """
    pools = _pools(result)
    for module in discovery.modules(__name__):
        if module.ID in without:
            continue
        if pools and module.ID.startswith("engine-"):
            yield from _of_pools(module, pools)
        else:
            yield from module.check(plan, result)


def _pools(result: PlanResult) -> dict[str, tuple[Plan, PlanResult]]:
    """Each pool as a deployment that ships, by name."""
    detail = result.detail
    found = {}
    for name, pool in detail.served.pools.items() if detail is not None else ():
        own = replace(detail, plan=pool.plan, running=pool.plan, ledger=pool.ledger, served=pool.served)
        found[name] = (pool.plan, replace(result, detail=own))
    return found


def _of_pools(module: ModuleType, pools: Mapping[str, tuple[Plan, PlanResult]]) -> Iterator[Finding]:
    """The findings of each pool, where its overlay was written; what both have is said once, of the spec."""
    found = {name: list(module.check(plan, result)) for name, (plan, result) in pools.items()}
    shared = [finding for finding in found["prefill"] if finding in found["decode"]]
    yield from shared
    for name, findings in found.items():
        for finding in findings:
            if finding not in shared:
                path = f"/levers/disaggregated-prefill/{name}{finding.path}"
                yield replace(finding, message=f"{name} pool: {finding.message}", path=path)
