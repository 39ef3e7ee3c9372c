"""How many replicas run, by the requests in them: the rule of the Kubernetes horizontal pod autoscaler.

    wanted = ceil(requests in all replicas / requests wanted in one)      between minimum and maximum

Nothing changes while the requests are within a tenth of what is wanted. Replicas are added at once, at most as many as
run or four, whichever is more; they are taken away only when nothing higher was wanted for a while.

Source: kubernetes.io, Horizontal Pod Autoscaling: tolerance 0.1, looks every 15 s, scale-up by 100 % or 4 pods each
15 s, scale-down stabilised over 300 s.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

TOLERANCE = 0.1
EVERY_S = 15.0
HOLD_S = 300.0
PODS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Scaling:
    """Replicas between `minimum` and all that there are. wanted: requests in one. start_s: until a new one serves.

    first: that serve at the beginning; `minimum` where it is 0.
    """

    minimum: int
    start_s: float
    wanted: float
    every_s: float = EVERY_S
    hold_s: float = HOLD_S
    first: int = 0


@dataclass(slots=True)
class Autoscaler:
    """Decides at every look; remembers what it wanted."""

    scaling: Scaling
    maximum: int
    _wanted: deque[tuple[float, int]] = field(default_factory=deque)

    def decide(self, at: float, load: float, running: int) -> int:
        """Replicas from now on. load: requests in all of them. running: those that serve or are starting."""
        scaling = self.scaling
        ratio = load / (running * scaling.wanted) if running else math.inf
        asked = running if abs(ratio - 1.0) <= TOLERANCE else math.ceil(load / scaling.wanted - 1e-9)
        asked = min(max(asked, scaling.minimum), self.maximum)
        self._wanted.append((at, asked))
        while self._wanted[0][0] < at - scaling.hold_s:
            self._wanted.popleft()
        if asked > running:
            return min(asked, running + max(running, PODS_AT_ONCE))
        return min(max(number for _, number in self._wanted), running)
