"""Steady states of one engine on the mixed step: closed loop, static batch, open loop. Means; floats or arrays.

In a closed loop each request holds a seat for its prefill and for output - 1 gaps. A gap is a decode step, and what
the chunks of others' prompts add to it:

    prompts = (seats in use - 1) / output                  that come in during one gap
    delta   = chunks x (mixed step - decode step)          of one prompt, or of all that come in one gap, together
    ITL     = decode step / tokens a step + min(prompts, 1) x delta
    rate    = seats in use / (prefill + (output - 1) ITL)

A run of a fixed number of requests starts with a burst: the first ones, as many as are allowed at once, arrive
together and are prefilled one after another; the rest arrive one by one as others end. Mean TTFT is the mixture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.physics import elementwise
from planner.physics.attention import causal_pairs
from planner.physics.step import StepCost, step_terms

ROUNDS = 8
"""Damped iterations of the batch; the third digit stands after six."""
SETTLED = 1e-4
"""Relative change of the batch at which the rounds of one candidate end; arrays run all of them."""
BUSIEST = 0.97
"""Utilisation at which the wait of a closed loop is cut: its queue is as long as its seats, never longer."""


@dataclass(frozen=True, slots=True)
class Requests:
    """What is asked, tokens. prompt: new ones; cached: prompt tokens found in the cache; output: answer tokens."""

    prompt: Any
    cached: Any
    output: Any

    @property
    def context(self) -> Any:
        """Mean cached tokens while a request decodes: prompt + output / 2."""
        return self.cached + self.prompt + self.output / 2.0


@dataclass(frozen=True, slots=True)
class Engine:
    """How an engine runs steps.

    chunk_tokens: prompt tokens of a step at most. seats: sequences that run together at most, by its limit and by
    its cache. width: tokens a decoding sequence brings to a step; tokens_per_step: those it keeps (1 and 1 without
    speculation). draft_s: time of drafting, a step. first_token_s: request handling before the first token;
    first_token_steps: decode steps that pass before it is handed out (scheduling that runs ahead of the device).
    prompt_extra_s: of a prompt beside its chunks. stage_overlap: share of a chunked prefill that is pipelined
    over the stages.
    """

    chunk_tokens: Any
    seats: Any
    width: float = 1.0
    tokens_per_step: Any = 1.0
    draft_s: Any = 0.0
    first_token_s: Any = 0.0
    first_token_steps: Any = 0.0
    prompt_extra_s: Any = 0.0
    stage_overlap: Any = 0.0


@dataclass(frozen=True, slots=True)
class Steady:
    """A steady state. seconds, and requests a second.

    batch: sequences that decode, on average. in_use: seats in use. decode_s: a decode step. mixed_s: a step with a
    chunk. delta_s: what one prompt adds to the gaps of the others. wait_s: until a request's first chunk runs.
    queue_s: until it gets a seat. busy: share of time in steps with chunks.
    """

    batch: Any
    in_use: Any
    decode_s: Any
    mixed_s: Any
    delta_s: Any
    gap_s: Any
    prefill_s: Any
    wait_s: Any
    queue_s: Any
    rate_per_s: Any
    busy: Any

    @property
    def first_token_s(self) -> Any:
        return self.queue_s + self.wait_s + self.prefill_s


def decode_step_s(cost: StepCost, batch: Any, context: Any, width: float = 1.0) -> Any:
    """One token step of `batch` sequences through all pipeline stages.

    With as many micro-batches as stages, the stage with the head sets the pace; fewer sequences pass one after another.
    """
    groups = elementwise.maximum(elementwise.minimum(cost.stages, batch), 1.0)
    part = batch / groups
    terms = step_terms(cost, part, part * context, width=width)
    through = cost.stages * (terms.total_s - terms.head_s) + terms.head_s
    return elementwise.maximum(through, groups * terms.total_s)


def chunks(prompt: Any, chunk_tokens: Any) -> Any:
    """Steps that a prompt takes: ceil(prompt / chunk), one at least."""
    return elementwise.maximum(elementwise.ceil(prompt / chunk_tokens), 1.0)


def prefill_s(cost: StepCost, requests: Requests, engine: Engine) -> Any:
    """One prompt alone, from its first chunk to its first token.

    n chunks over s stages: n s stage times one after another, (n + s - 1) where they are pipelined.
    """
    count = chunks(requests.prompt, engine.chunk_tokens)
    tokens = requests.prompt / count
    pairs = causal_pairs(requests.prompt, requests.cached) / count
    terms = step_terms(cost, 0.0 * tokens, 0.0 * tokens, tokens, pairs, 1.0 / count)
    stage = terms.total_s - terms.head_s
    alone, pipelined = count * cost.stages * stage, (count + cost.stages - 1.0) * stage
    stepped = engine.stage_overlap * pipelined + (1.0 - engine.stage_overlap) * alone
    return stepped + count * terms.head_s + engine.prompt_extra_s


def closed_loop(cost: StepCost, requests: Requests, engine: Engine, concurrency: Any) -> Steady:
    """`concurrency` requests at all times, each followed by another: the fixed point of the batch."""
    in_use = elementwise.maximum(elementwise.minimum(concurrency, engine.seats), 1.0)
    count = chunks(requests.prompt, engine.chunk_tokens)
    prompts = (in_use - 1.0) / elementwise.maximum(requests.output, 1.0)
    together = elementwise.maximum(prompts, 1.0)
    batch = in_use
    for _ in range(ROUNDS):
        decode, mixed, delta = _steps(cost, requests, engine, batch, together)
        gap = decode / engine.tokens_per_step + elementwise.minimum(prompts, 1.0) * delta
        prefill = (count + cost.stages - 1.0) * mixed
        decoding = elementwise.maximum(requests.output - 1.0, 0.0) * gap
        rate = in_use / (prefill + decoding)
        following = (batch + elementwise.maximum(in_use * decoding / (prefill + decoding), 1.0)) / 2.0
        settled = isinstance(following, float) and abs(following - batch) <= SETTLED * batch
        batch = following
        if settled:
            break
    share = chunks(requests.prompt * together, engine.chunk_tokens) / together
    busy = elementwise.minimum(rate * share * mixed, BUSIEST)
    wait = _wait(cost, decode, mixed, count, busy, (in_use - 1.0) / in_use, in_use - 1.0)
    queue = elementwise.maximum(concurrency - in_use, 0.0) / rate
    wait = wait + engine.first_token_s + engine.first_token_steps * decode
    return Steady(batch, in_use, decode, mixed, delta / together, gap, prefill, wait, queue, rate, busy)


def open_loop(cost: StepCost, requests: Requests, engine: Engine, rate_per_s: float) -> Steady | None:
    """Poisson arrivals: the batch by Little's law, by bisection. None: no batch within the seats serves the rate."""
    count = chunks(requests.prompt, engine.chunk_tokens)
    gaps = max(requests.output - 1.0, 0.0)
    low, high = 0.0, float(engine.seats)
    for _ in range(50):
        middle = (low + high) / 2.0
        decode, _, delta = _steps(cost, requests, engine, max(middle, 1.0))
        if rate_per_s * delta >= 1.0:
            return None
        gap = decode / engine.tokens_per_step / (1.0 - rate_per_s * delta)
        low, high = (middle, high) if rate_per_s * gaps * gap > middle else (low, middle)
    if low > 0.999 * engine.seats:
        return None
    batch = max(high, 1.0)
    decode, mixed, delta = _steps(cost, requests, engine, batch)
    busy = rate_per_s * count * mixed
    if busy >= 1.0:
        return None
    gap = decode / engine.tokens_per_step / (1.0 - rate_per_s * delta)
    wait = _wait(cost, decode, mixed, count, busy, 1.0, float("inf"), idle=max(1.0 - high, 0.0))
    prefill = (count + cost.stages - 1.0) * mixed
    wait = wait + engine.first_token_s + engine.first_token_steps * decode
    return Steady(batch, high, decode, mixed, delta, gap, prefill, wait, 0.0, rate_per_s, busy)


