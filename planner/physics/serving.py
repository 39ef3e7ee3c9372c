"""Steady states of one engine on the mixed step: closed loop, static batch, open loop. Means; floats or arrays.

In a closed loop all sequences go forward together, so it is counted in steps first, and in seconds after. A prompt
takes `chunks` of them, an answer (output - 1) / tokens a step; a chunk holds prompt / share tokens of one prompt,
so that a full engine finishes one prompt every `share` steps. With N requests and stages S (a decoding sequence
takes part in one step of S):

    prompt = chunks + share (N - 1) prompt / all          of a prompt: its own, and those it waits for
    others = S (output - 1) / tokens a step + half of one while a request decodes, and the step that an arrival misses
    all    = prompt + others
    mixed  = min(N chunks, all)                           with prompt tokens, while each request runs once
    cycle  = mixed x mixed step + (all - mixed) x decode step
    rate   = N / cycle

The first line is mean value analysis of one queue (Schweitzer 1979): it tends to `chunks` for one request, and to
N share - answer for many, when every step is full. No step holds more than a chunk, and no token is lost: steps with
prompts share N prompts and the decodes of all, whatever the lengths. As no count depends on the hardware, more
bandwidth or arithmetic makes every figure better.

A run of a fixed number of requests starts with a burst: the first ones, as many as are allowed at once, arrive
together and are prefilled one after another; the rest arrive one by one as others end. Mean TTFT is the mixture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from planner.physics import elementwise
from planner.physics.attention import causal_pairs
from planner.physics.root import root
from planner.physics.step import StepCost, step_terms

CAPTURE_EXPONENT = 4.0
"""Steps vary around their mean size: the share of them that a captured graph holds falls from 1 to 0 around it."""
SHORTEST = 2.0**-50
"""Of the longest step time of an open loop: none is looked for below."""


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
    over the stages. together: ranks that step in time with each other, each with seats of its own; a step with a
    prompt on one of them lasts as long for all.
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
    together: float = 1.0


@dataclass(frozen=True, slots=True)
class Steady:
    """A steady state. seconds, and requests a second.

    batch: sequences that decode, on average. in_use: seats in use. decode_s: a decode step through all stages.
    mixed_s: a step of a stage with prompt tokens. gap_s: between tokens. wait_s: until a request's first chunk runs,
    and what handling it takes. queue_s: until it gets a seat. busy: share of steps with prompt tokens.
    """

    batch: Any
    in_use: Any
    decode_s: Any
    mixed_s: Any
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


@dataclass(frozen=True, slots=True)
class Counts:
    """Steps of one stage in which every seat is served once; no figure depends on the hardware.

    prompt: steps of one prompt, with those that it waits for. answer: while it decodes. between: of which an arrival
    misses the beginning. mixed: with prompt tokens. prompts: in a mixed step. decodes: sequences that decode in one.
    """

    prompt: Any
    answer: Any
    between: Any
    mixed: Any
    prompts: Any
    decodes: Any

    @property
    def others(self) -> Any:
        """Steps in which a seat holds no prompt."""
        return self.answer + self.between

    @property
    def all(self) -> Any:
        return self.prompt + self.others


def counts(requests: Requests, engine: Engine, in_use: Any, stages: Any) -> Counts:
    """The closed loop of `in_use` seats in steps: `chunks` for one seat; every step full for many.

    prompt = (h + sqrt(h^2 + 4 chunks others)) / 2,  h = chunks + share (in_use - 1) - others
    """
    own = chunks(requests.prompt, engine.chunk_tokens)
    share = requests.prompt / engine.chunk_tokens
    answer = stages * elementwise.maximum(requests.output - 1.0, 0.0) / engine.tokens_per_step
    between = (in_use - 1.0) / in_use / 2.0
    others = answer + between
    excess = own + share * (in_use - 1.0) - others
    prompt = (excess + elementwise.power(excess * excess + 4.0 * own * others, 0.5)) / 2.0
    mixed = elementwise.minimum(in_use * own * engine.together, prompt + others)
    decoding = in_use / stages * answer / elementwise.maximum(others, 1e-9)
    # Of prompts in a mixed step: those of the busiest rank, which are whole where a step has one.
    prompts = elementwise.maximum(in_use, elementwise.minimum(in_use * engine.together, mixed / own)) / mixed
    return Counts(prompt, answer, between, mixed, prompts, decoding * (mixed - prompt) / mixed)


def closed_loop(cost: StepCost, requests: Requests, engine: Engine, concurrency: Any) -> Steady:
    """`concurrency` requests at all times, each followed by another."""
    in_use = elementwise.maximum(elementwise.minimum(concurrency, engine.seats), 1.0)
    steps = counts(requests, engine, in_use, cost.stages)
    decode = decode_step_s(cost, in_use, requests.context, engine.width) + engine.draft_s
    mixed = mixed_step_s(cost, requests, engine, steps.decodes, steps.prompts)
    cycle = steps.mixed * mixed + (steps.all - steps.mixed) * decode / cost.stages
    other = (cycle - steps.prompt * mixed) / elementwise.maximum(steps.others, 1e-9)
    handling = engine.first_token_s + engine.first_token_steps * decode
    behind = (cost.stages - 1.0) * mixed
    own = chunks(requests.prompt, engine.chunk_tokens)
    rate = in_use / (cycle + behind + handling)
    gaps = elementwise.maximum(requests.output - 1.0, 1e-9)
    return Steady(
        batch=elementwise.maximum(in_use * steps.answer / steps.all, 1.0),
        in_use=in_use,
        decode_s=decode,
        mixed_s=mixed,
        gap_s=elementwise.where(requests.output > 1.0, other * steps.answer / gaps, decode / engine.tokens_per_step),
        prefill_s=own * mixed + behind,
        wait_s=(steps.prompt - own) * mixed + steps.between * other + handling,
        queue_s=elementwise.maximum(concurrency - in_use, 0.0) / rate,
        rate_per_s=rate,
        busy=steps.mixed / steps.all,
    )


def open_loop(cost: StepCost, requests: Requests, engine: Engine, rate_per_s: float) -> Steady | None:
    """Poisson arrivals: the mean step that serves what comes in while it runs.

    None: no step does with the seats that there are and with full chunks.
    """
    own = chunks(requests.prompt, engine.chunk_tokens)
    share = requests.prompt / engine.chunk_tokens
    answer = cost.stages * max(requests.output - 1.0, 0.0) / engine.tokens_per_step

    def mean_s(step: float) -> tuple[float, float, float, float]:
        """(mean step of a stage, decode step, mixed step, share of mixed) where the mean is `step`."""
        prompts = rate_per_s * step
        busy = min(prompts * own * engine.together, 1.0)
        busiest = max(prompts, min(prompts * engine.together, busy / own))
        batch = prompts * answer
        decode = decode_step_s(cost, max(batch, 1.0), requests.context, engine.width) + engine.draft_s
        mixed = mixed_step_s(cost, requests, engine, batch / cost.stages, busiest / busy)
        return (1.0 - busy) * decode / cost.stages + busy * mixed, decode, mixed, busy

    longest = min(engine.seats / answer if answer else float("inf"), 1.0 / share) / rate_per_s
    above = mean_s(longest)[0] - longest
    if above >= 0.0:
        return None
    shortest = longest * SHORTEST
    high = root(lambda step: mean_s(step)[0] - step, (shortest, mean_s(shortest)[0] - shortest), (longest, above))
    mean, decode, mixed, busy = mean_s(high)
    batch = rate_per_s * high * answer
    used = rate_per_s * high * share
    rest = mean / 2.0 * min(batch + used, 1.0)
    queue = used * share * mixed / 2.0 / (1.0 - used)
    wait = rest + queue + engine.first_token_s + engine.first_token_steps * decode
    gap = high * cost.stages / engine.tokens_per_step
    prefill = (own + cost.stages - 1.0) * mixed
    return Steady(max(batch, 1.0), batch, decode, mixed, gap, prefill, wait, 0.0, rate_per_s, busy)


def mixed_step_s(cost: StepCost, requests: Requests, engine: Engine, decodes: Any, prompts: Any) -> Any:
    """A step of one stage with `prompts` prompts (a part of one, or several) beside `decodes` sequences."""
    tokens = prompts * requests.prompt
    pairs = causal_pairs(requests.prompt, requests.cached) * prompts
    sampled = decodes * engine.width + prompts
    partly = _partly_captured(cost, tokens + decodes * engine.width)
    terms = step_terms(partly, decodes, decodes * requests.context, tokens, pairs, sampled, engine.width)
    return terms.total_s + engine.prompt_extra_s * prompts


def _partly_captured(cost: StepCost, tokens: Any) -> StepCost:
    """Launches of steps whose mean size is `tokens`: some are within the largest captured size, some are not."""
    limit = cost.captured_tokens**CAPTURE_EXPONENT
    within = limit / (limit + tokens**CAPTURE_EXPONENT)
    launches = 1.0 - within * (1.0 - cost.captured_launches)
    return replace(cost, captured_tokens=float("inf"), captured_launches=launches)


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
