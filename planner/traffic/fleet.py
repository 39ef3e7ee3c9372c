"""Several engines behind a router: how requests are shared out, what happens when one is lost or one is added.

Engines that nothing ties together run on their own. A router that looks at them, failures, scaling and turns of
sessions take time in order: every engine is advanced to the next moment at which a request may have to be placed.
What follows a finished request of a closed loop stays with its engine; the turns of a session are routed anew.

A replica is one engine or several (data-parallel ranks) that fail, start and stop together.

Where prompts and answers have pools of their own, `prefills` of the engines compute prompts. What one of them has
computed goes to an engine that decodes, which fetches its cache when it has a seat and blocks for it, and samples the
first token.
"""

from __future__ import annotations

import gc
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from planner.traffic.autoscaler import Autoscaler, Scaling
from planner.traffic.engine import EngineSimulation
from planner.traffic.population import Source
from planner.traffic.request import Request
from planner.traffic.router import ROUTERS, choose

__all__ = ["ROUTERS", "Fleet", "Outage", "Rollout", "Scaling"]

OFF, STARTING, UP, DRAINING, DOWN = "off", "starting", "up", "draining", "down"


@dataclass(frozen=True, slots=True)
class Outage:
    """Replicas are lost from `start_s` to `end_s`; what they had begins anew elsewhere."""

    replicas: tuple[int, ...]
    start_s: float
    end_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Rollout:
    """Every replica is replaced, `at_once` at a time: no new requests, `grace_s` to finish, `away_s` to start."""

    start_s: float
    at_once: int
    away_s: float
    grace_s: float = 30.0