def burst_first_token_s(cost: StepCost, requests: Requests, engine: Engine, together: Any, rate_per_s: Any) -> Any:
    """Mean time to first token of `together` requests that arrive at once at an idle engine.

    Those that get seats are prefilled in order, chunk by chunk; the rest wait for seats at the steady rate.
    """
    seated = elementwise.minimum(together, engine.seats)
    token_s = burst_token_s(cost, requests, engine, seated)
    step = elementwise.minimum(engine.chunk_tokens, seated * requests.prompt)
    steps = elementwise.maximum(seated * requests.prompt / engine.chunk_tokens, 1.0)
    first = (steps + 1.0) / 2.0 * token_s * step
    rest = elementwise.maximum(together - seated, 0.0)
    queued = rest / 2.0 / rate_per_s + seated * requests.prompt * token_s
    decode = decode_step_s(cost, seated, requests.context, engine.width)
    after = engine.first_token_s + engine.first_token_steps * decode
    return first + rest / together * queued + after


def burst_token_s(cost: StepCost, requests: Requests, engine: Engine, seated: Any) -> Any:
    """Time of one prompt token while a burst of `seated` prompts is prefilled: full steps, half of them decoding."""
    tokens = elementwise.minimum(engine.chunk_tokens, seated * requests.prompt)
    beside = seated / 2.0 / cost.stages
    pairs = tokens * (requests.cached + requests.prompt / 2.0)
    terms = step_terms(cost, beside, beside * requests.prompt, tokens, pairs, beside + tokens / requests.prompt)
    return terms.total_s / tokens


