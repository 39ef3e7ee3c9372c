"""One serving engine under arrivals: continuous batching step by step, with the steps between events skipped.

Each iteration gives every decoding sequence its token and fills what is left of the token budget with prompts, first
come, first served. A request is admitted when a seat and the blocks of its prompt are free (`on-demand`), or the
blocks of all that it may grow to (`reserve-maximum`). When growing sequences find no block, the one admitted last
gives up its blocks and waits at the front of the queue to be computed anew.

Between an arrival, a completion, a cache that runs out and a bend of the step's line nothing changes but the length
of contexts, so those iterations are taken in one stride (`StepClock`). Single steps give the same times.

Sources: the scheduler of vLLM's V1 engine (order, recompute of the latest, whole-prompt admission); four measured
runs of vLLM 0.19 (casys-kaist/LLMServingSim@5daddb2) in tests/accuracy.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from planner.traffic.block_pool import BlockPool
from planner.traffic.prefix_cache import PrefixCache
from planner.traffic.records import Gaps, Occupancy
from planner.traffic.request import Request

UNBOUNDED_BLOCKS = 2**52


class Clock(Protocol):
    """Step times of one engine; `step_clock.StepClock` says what each takes and gives."""

    width: float

    def decode_line(self, batch: int, context_sum: float) -> tuple[float, float, float]: ...

    def mixed_s(self, batch: int, context_sum: float, tokens: int, pairs: float, finishing: int) -> float: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What an engine allows. Tokens, sequences, blocks, seconds.

    budget_tokens: prompt tokens and decoded ones of an iteration of one stage. seats: sequences that run together.
    blocks, block_tokens: the cache; 0 blocks: no limit. reserve_maximum: admission by what a request may grow to.
    chunked: prompts are cut to the budget. continuous: requests join while others decode. kept_blocks: left free at
    admission. queue: requests that may wait, queue_s: how long. tokens_per_step: that a sequence keeps of an
    iteration. proposed: speculative tokens that hold cache beside it. host_blocks: of a host tier of the prefix cache.
    fetch_s: of a token's cache, from the host or from another engine, one request after another.
    first_token_s, first_token_steps: handling that delays what the caller sees.
    """

    budget_tokens: int
    seats: int
    blocks: int = 0
    block_tokens: int = 16
    reserve_maximum: bool = False
    chunked: bool = True
    continuous: bool = True
    kept_blocks: int = 0
    queue: float = math.inf
    queue_s: float = math.inf
    tokens_per_step: float = 1.0
    proposed: int = 0
    host_blocks: int = 0
    fetch_s: float = 0.0
    first_token_s: float = 0.0
    first_token_steps: float = 0.0