@dataclass(slots=True)
class Fleet:
    """Engines and their router. `run` gives every request of a source to them and lets them finish.

    group: engines of a replica. prefills: the first so many engines compute prompts and the others answers; 0: every
    engine does both. serving_s: (time, replicas that serve, replicas that are paid for) at every change.
    rolled_s: when the rollout was done. progress: called with the requests done, every 256.
    """

    engines: Sequence[EngineSimulation]
    router: str = "round-robin"
    group: int = 1
    prefills: int = 0
    outages: Sequence[Outage] = ()
    rollout: Rollout | None = None
    scaling: Scaling | None = None
    progress: Callable[[int], None] | None = None
    serving_s: list[tuple[float, int, int]] = field(default_factory=list)
    rolled_s: float = math.nan
    _pending: list[tuple[float, int, Request]] = field(default_factory=list)
    _held: deque[Request] = field(default_factory=deque)
    _events: list[tuple[float, int, Callable[[float], None]]] = field(default_factory=list)
    _draining: list[tuple[float, float, int, Callable[[float], None]]] = field(default_factory=list)
    _order: count[int] = field(default_factory=count)
    _turn: int = 0
    _turns: list[int] = field(default_factory=lambda: [0, 0])
    _states: list[str] = field(default_factory=list)
    _serving: list[int] = field(default_factory=list)
    _ready_s: dict[int, float] = field(default_factory=dict)

    @property
    def replicas(self) -> int:
        return len(self.engines) // self.group

    def run(self, source: Source) -> None:
        """Until every request is finished or turned away."""
        with _uncollected():
            self._run(source)

    def _run(self, source: Source) -> None:
        self._states = [UP] * self.replicas
        together = self._prepare()
        self._changed(0.0)
        several = len(self.engines) > 1
        routed = several and (self.router != "round-robin" or source.turns)
        # What follows is drawn from one load: engines that ran one after another would leave nothing to the last.
        follows = several and source.follow is not None
        if self.prefills:
            self._hand_over(source)
            self._together(source, True)
            return
        self._follow(source, routed)
        if together or routed or follows:
            self._together(source, follows)
            return
        for request in source.requests:
            self._place(request)
        for engine in self.engines:
            engine.advance()

    def _prepare(self) -> bool:
        """Whether something happens to the replicas."""
        for outage in self.outages:
            self._at(outage.start_s, lambda at, outage=outage: self._lose(outage, at))  # type: ignore[misc]
        if self.rollout is not None:
            self._at(self.rollout.start_s, lambda at: self._roll(at, 0))
        if self.scaling is not None:
            for replica in range(max(self.scaling.first, self.scaling.minimum), self.replicas):
                self._states[replica] = OFF
            autoscaler = Autoscaler(self.scaling, self.replicas)
            self._at(self.scaling.every_s, lambda at: self._scale(at, autoscaler))
        return bool(self._events)

    def _at(self, time: float, happen: Callable[[float], None]) -> None:
        heappush(self._events, (time, next(self._order), happen))

    # ------------------------------------------------------------------ what follows

    def _follow(self, source: Source, routed: bool) -> None:
        """Completed requests are followed by others: turns where the router sends them, others at the same engine."""
        follow, progress = source.follow, self.progress
        if follow is None and progress is None:
            return
        finished = count(1)
        for index, engine in enumerate(self.engines):

            def done(request: Request, at: float, index: int = index) -> None:
                if progress is not None and (number := next(finished)) % 256 == 0:
                    progress(number)
                following = follow(request, at) if follow is not None else None
                if following is None:
                    return
                if self._states[index // self.group] == UP and not (routed and following.turn):
                    self.engines[index].submit(following)
                else:
                    heappush(self._pending, (following.ready_s, next(self._order), following))

            engine.on_done = done

    def _hand_over(self, source: Source) -> None:
        """What has a computed prompt goes to the engines that decode; what follows an answer begins at a prompt."""

        def pend(request: Request | None) -> None:
            if request is not None:
                heappush(self._pending, (request.ready_s, next(self._order), request))

        def answered(request: Request, at: float) -> None:
            pend(source.follow(request, at) if source.follow is not None else None)

        def computed(part: Request, at: float) -> None:
            whole = part.whole
            if whole is None:
                raise ValueError("a prompt that stands for no request")
            whole.scheduled_s, whole.found, whole.preemptions = part.scheduled_s, part.found, part.preemptions
            if part.rejected:
                whole.rejected, whole.finished_s = part.rejected, at
                self.engines[self.prefills].done.append(whole)
                answered(whole, at)
                return
            whole.ready_s, whole.remote = at, whole.prompt - 1
            whole.prefixes, whole.kept = (), None
            pend(whole)

        for index, engine in enumerate(self.engines):
            engine.on_done = computed if index < self.prefills else answered

    # ------------------------------------------------------------------ time in order

    def _together(self, source: Source, routed: bool) -> None:
        """routed: something follows a request, so no engine may run ahead of where it may come."""
        requests = iter(source.requests)
        upcoming = next(requests, None)
        while True:
            self._drained()
            busy = upcoming is not None or bool(self._pending) or any(not engine.idle for engine in self.engines)
            at = min(
                upcoming.ready_s if upcoming else math.inf,
                self._pending[0][0] if self._pending else math.inf,
                self._events[0][0] if self._events and (busy or self._held) else math.inf,
            )
            frontier = self._frontier(source) if routed else math.inf
            if math.isinf(at) and math.isinf(frontier):
                break
            self._advance(min(at, frontier))
            self._drained()
            if frontier < at:
                continue
            while self._events and self._events[0][0] <= at:
                time, _, happen = heappop(self._events)
                happen(time)
            while self._pending and self._pending[0][0] <= at:
                self._place(heappop(self._pending)[2])
            while upcoming and upcoming.ready_s <= at:
                self._place(upcoming)
                upcoming = next(requests, None)
        self._advance(math.inf)
        self._give_up()

    def _frontier(self, source: Source) -> float:
        """The first moment at which something may follow a request that is being served."""
        first = self.prefills or len(self.engines)
        found = min(engine.horizon() for engine in self.engines[:first])
        found += 0.0 if self.prefills else source.lookahead_s
        if self.prefills and source.follow is not None:
            found = min(found, *(engine.horizon() for engine in self.engines[first:]))
        if math.isinf(found):
            return math.inf
        return max(found, math.nextafter(min(engine.next_s for engine in self.engines), math.inf))

    def _advance(self, until: float) -> None:
        for engine in self.engines:
            engine.advance(until)

    def _place(self, request: Request) -> None:
        """To an engine of those that serve; where none does it waits until one does."""
        if not self._serving:
            self._held.append(request)
            return
        if not self.prefills:
            chosen = choose(self.router, self.engines, self._serving, request, self._turn)
            self._turn += 1
            self.engines[chosen].submit(request)
            return
        decodes = bool(request.remote)
        serving = [index for index in self._serving if (index >= self.prefills) is decodes]
        item = request if decodes else request.prompt_alone()
        chosen = choose(self.router, self.engines, serving, item, self._turns[decodes])
        self._turns[decodes] += 1
        self.engines[chosen].submit(item)

    def _give_up(self) -> None:
        """Requests that nothing served to the end are turned away."""
        while self._held:
            request = self._held.popleft()
            request.rejected, request.finished_s = "nothing serves", request.ready_s
            self.engines[0].done.append(request)

    # ------------------------------------------------------------------ the life of a replica

    def _changed(self, at: float) -> None:
        """Who serves now; requests that waited for a replica are placed."""
        self._serving = [
            replica * self.group + rank
            for replica, state in enumerate(self._states)
            if state == UP
            for rank in range(self.group)
        ]
        self.serving_s.append((at, self._states.count(UP), len(self._states) - self._states.count(OFF)))
        while self._held and self._serving:
            request = self._held.popleft()
            request.ready_s = max(request.ready_s, at)
            self._place(request)

    def _ranks(self, replica: int) -> Sequence[EngineSimulation]:
        return self.engines[replica * self.group : (replica + 1) * self.group]

    def _start(self, replica: int, at: float) -> None:
        """It serves from now on, with an empty cache."""
        for engine in self._ranks(replica):
            engine.now = max(engine.now, at)
        self._states[replica] = UP
        self._changed(at)

    def _withdraw(self, replica: int, at: float) -> None:
        """What it had begins anew elsewhere."""
        for engine in self._ranks(replica):
            for request in engine.withdraw():
                request.ready_s = max(at, request.ready_s)
                heappush(self._pending, (request.ready_s, next(self._order), request))

    def _lose(self, outage: Outage, at: float) -> None:
        for replica in outage.replicas:
            self._states[replica] = DOWN
        self._changed(at)
        for replica in outage.replicas:
            self._withdraw(replica, at)
            if math.isfinite(outage.end_s):
                self._at(outage.end_s, lambda now, replica=replica: self._start(replica, now))  # type: ignore[misc]

    # ------------------------------------------------------------------ replicas that stop

    def _drain(self, replica: int, at: float, until: float, stopped: Callable[[float], None]) -> None:
        """It takes no new requests; `stopped` when it has finished what it has, at the latest at `until`."""
        self._states[replica] = DRAINING
        self._draining.append((at, until, replica, stopped))
        if math.isfinite(until):
            self._at(until, lambda at: None)  # a moment to look at it

    def _drained(self) -> None:
        """Replicas that have finished what they had, or may not go on any longer."""
        if not self._draining:
            return
        still = []
        for began, until, replica, stopped in self._draining:
            ranks = self._ranks(replica)
            ended = max(began, *(engine.now for engine in ranks))
            if all(engine.idle for engine in ranks):
                self._at(min(ended, until), stopped)
            elif ended >= until:
                self._withdraw(replica, until)
                self._at(until, stopped)
            else:
                still.append((began, until, replica, stopped))
        self._draining = still

    def _roll(self, at: float, first: int) -> None:
        """Replicas from `first` on are replaced; the next ones when these serve."""
        rollout = self.rollout
        if rollout is None:
            return
        if first >= self.replicas:
            self.rolled_s = at
            return
        part = range(first, min(first + rollout.at_once, self.replicas))
        left = len(part)

        def serves(now: float, replica: int) -> None:
            nonlocal left
            self._start(replica, now)
            left -= 1
            if not left:
                self._roll(now, part.stop)

        for replica in part:

            def stopped(now: float, replica: int = replica) -> None:
                for engine in self._ranks(replica):
                    engine.withdraw()  # the process is gone, and its cache with it
                self._states[replica] = DOWN
                self._at(now + rollout.away_s, lambda then: serves(then, replica))

            self._drain(replica, at, at + rollout.grace_s, stopped)
        self._changed(at)

    # ------------------------------------------------------------------ scaling

    def _scale(self, at: float, autoscaler: Autoscaler) -> None:
        """Look at the load, start or stop replicas, look again later."""
        scaling = autoscaler.scaling
        load = sum(self.engines[index].load for index in self._serving) + len(self._held)
        running = self._states.count(UP) + self._states.count(STARTING)
        change = autoscaler.decide(at, load, running) - running
        for replica in [index for index, state in enumerate(self._states) if state == OFF][: max(change, 0)]:
            self._states[replica] = STARTING
            self._ready_s[replica] = at + scaling.start_s
            self._at(at + scaling.start_s, lambda now, replica=replica: self._started(replica, now))  # type: ignore[misc]
        for _ in range(-change):
            self._stop(at)
        if change:
            self._changed(at)
        if any(state not in (DOWN, DRAINING) for state in self._states):
            self._at(at + scaling.every_s, lambda now: self._scale(now, autoscaler))

    def _started(self, replica: int, at: float) -> None:
        """Unless it was stopped before it served, and perhaps started again later."""
        if self._states[replica] == STARTING and self._ready_s[replica] <= at:
            self._start(replica, at)

    def _stop(self, at: float) -> None:
        """One replica fewer: one that does not serve yet, else the last one, when it has finished what it has."""
        starting = [index for index, state in enumerate(self._states) if state == STARTING]
        if starting:
            self._states[starting[-1]] = OFF
            return
        replica = max(index for index, state in enumerate(self._states) if state == UP)

        def stopped(now: float) -> None:
            for engine in self._ranks(replica):
                engine.withdraw()
            self._states[replica] = OFF
            self._changed(now)

        self._drain(replica, at, math.inf, stopped)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for cycles: a run makes many small objects and no cycle, and the search takes a tenth of its time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
