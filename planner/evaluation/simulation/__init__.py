"""A plan's load through the event simulation: what closed forms only bound.

Every data-parallel rank of every replica is an engine; requests are shared out over them. The same spec gives the
same figures.
"""

from planner.evaluation.simulation.figures import applied, kept_of, run_of
from planner.evaluation.simulation.missing import failing, rising, rolling
from planner.evaluation.simulation.run import MOST_ASKED, Run, Summary, simulate, summary, wanted
from planner.evaluation.simulation.serving import clock_of, limits_of
from planner.evaluation.simulation.steady import served_at_most

__all__ = [
    "MOST_ASKED",
    "Run",
    "Summary",
    "applied",
    "clock_of",
    "failing",
    "kept_of",
    "limits_of",
    "rising",
    "rolling",
    "run_of",
    "served_at_most",
    "simulate",
    "summary",
    "wanted",
]
