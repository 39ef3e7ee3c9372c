"""Prompts and answers in pools of their own: each pool as a deployment, and what the two come to together.

    time to first token = that of a prompt in the first pool + its cache over the link + that of a prompt of one token
                          in the second
    time between tokens = that of the second pool
    rate at most        = the smaller of both

A closed loop works at the rate where as many requests are inside as it has: rate x time inside = concurrency (Little).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from planner.domain.accelerator import Hardware
from planner.domain.evaluation import Latency, Memory, Percentiles, Throughput
from planner.domain.plan import Plan
from planner.domain.shards import Parallel, kv_bytes_per_token
from planner.domain.workload import STATISTICS, Length, Load, Prefix, RequestClass
from planner.engines import MemoryLedger
from planner.evaluation import latency
from planner.evaluation.latency import Served
from planner.evaluation.mix import images, mix_of, pause_s, turns_of

ONE = Length(dict.fromkeys(STATISTICS, 1.0), ("mean",))
ROUNDS = 40
FULL = 0.998
"""Of the rate at most: where a loop that is never empty works."""


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool as a deployment of its own. load: of the spec, on memory; served: at the rate of both."""

    plan: Plan
    ledger: MemoryLedger
    served: Served

    @property
    def replicas(self) -> int:
        return max(1, self.plan.hardware.replicas.minimum)

    @property
    def engines(self) -> int:
        return self.replicas * self.plan.engine.data_parallel_size


def apart(plan: Plan) -> bool:
    """Whether a configured plan has pools of its own for prompts and answers."""
    return plan.techniques.disaggregated is not None


def plans(plan: Plan) -> tuple[Plan, Plan]:
    """(the pool that computes prompts, the one that answers), each with what it is asked for."""
    record = plan.techniques.disaggregated
    if record is None:
        raise ValueError("the plan has no pools of its own")
    prompts: Plan = record["prefill"]
    workload = plan.workload
    asked = tuple(replace(item, output=ONE, objectives=()) for item in workload.classes)
    prompts = replace(prompts, workload=replace(workload, classes=asked))
    techniques = replace(plan.techniques, disaggregated=None, prefix_caching=True, kv_offload=None)
    known = tuple(replace(item, prefix=_computed(item)) for item in workload.classes)
    answers = replace(plan, techniques=techniques, workload=replace(workload, classes=known))
    return prompts, answers


def everywhere(plan: Plan, change: Callable[[Plan], Plan]) -> Plan:
    """The same change to a configured plan and to the pool that it holds."""
    changed = change(plan)
    record = changed.techniques.disaggregated
    if record is None:
        return changed
    both = {**record, "prefill": change(record["prefill"])}
    return replace(changed, techniques=replace(changed.techniques, disaggregated=both))


def _computed(item: RequestClass) -> Prefix:
    """All of a prompt but its last token is there."""
    prompt = item.prompt.mean + images(item) if item.prompt else 1.0
    return Prefix(hit_rate=max(prompt - 1.0, 0.0) / max(prompt, 1.0))


def fetch_s(plan: Plan) -> float:
    """Time to move a token's cache: each accelerator of either pool moves its part over its own link.

    max(bytes on an accelerator of the first pool / its link, the same of the second).
    """
    record = plan.techniques.disaggregated
    if record is None:
        return 0.0
    both = zip((record["prefill"], plan), record["links_bytes_per_s"], strict=True)
    times = [
        float(kv_bytes_per_token(pool.model, pool.cache_format, Parallel.of(pool.engine))) / float(link)
        for pool, link in both
    ]
    return max(times)


def at_rate(plan: Plan, rate_per_s: float) -> Plan:
    """A pool under requests at a rate, as regular as the spec's own.

    A loop's next request comes when one is answered: as regularly as the slower pool works.
    """
    declared = plan.workload.load
    process, cv = (declared.process, declared.cv) if declared.kind == "rate" else ("constant", None)
    load = Load("rate", rate_per_s=rate_per_s / turns_of(plan), process=process, cv=cv)
    classes = tuple(replace(item, load=None) for item in plan.workload.classes)
    return replace(plan, workload=replace(plan.workload, load=load, classes=classes))


def joined(plan: Plan, pools: Mapping[str, Pool], rate_per_s: float, transfer_s: float, waiting_s: float) -> Served:
    """Figures of both pools at a rate. waiting_s: before the first pool, of a loop that offers more than that."""
    first, second = pools["prefill"].served, pools["decode"].served
    overloaded = first.operating.overloaded or second.operating.overloaded
    operating = replace(
        second.operating,
        overloaded=overloaded,
        waiting_s=first.operating.waiting_s + waiting_s,
        utilisation=max(first.operating.utilisation, second.operating.utilisation),
    )
    both = _latency(first.latency, second.latency, transfer_s + waiting_s, overloaded)
    load, mix = plan.workload.load, mix_of(plan)
    rate = rate_per_s / (load.peak if load.kind == "rate" and not overloaded else 1.0)
    if load.requests is not None and not overloaded:
        both = replace(both, completion_s=load.requests / rate_per_s)
    cards = sum(pool.replicas * pool.plan.hardware.count for pool in pools.values())
    most = [pool.served.throughput.max_requests_per_s for pool in pools.values()]
    throughput = replace(
        second.throughput,
        requests_per_s=rate,
        output_tokens_per_s=rate * mix.output,
        total_tokens_per_s=rate * (mix.output + mix.prompt),
        output_tokens_per_s_per_accelerator=rate * mix.output / cards,
        max_requests_per_s=min(value for value in most if value is not None) if None not in most else None,
        rejected_fraction=None if overloaded else 0.0,
    )
    classes = {
        name: (_latency(first.classes[name][0], own, transfer_s + waiting_s, overloaded), own_rates)
        for name, (own, own_rates) in second.classes.items()
        if name in first.classes
    }
    return replace(second, latency=both, throughput=throughput, operating=operating, classes=classes, pools=dict(pools))


