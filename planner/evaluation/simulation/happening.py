"""What happens to the replicas and to the load while a run goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planner.traffic.arrivals import Rise
from planner.traffic.fleet import Fleet, Outage, Rollout, Scaling


@dataclass(frozen=True, slots=True)
class Shown:
    """Replicas and data-parallel ranks of each that are simulated. share: of the load, theirs."""

    replicas: int
    ranks: int
    share: float


@dataclass(frozen=True, slots=True)
class Happening:
    """Nothing, unless it is said. requests: of the run, where its length is not the usual one.

    shown: what is simulated, where it is not the usual part. looked_at: (begin, end) of the arrivals that count,
    seconds, of the fleet when the run is over.
    """

    outages: Sequence[Outage] = ()
    rollout: Rollout | None = None
    scaling: Scaling | None = None
    rise: Rise | None = None
    requests: int = 0
    looked_at: Callable[[Fleet], tuple[float, float]] | None = None
    shown: Shown | None = None
