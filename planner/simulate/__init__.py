"""A run of the event simulation on demand: the declared load, another rate, or recorded traffic.

`asked` says what a call wants, `altering` lays it over the spec, `run` makes the judgement and the run, `figures`
and `text` print them. The judgement is that of `planner check`, with the figures of this run.
"""

from __future__ import annotations

from planner.simulate.asked import Asked, NotSimulatedError
from planner.simulate.run import Simulated, simulated

__all__ = ["Asked", "NotSimulatedError", "Simulated", "simulated"]
