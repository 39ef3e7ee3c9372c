"""What only the report asks: where the regime turns, what flips the verdict, where each figure comes from."""

from __future__ import annotations

from planner.analysis.cost import cost_rows
from planner.analysis.deciding import deciding_measurement
from planner.analysis.memory import fraction, memory_rows
from planner.analysis.provenance import assumptions, provenance
from planner.analysis.sensitivity import sensitivities
from planner.analysis.turning import turning_points
from planner.analysis.under_load import under_load
from planner.analysis.verification import verification
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.report.analysis_types import Analysis


def analyse(plan: Plan, result: PlanResult) -> Analysis:
    """Every part, of what ships."""
    detail = result.detail
    sensitive, flips = sensitivities(detail)
    deciding, reason = deciding_measurement(detail)
    return Analysis(
        turning_points=turning_points(plan, detail),
        sensitivities=sensitive,
        flips=flips,
        deciding=deciding,
        deciding_reason=reason,
        provenance=provenance(plan, detail),
        assumptions=assumptions(plan, detail),
        verification=verification(plan, detail),
        memory=memory_rows(result),
        fraction=fraction(detail),
        cost=cost_rows(plan, detail),
        under_load=under_load(detail),
    )