def static_batch_s(cost: StepCost, requests: Requests, engine: Engine, batch: Any) -> Any:
    """Seconds that one batch takes, all prompts first, then all answers together."""
    prefill = batch * requests.prompt * burst_token_s(cost, requests, engine, batch)
    steps = elementwise.maximum(requests.output - 1.0, 0.0) / engine.tokens_per_step
    return prefill + steps * (decode_step_s(cost, batch, requests.context, engine.width) + engine.draft_s)


def _steps(cost: StepCost, requests: Requests, engine: Engine, batch: Any, together: Any = 1.0) -> tuple[Any, Any, Any]:
    """(decode step through the stages, mixed step of a stage, what `together` prompts add to a gap).

    Prompts that come in during one gap share steps, as many tokens as a chunk holds.
    """
    count = chunks(requests.prompt * together, engine.chunk_tokens)
    part = batch / cost.stages
    context = part * requests.context
    tokens = requests.prompt * together / count
    pairs = causal_pairs(requests.prompt, requests.cached) * together / count
    sampled = part * engine.width + together / count
    plain = step_terms(cost, part, context, width=engine.width).total_s
    mixed = step_terms(cost, part, context, tokens, pairs, sampled, engine.width).total_s
    mixed = mixed + engine.prompt_extra_s * together / count
    decode = decode_step_s(cost, batch, requests.context, engine.width) + engine.draft_s
    return decode, mixed, count * elementwise.maximum(mixed - plain, 0.0)


def _wait(
    cost: StepCost, decode: Any, mixed: Any, count: Any, busy: Any, others: Any, ahead: Any, idle: Any = 0.0
) -> Any:
    """Until the first chunk of an arrival runs: the rest of the running step, and the prompts before it.

    busy / (1 - busy) / 2 prompts at random arrivals (Pollaczek and Khinchine), at most half of those ahead.
    others: share of the load that is not the arrival's own. idle: share of time with no step running.
    """
    rest = ((1.0 - busy) * decode + busy * mixed) / 2.0 * (1.0 - idle)
    queue = busy * count * mixed / 2.0 / (1.0 - busy * others)
    return rest + elementwise.minimum(queue, ahead * count * mixed / 2.0)
