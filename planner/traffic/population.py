"""Who sends requests: arrivals of several kinds of requests, closed loops, sessions, recorded traffic.

A `Source` gives the requests that come by themselves, in order, and those that follow when one is done.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import count, islice, takewhile

from planner.domain.trace import Trace
from planner.traffic.arrivals import Rise, generator, times
from planner.traffic.request import Request


@dataclass(frozen=True, slots=True)
class Kind:
    """Requests of one kind. prompts, outputs: equally likely lengths, tokens. reserved: the longest answer promised.

    share: of requests. hit_rate: share of the prompt that is always found in the cache. shared_tokens: beginning of
    every prompt. turns, delay_s, growth: a session's turns, the pause between them, what each adds to the context.
    caching: the engine has a prefix cache.
    """

    prompts: Sequence[float]
    outputs: Sequence[float]
    reserved: int = 0
    share: float = 1.0
    hit_rate: float = 0.0
    shared_tokens: int = 0
    turns: int = 1
    delay_s: float = 0.0
    growth: int = 0
    caching: bool = False


class Draws:
    """Values of a table, each as often as any other: drawn without putting back, then anew in another order.

    So that the mean of a simulated sample is that of the table, whatever the seed.
    """

    def __init__(self, table: Sequence[float], source: random.Random) -> None:
        self._table, self._source = list(table), source
        self._deck: list[float] = []

    def __call__(self) -> float:
        if not self._deck:
            self._deck = list(self._table)
            self._source.shuffle(self._deck)
        return self._deck.pop()


@dataclass(slots=True)
class Drawing:
    """Makes requests of one kind."""

    kind: Kind
    owner: int
    seed: int
    _prompt: Draws = field(init=False)
    _output: Draws = field(init=False)
    _session: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self._prompt = Draws(self.kind.prompts, generator(self.seed, f"prompts/{self.owner}"))
        self._output = Draws(self.kind.outputs, generator(self.seed, f"outputs/{self.owner}"))

    def first(self, at: float) -> Request:
        """A new request, the first turn where there are several."""
        return self._made(at, round(self._prompt()), next(self._session), 0, 0)

    def next_turn(self, before: Request, at: float) -> Request | None:
        """What follows in the same session; None when that was its last turn."""
        if before.turn + 1 >= self.kind.turns:
            return None
        known = before.prompt + before.output - 1
        prompt = max(before.prompt + self.kind.growth, known + 1)
        return self._made(at + self.kind.delay_s, prompt, before.session, before.turn + 1, known)

    def _made(self, at: float, prompt: int, session: int, turn: int, known: int) -> Request:
        kind = self.kind
        prompt, output = max(prompt, 1), max(round(self._output()), 1)
        pieces: list[tuple[object, int]] = []
        if kind.caching and kind.shared_tokens:
            pieces.append(((self.owner, "shared"), min(kind.shared_tokens, prompt - 1)))
        key = (self.owner, session) if kind.caching and kind.turns > 1 else None
        if key is not None and turn:
            pieces.append((key, max(known - (pieces[0][1] if pieces else 0), 0)))
        return Request(
            at, prompt, output, max(kind.reserved, output), int(kind.hit_rate * prompt), self.owner, session, turn,
            tuple(pieces), key,
        )  # fmt: skip


@dataclass(slots=True)
class Source:
    """requests: those that come by themselves, in order of arrival. follow: what follows one that is done, or None.

    turns: whether turns of sessions follow. lookahead_s: the shortest pause before one.
    """

    requests: Iterator[Request]
    follow: Callable[[Request, float], Request | None] | None = None
    turns: bool = False
    lookahead_s: float = 0.0


def open_loop(
    kinds: Sequence[Kind], rates: Sequence[tuple[float, str, float]], requests: int, seed: int, rise: Rise | None = None
) -> Source:
    """Arrivals that do not wait for one another. rates: (requests a second, process, variation) of each kind.

    A kind of several turns arrives in sessions: the rate counts sessions, and its turns follow. rise: of all rates.
    """
    drawings = [Drawing(kind, owner, seed) for owner, kind in enumerate(kinds)]
    when = (lambda at: at) if rise is None else lambda at: round(rise.at(at), 9)
    streams = [
        # `map` and not a generator inside the list: that would draw from whatever kind the list ended with.
        map(drawing.first, map(when, times(process, rate, variation, seed, f"arrivals/{drawing.owner}")))
        for drawing, (rate, process, variation) in zip(drawings, rates, strict=True)
        if rate > 0
    ]
    arriving = streams[0] if len(streams) == 1 else merge(*streams, key=lambda item: item.arrival_s)
    return Source(islice(arriving, requests), _turns(drawings), *_pause(kinds))


def closed_loop(
    kinds: Sequence[Kind],
    concurrency: int,
    requests: int,
    seed: int,
    owners: Sequence[int] | None = None,
    over_s: float = 0.0,
) -> Source:
    """So many requests (sessions, of kinds with turns) at all times; each that ends is followed by another.

    The first come evenly over `over_s`, or all at once. owners: the kinds that take part, by index; all where it is
    None.
    """
    drawings = [Drawing(kind, owner, seed) for owner, kind in enumerate(kinds)]
    chosen = _mixture(kinds, range(len(kinds)) if owners is None else owners)
    left = count(min(concurrency, requests))

    def follow(before: Request, at: float) -> Request | None:
        turn = drawings[before.owner].next_turn(before, at)
        if turn is not None:
            return turn
        return drawings[next(chosen)].first(at) if next(left) < requests else None

    starting = min(concurrency, requests)
    first = (drawings[next(chosen)].first(round(over_s * index / starting, 9)) for index in range(starting))
    return Source(first, follow, *_pause(kinds))


def until(source: Source, end_s: float) -> Source:
    """The same, with nothing that arrives or follows from `end_s` on."""
    before = source.follow

    def follow(request: Request, at: float) -> Request | None:
        following = before(request, at) if before is not None and at < end_s else None
        return following if following is not None and following.arrival_s < end_s else None

    arriving = takewhile(lambda item: item.arrival_s < end_s, source.requests)
    return replace(source, requests=arriving, follow=follow if before is not None else None)


def side_by_side(sources: Sequence[tuple[Sequence[int], Source]]) -> Source:
    """Several loads at once, each with the kinds of requests that it sends."""
    of_owner = {owner: source for owners, source in sources for owner in owners}

    def follow(before: Request, at: float) -> Request | None:
        own = of_owner[before.owner].follow
        return own(before, at) if own is not None else None

    together = merge(*(source.requests for _, source in sources), key=lambda item: item.arrival_s)
    pauses = [source.lookahead_s for _, source in sources if source.turns]
    return Source(together, follow, bool(pauses), min(pauses, default=0.0))


def recorded(
    trace: Trace,
    scale: float = 1.0,
    requests: int | None = None,
    caching: bool = False,
    share: float = 1.0,
    owner: int = 0,
) -> Source:
    """A trace, its arrivals `scale` times as dense. Its blocks are looked up where the engine has a prefix cache.

    share: of the requests, one every so often, as a router that takes engines in turn would give some of them.
    """
    total = len(trace.arrival_s) if requests is None else min(requests, len(trace.arrival_s))
    kept = (index for index in range(total) if int((index + 1) * share) > int(index * share))
    numbered = ((index, _recorded(trace, index, scale, caching, owner)) for index in kept)
    return Source(_in_sessions(numbered, trace))


def _in_sessions(requests: Iterable[tuple[int, Request]], trace: Trace) -> Iterator[Request]:
    """Requests with the session and the turn of it that they are, where the recording has sessions."""
    turns: dict[int, int] = {}
    for index, request in requests:
        if trace.sessions:
            request.session = session = trace.sessions[index]
            request.turn = turns.get(session, 0)
            turns[session] = request.turn + 1
        yield request


def _recorded(trace: Trace, index: int, scale: float, caching: bool, owner: int) -> Request:
    prompt, output = max(int(trace.input_tokens[index]), 1), max(int(trace.output_tokens[index]), 1)
    pieces: tuple[tuple[object, int], ...] = ()
    if caching and trace.prefixes:
        whole = min(len(trace.prefixes[index]), prompt // trace.block_tokens)
        pieces = tuple((block, trace.block_tokens) for block in trace.prefixes[index][:whole])
    at = (trace.arrival_s[index] - trace.arrival_s[0]) / scale
    return Request(at, prompt, output, output, owner=owner, prefixes=pieces)


def _pause(kinds: Sequence[Kind]) -> tuple[bool, float]:
    """Whether any kind has turns, and the shortest pause before one."""
    pauses = [kind.delay_s for kind in kinds if kind.turns > 1]
    return bool(pauses), min(pauses, default=0.0)


def _turns(drawings: Sequence[Drawing]) -> Callable[[Request, float], Request | None] | None:
    if all(drawing.kind.turns <= 1 for drawing in drawings):
        return None
    return lambda before, at: drawings[before.owner].next_turn(before, at)


def _mixture(kinds: Sequence[Kind], owners: Sequence[int]) -> Iterator[int]:
    """Kinds by their shares, each as often as its share says among any few in a row (the one that lags most)."""
    total = sum(kinds[owner].share for owner in owners)
    if not total:  # loads of several kinds: shares are those of another one
        kinds = [replace(kind, share=1.0) for kind in kinds]
        total = float(len(owners))
    given = dict.fromkeys(owners, 0.0)
    for number in count(1):
        chosen = max(owners, key=lambda owner: kinds[owner].share / total * number - given[owner])
        given[chosen] += 1.0
        yield chosen