@dataclass(slots=True)
class EngineSimulation:
    """State of one engine. `submit` requests, `advance` the time, read `done`.

    on_done: called with each request that finished or was rejected, and the time; it may submit others. skip: take
    iterations between events in one stride. owners: kinds of requests whose gaps are told apart, in `gaps_of`; gaps of
    all are in `gaps`.
    """

    clock: Clock
    limits: Limits
    on_done: Callable[[Request, float], None] | None = None
    skip: bool = True
    now: float = 0.0
    done: list[Request] = field(default_factory=list)
    owners: int = 1
    gaps: Gaps = field(default_factory=Gaps)
    gaps_of: list[Gaps] = field(default_factory=list)
    occupancy: Occupancy = field(default_factory=Occupancy)
    busy_s: float = 0.0
    prefill_busy_s: float = 0.0
    iterations: int = 0
    strides: int = 0
    preemptions: int = 0
    pool: BlockPool = field(init=False)
    prefixes: PrefixCache = field(init=False)
    _arrivals: list[tuple[float, int, Request]] = field(default_factory=list)
    _waiting: deque[Request] = field(default_factory=deque)
    _prefilling: deque[Request] = field(default_factory=deque)
    _running: list[Request] = field(default_factory=list)
    _decoding: list[tuple[int, int, int, Request]] = field(default_factory=list)
    _fetching: list[tuple[float, int, int, Request]] = field(default_factory=list)
    _link_free_s: float = 0.0
    _parked_s: float = 0.0
    _batch: int = 0
    _batch_of: list[int] = field(default_factory=list)
    _seated: int = 0
    _context_sum: float = 0.0
    _room: int = 0
    _order: count[int] = field(default_factory=count)
    _write: Callable[[tuple[float, float, float, float, float]], None] = field(init=False)

    def __post_init__(self) -> None:
        self.pool = BlockPool(self.limits.blocks or UNBOUNDED_BLOCKS, self.limits.block_tokens)
        self.prefixes = PrefixCache(self.pool, self.limits.host_blocks)
        self._write = self.gaps.rows.extend
        if self.owners > 1:
            self.gaps_of = [Gaps() for _ in range(self.owners)]
            self._batch_of = [0] * self.owners

    # ------------------------------------------------------------------ from outside

    def submit(self, request: Request) -> None:
        """It reaches the engine at `request.ready_s`, now or later."""
        heappush(self._arrivals, (request.ready_s, next(self._order), request))
        if request.ready_s < self._parked_s:
            self._parked_s = request.ready_s

    @property
    def load(self) -> int:
        """Requests in the engine: running, waiting, and those that have come by now."""
        return self._seated + len(self._waiting) + len(self._arrivals)

    @property
    def waiting(self) -> int:
        """Requests that have come and do not run yet."""
        return len(self._waiting) + len(self._arrivals)

    @property
    def idle(self) -> bool:
        return not (self._seated or self._waiting or self._arrivals)

    @property
    def next_s(self) -> float:
        """When its next iteration begins; never where it has nothing to do."""
        if self._seated or self._waiting:
            return max(self.now, self._parked_s)
        return max(self.now, self._arrivals[0][0]) if self._arrivals else math.inf

    def horizon(self) -> float:
        """No request is done before this moment, and none that comes earlier could change that."""
        if (
            not self._batch
            or self._waiting
            or self._prefilling
            or (self._arrivals and self._arrivals[0][0] <= self.now)
        ):
            return self.next_s
        base, slope, limit = self.clock.decode_line(self._batch, self._context_sum)
        first = base + slope * self._context_sum
        growth = self._batch * self.limits.tokens_per_step
        steps = self._strides(math.inf, first, slope * growth, growth, limit)
        return self.now + steps * first + slope * growth * (steps * (steps - 1) / 2.0)

    def advance(self, until: float = math.inf) -> None:
        """Run iterations that begin before `until`; stops early when nothing is left to do."""
        while True:
            if self._arrivals and self._arrivals[0][0] <= self.now:
                self._ingest()
            if not (self._seated or self._waiting):
                if not self._arrivals or self._arrivals[0][0] >= until:
                    return
                self.now = max(self.now, self._arrivals[0][0])
                continue
            if self.now >= until:
                return
            if self._parked_s > self.now:
                if self._parked_s >= until:
                    return
                self.occupancy.passed(self.now, self._parked_s - self.now, self._seated, self.pool.used)
                self.now = self._parked_s
                continue
            self._iterate(until)

    def withdraw(self) -> list[Request]:
        """Take every request that is not finished out of the engine, in order of arrival: the engine has failed."""
        lost = [item for item in self._running if item.running] + list(self._waiting)
        lost += [item for _, _, item in sorted(self._arrivals)]
        for item in lost:
            self._reset(item)
        limits = self.limits
        self._arrivals, self._waiting, self._prefilling = [], deque(), deque()
        self._running, self._decoding = [], []
        self._batch = self._seated = 0
        self._batch_of = [0] * len(self._batch_of)
        self._context_sum = 0.0
        self.pool = BlockPool(limits.blocks or UNBOUNDED_BLOCKS, limits.block_tokens, clock=self.pool.clock)
        self.prefixes = PrefixCache(self.pool, limits.host_blocks)
        self._fetching, self._link_free_s, self._parked_s = [], self.now, 0.0
        return lost

    # ------------------------------------------------------------------ one iteration, or a stride of them

    def _iterate(self, until: float) -> None:
        if self._fetching:
            self._fetched()
        growth = self._growth(1)
        preempted = self.pool.tight(growth) and self._make_room(growth)
        chunks = self._plan(growth, admit=not preempted) if self._waiting or self._prefilling else None
        if self.limits.queue < math.inf:
            # Seats that stay free in this iteration; whoever still waits lacks blocks, or budget, or a seat.
            self._room = 0 if self._waiting else self.limits.seats - self._seated
        if chunks:
            self._mixed(chunks)
        elif self._batch:
            self._stride(until, one=preempted)  # who was preempted may be admitted after this iteration
        elif self._fetching:
            self._park()
        elif not preempted:
            self._stuck()

    def _growth(self, steps: int) -> int:
        """Tokens that every decoding sequence gains in the next `steps` iterations."""
        kept = self.limits.tokens_per_step
        if kept == 1.0:
            return steps
        return math.floor((self.iterations + steps) * kept) - math.floor(self.iterations * kept)

    def _plan(self, growth: int, admit: bool) -> list[tuple[Request, int]]:
        """Prompt tokens of the next iteration: running prompts first, then those that wait and can be admitted."""
        limits = self.limits
        left = limits.budget_tokens - math.ceil(self._batch * self.clock.width)
        whole = not limits.chunked
        growing = self.pool.needed(growth) if self._waiting and self.pool.growing else 0
        chunks: list[tuple[Request, int]] = []
        for request in self._prefilling:
            if left <= 0:
                return chunks
            tokens = min(left, request.target - request.computed)
            chunks.append((request, tokens))
            left -= tokens
        while admit and left > 0 and self._waiting and self._seated < limits.seats:
            request = self._waiting[0]
            if self._expired(request):
                continue
            if not limits.continuous and self._batch:
                break
            if whole and chunks and request.prompt - request.cached > left:
                break
            if not self._admitted(request, growing):
                break
            if request.fetching:
                continue
            tokens = request.target - request.computed
            tokens = tokens if whole else min(left, tokens)
            chunks.append((request, tokens))
            self._prefilling.append(request)
            left -= tokens
        return chunks

    def _mixed(self, chunks: list[tuple[Request, int]]) -> None:
        """One iteration with prompt tokens beside the decodes."""
        tokens, finishing = 0, 0
        pairs = 0.0
        for request, size in chunks:
            tokens += size
            pairs += size * (request.computed + size / 2.0)
            finishing += request.computed + size == request.target
        if tokens == finishing:  # one token of each prompt is left: a step as any that decodes
            context = self._context_sum + sum(request.target for request, _ in chunks)
            base, slope, _ = self.clock.decode_line(self._batch + finishing, context)
            duration = base + slope * context
        else:
            duration = self.clock.mixed_s(self._batch, self._context_sum, tokens, pairs, finishing)
        self.prefill_busy_s += duration
        self._pass(duration, duration, 0.0, 1)
        for request, size in chunks:
            request.computed += size
            if request.computed == request.target:
                self._prefilling.remove(request)
                self._first_token(request)

    def _stride(self, until: float, one: bool = False) -> None:
        """Decode iterations until the next event, or a single one."""
        base, slope, limit = self.clock.decode_line(self._batch, self._context_sum)
        first = base + slope * self._context_sum
        growth = self._batch * self.limits.tokens_per_step
        rise = slope * growth
        steps = self._strides(until, first, rise, growth, limit) if self.skip and not one else 1
        duration = steps * first + rise * (steps * (steps - 1) / 2.0)
        self._pass(duration, first, rise, steps)

    def _strides(self, until: float, first: float, rise: float, growth: float, limit: float) -> int:
        """Iterations until a sequence ends, a request can join, the cache is full or the line bends."""
        decoding = self._decoding
        while decoding[0][2] != decoding[0][3].epoch:
            heappop(decoding)
        steps = decoding[0][0] - self.iterations
        if steps <= 1:
            return 1
        if self.pool.growing:
            steps = self._fitting(steps)
        if limit < math.inf:
            steps = min(steps, max(math.ceil((limit - self._context_sum) / growth), 1))
        joins = not self._waiting and self._seated < self.limits.seats
        if joins and self._arrivals:
            until = min(until, self._arrivals[0][0])
        if self._fetching:
            until = min(until, self._fetching[0][0])
        if until < math.inf and self.now + steps * first + rise * (steps * (steps - 1) / 2.0) >= until:
            steps = min(steps, steps_until(until - self.now, first, rise))
        return steps

    def _fitting(self, steps: int) -> int:
        """Iterations, `steps` at most, that the free blocks allow; 1 at least, which was made room for."""
        growth = self._growth(steps)
        lasts = self.pool.lasts(growth)
        if lasts >= growth:
            return steps
        kept = self.limits.tokens_per_step
        steps = min(steps, max(int(lasts / kept) + 2, 1))
        while steps > 1 and self._growth(steps) > lasts:
            steps -= 1
        return steps

    def _pass(self, duration: float, first: float, rise: float, steps: int) -> None:
        """Time passes, every decoding sequence gains its tokens, and those that are done leave."""
        batch, now, pool = self._batch, self.now, self.pool
        if batch:
            kept = self.limits.tokens_per_step
            self._write((now, first / kept, rise / kept, steps, batch * kept))
            if self._batch_of:
                for gaps, number in zip(self.gaps_of, self._batch_of, strict=True):
                    if number:
                        gaps.rows.extend((now, first / kept, rise / kept, steps, number * kept))
            if pool.growing:
                pool.grow(self._growth(steps))
                if self.prefixes.resident:
                    self.prefixes.make_room()
            self._context_sum += batch * kept * steps
        self.occupancy.passed(now, duration, self._seated, pool.used)
        self.now = now + duration
        self.busy_s += duration
        self.iterations += steps
        self.strides += 1
        decoding = self._decoding
        while decoding and (decoding[0][0] <= self.iterations or decoding[0][2] != decoding[0][3].epoch):
            _, _, epoch, request = heappop(decoding)
            if epoch == request.epoch:
                self._finish(request)

    # ------------------------------------------------------------------ the life of a request

    def _ingest(self) -> None:
        """What has come by now joins the queue, or is turned away."""
        limits, arrivals = self.limits, self._arrivals
        while arrivals and arrivals[0][0] <= self.now:
            at, _, request = heappop(arrivals)
            if limits.queue_s < math.inf:
                while self._waiting and self._expired(self._waiting[0], at):
                    pass
            if self.pool.blocks_for(request.prompt + request.output) > self.pool.total:
                self._reject(request, "longer than the cache", at)
            elif len(self._waiting) >= limits.queue and self._queue_is_full(at):
                self._reject(request, "queue is full", at)
            else:
                self._waiting.append(request)

    def _queue_is_full(self, at: float) -> bool:
        """For who came at `at`. Those that found a free seat do not wait, so a burst may fill the seats."""
        idle = at >= self.now and not self._seated
        room = self.limits.seats if idle else self._room
        return len(self._waiting) >= self.limits.queue + room

    def _expired(self, request: Request, at: float | None = None) -> bool:
        """Drop the head of the queue when it has waited too long."""
        last = request.ready_s + self.limits.queue_s
        if request.preemptions or last > (self.now if at is None else at):
            return False
        self._waiting.popleft()
        self._reject(request, "waited too long", last)
        return True

    def _reject(self, request: Request, why: str, at: float) -> None:
        request.rejected = why
        request.finished_s = at
        self.done.append(request)
        if self.on_done is not None:
            self.on_done(request, at)

    def _admitted(self, request: Request, growing: int) -> bool:
        """Give the head of the queue a seat and blocks, if both are free beside what running ones take next."""
        pool, limits = self.pool, self.limits
        target = request.prompt + request.emitted
        grown = request.prompt + max(request.reserved, request.output) if limits.reserve_maximum else target
        pieces = request.prefixes
        shared = sum(tokens // pool.size for _, tokens in pieces)
        private = pool.blocks_for(grown + limits.proposed) - shared
        new = private + (self.prefixes.new_blocks(pieces) if pieces else 0)
        if pool.used + new + growing + (limits.kept_blocks if self._seated else 0) > pool.total:
            return False
        self._waiting.popleft()
        cached, fetched = self._known(request)
        if pieces:
            request.held = self.prefixes.hold(pieces)
        pool.used += private
        if self.prefixes.resident:
            self.prefixes.make_room()
        request.blocks, request.target = private, target
        request.computed = min(cached + fetched, target - 1)
        request.fetched = max(request.computed - cached, 0)
        if not request.remote:
            request.found = request.computed
        if request.fetched and limits.fetch_s:
            self._fetch(request)
        request.running = True
        if math.isnan(request.scheduled_s):
            request.scheduled_s = self.now
        self._running.append(request)
        self._seated += 1
        return True

    def _known(self, request: Request) -> tuple[int, int]:
        """Prompt tokens whose cache is here, and those after them that are to be fetched."""
        if request.remote:  # another engine's: computed anew where it has to be given up
            return (0, 0) if request.preemptions else (0, request.remote)
        cached = 0 if request.preemptions else request.cached
        if not request.prefixes:
            return cached, 0
        here, on_host = self.prefixes.look_up(request.prefixes)
        return (here, on_host) if here + on_host > cached else (cached, 0)

    def _fetch(self, request: Request) -> None:
        """Its tokens come over the link, after those that were asked for before."""
        self._link_free_s = max(self._link_free_s, self.now) + request.fetched * self.limits.fetch_s
        request.fetching = True
        heappush(self._fetching, (self._link_free_s, next(self._order), request.epoch, request))

    def _fetched(self) -> None:
        """What has come by now is computed on."""
        fetching = self._fetching
        while fetching and (fetching[0][0] <= self.now or fetching[0][2] != fetching[0][3].epoch):
            _, _, epoch, request = heappop(fetching)
            if epoch == request.epoch:
                request.fetching = False
                self._prefilling.append(request)

    def _park(self) -> None:
        """Nothing can be computed before the link has brought something, or somebody comes."""
        comes = self._arrivals[0][0] if self._arrivals else math.inf
        self._parked_s = min(self._fetching[0][0], comes)

    def _first_token(self, request: Request) -> None:
        """Its prompt is computed: the step that ends now has sampled a token."""
        request.emitted += 1
        if request.emitted == 1:
            request.first_token_s = self.now + self._delay()
        else:
            self._write((self.now, self.now - request.finished_s, 0.0, 1, 1))
            if self.gaps_of:
                self.gaps_of[request.owner].rows.extend((self.now, self.now - request.finished_s, 0.0, 1, 1))
        if request.emitted >= request.output:
            self._leave(request, request.target)
            self._complete(request)
        else:
            self._begin_decoding(request)

    def _begin_decoding(self, request: Request) -> None:
        left = math.ceil((request.output - request.emitted) / self.limits.tokens_per_step - 1e-9)
        if left <= 0:
            self._leave(request, request.target)
            self._complete(request)
            return
        request.started = self.iterations
        request.context = request.target
        heappush(self._decoding, (self.iterations + left, next(self._order), request.epoch, request))
        self._batch += 1
        if self._batch_of:
            self._batch_of[request.owner] += 1
        self._context_sum += request.target
        if not self.limits.reserve_maximum:
            self.pool.join(request.target + self.limits.proposed)

    def _finish(self, request: Request) -> None:
        self._leave(request, self._stop_decoding(request))
        request.emitted = request.output
        self._complete(request)

    def _stop_decoding(self, request: Request) -> int:
        """Out of the batch. Its tokens in the cache."""
        kept = self.limits.tokens_per_step
        steps = self.iterations - int(request.started)
        self._batch -= 1
        if self._batch_of:
            self._batch_of[request.owner] -= 1
        self._context_sum = self._context_sum - request.target - steps * kept if self._batch else 0.0
        grown = math.floor(self.iterations * kept) - math.floor(request.started * kept)
        tokens = request.target + grown
        if not self.limits.reserve_maximum:
            self.pool.leave(tokens + self.limits.proposed)
            shared = request.blocks - self.pool.blocks_for(request.target + self.limits.proposed)
            request.blocks = self.pool.blocks_for(tokens + self.limits.proposed) + shared
        return tokens

    def _leave(self, request: Request, tokens: int) -> None:
        """Give up seat and blocks."""
        self.pool.used -= request.blocks
        request.blocks = 0
        request.running = False
        request.epoch += 1
        self._seated -= 1
        shared = 0
        if request.held:
            shared = sum(size // self.pool.size for key, size in request.prefixes if key != request.kept)
            self.prefixes.release(request.held, request.kept)
            request.held = ()
        if request.kept is not None:
            self.prefixes.keep(request.kept, tokens // self.pool.size - shared)
        running = self._running
        while running and not running[-1].running:
            running.pop()

    def _complete(self, request: Request) -> None:
        request.finished_s = self.now + self._delay() if request.output > 1 else request.first_token_s
        self.done.append(request)
        if self.on_done is not None:
            self.on_done(request, self.now)

    def _delay(self) -> float:
        """What handling adds before the caller sees a token."""
        steps = self.limits.first_token_steps
        if not steps or not self._batch:
            return self.limits.first_token_s
        base, slope, _ = self.clock.decode_line(self._batch, self._context_sum)
        return self.limits.first_token_s + steps * (base + slope * self._context_sum)

    # ------------------------------------------------------------------ when the cache is full

    def _make_room(self, growth: int) -> bool:
        """Preempt the latest until the next iteration's growth fits. Whether any was."""
        preempted = False
        while self.pool.growing and self.pool.needed(growth) > self.pool.free:
            self._preempt()
            preempted = True
        return preempted

    def _preempt(self) -> None:
        running = self._running
        while not running[-1].running:
            running.pop()
        request = running[-1]
        kept = self.limits.tokens_per_step
        if request.fetching:
            request.fetching = False
        elif request in self._prefilling:
            self._prefilling.remove(request)
        else:
            gained = min(int((self.iterations - request.started) * kept), request.output - request.emitted - 1)
            self._stop_decoding(request)
            request.emitted += gained
        kept_key, request.kept = request.kept, None
        self._leave(request, 0)
        request.kept = kept_key
        request.preemptions += 1
        request.computed = 0
        request.finished_s = self.now
        self.preemptions += 1
        self._waiting.appendleft(request)

    def _reset(self, request: Request) -> None:
        """As it came, but for its arrival and what the caller has seen of it."""
        request.epoch += 1
        request.running = request.fetching = False
        request.held = ()
        request.blocks = request.computed = request.emitted = 0

    def _stuck(self) -> None:
        """Nothing runs and the head of the queue cannot be admitted: it never can."""
        if self._waiting and not self._seated:
            self._reject(self._waiting.popleft(), "longer than the cache", self.now)


def steps_until(duration: float, first: float, rise: float) -> int:
    """Fewest steps of first, first + rise, ... seconds that take `duration` or longer; 1 at least."""
    if rise <= 0.0:
        steps = math.ceil(duration / first)
    else:
        half = rise / 2.0
        linear = first - half
        steps = math.ceil((math.sqrt(linear * linear + 4.0 * half * duration) - linear) / (2.0 * half))
    steps = max(steps, 1)
    while steps > 1 and (steps - 1) * first + rise * ((steps - 1) * (steps - 2) / 2.0) >= duration:
        steps -= 1
    while steps * first + rise * (steps * (steps - 1) / 2.0) < duration:
        steps += 1
    return steps
