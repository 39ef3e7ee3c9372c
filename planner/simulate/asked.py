"""What a run is asked for."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_SEED = 1


class NotSimulatedError(Exception):
    """The spec does not allow a run: nothing is wrong with it, but it cannot be answered."""


@dataclass(frozen=True, slots=True)
class Asked:
    """seed: of arrivals and lengths. rate_per_s: in place of the declared load, requests or sessions.

    trace: recorded traffic in its place, a reference from the spec's folder. requests: how many to send, duration_s:
    for how long; None: as many as the percentiles need, and a trace whole. interval_s: of the series, None: so that
    there are at most MOST_ROWS.
    """

    seed: int = DEFAULT_SEED
    rate_per_s: float | None = None
    trace: str | None = None
    requests: int | None = None
    duration_s: float | None = None
    interval_s: float | None = None