def _latency(first: Latency, second: Latency, between_s: float, overloaded: bool) -> Latency:
    """One pool after the other."""
    alone = replace(second, prefill=first.prefill, prefill_s=first.prefill_s)
    if overloaded:
        return Latency(decode_step_s=alone.decode_step_s, prefill_s=alone.prefill_s, decode=alone.decode,
                       prefill=alone.prefill)  # fmt: skip
    return replace(
        alone,
        time_to_first_token_s=_sum(first.time_to_first_token_s, second.time_to_first_token_s, between_s),
        request_latency_s=_sum(first.time_to_first_token_s, second.request_latency_s, between_s),
        session_latency_s=Percentiles(),
        completion_s=None,
    )


def _sum(one: Percentiles, other: Percentiles, more_s: float) -> Percentiles:
    found: dict[str, float | None] = {}
    for name in STATISTICS:
        left, right = one.at(name), other.at(name)
        found[name] = None if left is None or right is None else left + right + more_s
    return Percentiles(**found)


def served(plan: Plan, ledgers: Mapping[str, tuple[Plan, MemoryLedger, float | None]]) -> Served:
    """Both pools in closed form under the plan's load. ledgers: {pool: (plan, memory, sequences that fit)}."""
    load, mix = plan.workload.load, mix_of(plan)
    transfer = fetch_s(plan) * max(mix.prompt - 1.0, 0.0)

    def at(rate: float, waiting_s: float = 0.0) -> Served:
        pools = {
            name: Pool(pool, ledger, latency.evaluate(at_rate(pool, rate), fitting))
            for name, (pool, ledger, fitting) in ledgers.items()
        }
        return joined(plan, pools, rate, transfer, waiting_s)

    if load.kind == "rate":
        return at((load.rate_per_s or 0.0) * load.peak * turns_of(plan))
    if load.kind == "period":
        return at(1.0 / ((load.period_s or 1.0) * load.actions))
    most = at(1e-6).throughput.max_requests_per_s
    if not most or not mix.has_prompt:
        return at(1e-6)
    if load.kind == "trace":
        found = at(1e-6)
        alone = Latency(
            decode_step_s=found.latency.decode_step_s,
            prefill_s=found.latency.prefill_s,
            decode=found.latency.decode,
            prefill=found.latency.prefill,
        )
        return replace(found, latency=alone, throughput=Throughput(max_requests_per_s=most), classes={})
    return _loop(plan, most, at)


def _loop(plan: Plan, most: float, at: Callable[[float, float], Served]) -> Served:
    """The rate at which a closed loop's requests are inside, in a pause, or in line before the first pool."""
    load = plan.workload.load
    wanted = {"concurrency": load.concurrency, "sessions": float(load.sessions or 1)}.get(load.kind)
    pause = pause_s(plan) if load.kind == "sessions" else 0.0

    def inside(rate: float) -> float:
        return rate * ((at(rate, 0.0).latency.request_latency_s.mean or float("inf")) + pause)

    full = most * FULL
    held = inside(full)
    if wanted is None or held <= wanted:
        return at(full, max((wanted or held) - held, 0.0) / full)
    low, high = 0.0, full
    for _ in range(ROUNDS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if inside(middle) < wanted else (low, middle)
    return at(high, 0.0)


def tightest(pools: Mapping[str, Pool]) -> MemoryLedger:
    """The pool that does not fit, or that keeps the smallest share of its memory free."""
    return min((pool.ledger for pool in pools.values()), key=lambda ledger: _room(ledger.memory))


def _room(memory: Memory) -> tuple[bool, float]:
    free = memory.free_bytes if memory.free_bytes is not None else memory.headroom_bytes
    return memory.fits, free / memory.usable_bytes


def hardware_of(pools: Mapping[str, Plan]) -> Hardware:
    """The accelerators of both pools as one deployment, for what they cost: priced at their mean.

    Replicas of one size stay replicas; of two sizes all accelerators count as one.
    """
    found = [pool.hardware for pool in pools.values()]
    numbers = [max(1, hardware.replicas.minimum) for hardware in found]
    prices = [hardware.price_usd_per_hour for hardware in found]
    cards = [hardware.count * number for hardware, number in zip(found, numbers, strict=True)]
    known = [price for price in prices if price is not None]
    mean = (
        sum(price * count for price, count in zip(known, cards, strict=True)) / sum(cards)
        if len(known) == len(found)
        else None
    )
    alike = all(hardware.cards == found[0].cards for hardware in found)
    base = found[-1]
    total = sum(numbers) if alike else 1
    every = (
        base.cards
        if alike
        else tuple(card for hardware, number in zip(found, numbers, strict=True) for card in hardware.cards * number)
    )
    replicas = replace(base.replicas, minimum=total, maximum=total, limit=None)
    return replace(base, cards=every, replicas=replicas, price_usd_per_hour=mean)
