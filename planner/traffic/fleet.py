"""Several engines behind a router: how requests are shared out, what happens when one is lost or one is added.

Engines that nothing ties together run on their own. A router that looks at the engines' load, failures and scaling
take arrivals in order: every engine is advanced to the arrival before it is placed. What follows a finished request
(a turn, the next of a closed loop) stays with its engine, where its cache is, unless that engine is down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from planner.traffic.engine import EngineSimulation
from planner.traffic.population import Source
from planner.traffic.request import Request

ROUTERS = ("round-robin", "least-loaded", "prefix-aware")


@dataclass(frozen=True, slots=True)
class Outage:
    """Engines `engines` (by index) are down from `start_s` to `end_s`; their requests begin anew elsewhere."""

    engines: tuple[int, ...]
    start_s: float
    end_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Scaling:
    """Engines between `minimum` and all. wanted: requests in an engine, above which another is started and below
    half of which one is stopped, looked at every `every_s`; a new one serves after `start_s`."""

    minimum: int
    start_s: float
    wanted: float
    every_s: float = 15.0
    hold_s: float = 300.0


@dataclass(slots=True)
class Fleet:
    """Engines and their router. `run` gives every request of a source to them and lets them finish.

    serving_s: (time, engines that serve) whenever that changed.
    """

    engines: Sequence[EngineSimulation]
    router: str = "round-robin"
    outages: Sequence[Outage] = ()
    scaling: Scaling | None = None
    progress: Callable[[int], None] | None = None
    serving_s: list[tuple[float, int]] = field(default_factory=list)
    _pending: list[tuple[float, int, Request]] = field(default_factory=list)
    _order: count[int] = field(default_factory=count)
    _turn: int = 0
    _homes: dict[object, int] = field(default_factory=dict)
    _up: list[bool] = field(default_factory=list)

    def run(self, source: Source) -> None:
        """Until every request is finished or turned away."""
        self._up = [True] * len(self.engines)
        self._follow(source)
        if len(self.engines) > 1 and (self.router != "round-robin" or self.outages or self.scaling):
            self._together(source)
            return
        for request in source.requests:
            self._place(request).submit(request)
        for engine in self.engines:
            engine.advance()

    # ------------------------------------------------------------------ what follows

    def _follow(self, source: Source) -> None:
        """Completed requests are followed by others, at the same engine."""
        follow = source.follow
        if follow is None:
            return
        for index, engine in enumerate(self.engines):

            def done(request: Request, at: float, index: int = index) -> None:
                following = follow(request, at)
                if following is None:
                    return
                if self._up[index]:
                    self.engines[index].submit(following)
                else:
                    heappush(self._pending, (following.ready_s, next(self._order), following))

            engine.on_done = done

    # ------------------------------------------------------------------ arrivals in order

    def _together(self, source: Source) -> None:
        events = self._events()
        requests = iter(source.requests)
        upcoming = next(requests, None)
        seen = 0
        while True:
            at = min(
                upcoming.ready_s if upcoming else math.inf,
                self._pending[0][0] if self._pending else math.inf,
                events[0][0] if events and (upcoming or self._pending or self._busy()) else math.inf,
            )
            if math.isinf(at):
                break
            self._advance(at)
            while events and events[0][0] <= at:
                _, _, happen = heappop(events)
                happen(at, events)
            while self._pending and self._pending[0][0] <= at:
                request = heappop(self._pending)[2]
                self._place(request).submit(request)
            while upcoming and upcoming.ready_s <= at:
                self._place(upcoming).submit(upcoming)
                upcoming = next(requests, None)
                seen += 1
                if self.progress and seen % 256 == 0:
                    self.progress(seen)
        self._advance(math.inf)

    def _advance(self, until: float) -> None:
        for engine in self.engines:
            engine.advance(until)

    def _busy(self) -> bool:
        return any(not engine.idle for engine in self.engines)

    def _place(self, request: Request) -> EngineSimulation:
        """The engine that gets a request, among those that are up."""
        up = [index for index, ready in enumerate(self._up) if ready] or list(range(len(self.engines)))
        if self.router == "round-robin" or len(up) == 1:
            chosen = up[self._turn % len(up)]
            self._turn += 1
            return self.engines[chosen]
        key = request.prefixes[0][0] if request.prefixes and self.router == "prefix-aware" else None
        if key is not None and len(request.prefixes) > 1:
            key = request.prefixes[-1][0]
        home = self._homes.get(key) if key is not None else None
        least = min(up, key=lambda index: (self.engines[index].load, (index - self._turn) % len(self.engines)))
        if home in up and home is not None and self.engines[home].load <= 2 * self.engines[least].load + 4:
            least = home
        self._turn += 1
        if key is not None:
            self._homes[key] = least
        return self.engines[least]

    # ------------------------------------------------------------------ failures and scaling

    def _events(self) -> list[tuple[float, int, Callable[[float, list], None]]]:  # type: ignore[type-arg]
        events: list[tuple[float, int, Callable[[float, list], None]]] = []  # type: ignore[type-arg]
        for outage in self.outages:
            heappush(events, (outage.start_s, next(self._order), self._lose(outage)))
            if math.isfinite(outage.end_s):
                heappush(events, (outage.end_s, next(self._order), self._restore(outage)))
        if self.scaling is not None:
            for index in range(self.scaling.minimum, len(self.engines)):
                self._up[index] = False
            heappush(events, (self.scaling.every_s, next(self._order), self._scale(_ScalingState())))
        self.serving_s.append((0.0, sum(self._up)))
        return events

    def _lose(self, outage: Outage) -> Callable[..., None]:
        def happen(at: float, events: list[object]) -> None:
            for index in outage.engines:
                self._up[index] = False
                for request in self.engines[index].withdraw():
                    request.ready_s = max(at, request.ready_s)
                    heappush(self._pending, (request.ready_s, next(self._order), request))
            self.serving_s.append((at, sum(self._up)))

        return happen

    def _restore(self, outage: Outage) -> Callable[..., None]:
        def happen(at: float, events: list[object]) -> None:
            for index in outage.engines:
                self._up[index] = True
                self.engines[index].now = max(self.engines[index].now, at)
            self.serving_s.append((at, sum(self._up)))

        return happen

    def _scale(self, state: _ScalingState) -> Callable[..., None]:
        """Look at the load; start or stop one engine; look again later."""

        def happen(at: float, events: list[tuple[float, int, Callable[..., None]]]) -> None:
            scaling = self.scaling
            if scaling is None:
                return
            for index, ready in list(state.starting.items()):
                if ready <= at:
                    del state.starting[index]
                    self._up[index] = True
                    self.engines[index].now = max(self.engines[index].now, at)
                    self.serving_s.append((at, sum(self._up)))
            serving = [index for index, up in enumerate(self._up) if up]
            load = sum(engine.load for engine in self.engines) / len(serving)
            coming = len(serving) + len(state.starting)
            if load * len(serving) > scaling.wanted * coming and coming < len(self.engines):
                index = next(i for i in range(len(self.engines)) if not self._up[i] and i not in state.starting)
                state.starting[index] = at + scaling.start_s
                state.quiet_since = math.inf
            elif load < scaling.wanted / 2.0 and len(serving) > scaling.minimum:
                state.quiet_since = min(state.quiet_since, at)
                if at - state.quiet_since >= scaling.hold_s:
                    self._up[serving[-1]] = False  # it takes no more requests and finishes what it has
                    self.serving_s.append((at, sum(self._up)))
                    state.quiet_since = math.inf
            else:
                state.quiet_since = math.inf
            heappush(events, (at + scaling.every_s, next(self._order), happen))

        return happen


@dataclass(slots=True)
class _ScalingState:
    starting: dict[int, float] = field(default_factory=dict)
    quiet_since: float = math.inf


def handed_over(finished: Sequence[Request], transfer_s: Callable[[Request], float]) -> list[Request]:
    """Requests whose prompts one pool has computed, as they reach the pool that decodes, in order of arrival there.

    transfer_s: time to move a prompt's cache. The first token has been sampled by the first pool.
    """
    moved = [
        Request(
            item.arrival_s, item.prompt, item.output, item.reserved, 0, item.owner, item.session, item.turn,
            ready_s=item.finished_s + transfer_s(item), prefilled=True, scheduled_s=item.scheduled_s,
            first_token_s=item.first_token_s,
        )
        for item in finished
        if not item.rejected and item.output > 1
    ]  # fmt: skip
    return sorted(moved, key=lambda item: item.ready_s)
