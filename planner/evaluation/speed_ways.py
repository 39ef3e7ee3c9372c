"""What would meet an objective on time or throughput that is missed: each change alone, tried on the evaluation.

Found by the estimate, not by its band. Where several sizes are enough the smallest is named; loads that are simulated
are tried with fewer sizes, since each costs a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from planner import levers
from planner.domain.evaluation import Evaluation, ObjectiveOutcome
from planner.domain.levers import LeverUse
from planner.domain.plan import Plan
from planner.domain.workload import Length
from planner.evaluation import Detail
from planner.evaluation import detail as evaluated
from planner.evaluation.capacity import at_rate
from planner.evaluation.changed_plans import (
    at_tensor_size,
    shortened,
    sped_up,
    with_budget,
    with_concurrency,
    with_replicas,
)
from planner.evaluation.configure import configure
from planner.evaluation.ways_out import TRIED, WayOut, with_lever
from planner.format import arithmetic, bandwidth, count, rate, significant

LATENCIES = (
    "time_to_first_token", "inter_token_latency", "time_per_output_token", "request_latency", "session_latency",
    "deadline", "completion_time",
)  # fmt: skip
METRICS = (*LATENCIES, "output_tokens_per_second_per_user", "output_tokens_per_second", "goodput")
WITH_LOAD = ("output_tokens_per_second", "goodput")
"""More load helps these, so less of it is no way out."""
MOST_REPLICAS, FASTEST, STEP, SIMULATED_SIZES, MORE = 64, 16.0, 1.02, 1, 8
BUDGETS = (512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True, slots=True)
class _Search:
    """One missed objective of a plan. shipped: the configured plan; simulated: each try is a run."""

    plan: Plan
    shipped: Plan
    item: ObjectiveOutcome
    simulated: bool
    memo: dict[Any, Evaluation]

    def meets(self, key: object, made: Callable[..., Plan], *arguments: Any) -> bool:
        """Whether a configured plan, made of arguments, fits and meets the objective by its estimate."""
        if key not in self.memo:
            self.memo[key] = evaluated(made(*arguments), simulate=self.simulated).evaluation
        found = self.memo[key]
        memory = found.memory
        if not memory.fits or (memory.free_bytes is not None and memory.free_bytes < 0):
            return False
        return any(other.path == self.item.path and _kept(other) for other in found.objectives)

    def smallest(self, key: str, most: int, plan: Callable[[int], Plan], least: int = 1) -> int | None:
        """The smallest whole number of least..most that meets, more being no worse; None where none does."""
        low, high = least, most
        if not self.meets((key, most), plan, most):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.meets((key, middle), plan, middle) else (middle + 1, high)
        return low


def _kept(item: ObjectiveOutcome) -> bool:
    if item.estimate is None:
        return False
    return item.estimate <= item.limit if item.bound == "max" else item.estimate >= item.limit


def speed_ways(plan: Plan, shipped: Detail, item: ObjectiveOutcome, tensor_sizes: Iterable[int]) -> tuple[WayOut, ...]:
    """Ways out of one missed objective: what keeps the output, what changes it, what asks for less.

    tensor_sizes: what the engine takes for the model.
    """
    if item.objective.partition(".")[0] not in METRICS:
        return ()
    simulated = shipped.served.simulated is not None
    search = _Search(plan, shipped.plan, item, simulated, shipped.memo.setdefault("speed_ways", {}))
    sizes = tuple(size for size in tensor_sizes if size > shipped.plan.engine.tensor_parallel_size)
    single = (
        *_wider(search, sizes),
        *_replicas(search),
        *_budget(search),
        *_faster(search),
        *_levers(search),
        *_load(search),
        *_lengths(search),
    )
    return single or tuple(_together(search, sizes))


def _wider(search: _Search, sizes: tuple[int, ...]) -> Iterator[WayOut]:
    """The smallest larger tensor-parallel size that is enough."""
    if len({card.id for card in search.plan.hardware.cards}) > 1:
        return
    for size in sizes[:SIMULATED_SIZES] if search.simulated else sizes:
        if search.meets(("tensor", size), at_tensor_size, search.shipped, size):
            total = at_tensor_size(search.shipped, size).hardware.count
            yield WayOut(f"tensor_parallel_size {size} ({total} accelerators)", {"tensor_parallel_size": size})
            return


def _replicas(search: _Search) -> Iterator[WayOut]:
    """More replicas share the load."""
    now = search.shipped.hardware.replicas
    if now.scales or search.shipped.workload.load.kind in ("offline", "period"):
        return
    made, least = partial(with_replicas, search.shipped), now.minimum + 1
    if search.simulated:
        few = sorted({least, now.minimum * 2})
        found = next((number for number in few if search.meets(("replicas", number), made, number)), None)
    else:
        found = search.smallest("replicas", now.minimum * MOST_REPLICAS, made, least)
    if found is not None:
        yield WayOut(f"{found} replicas", {"replicas": found})


def _budget(search: _Search) -> Iterator[WayOut]:
    """Fewer tokens of prompts in a step: shorter gaps between the tokens of those who decode."""
    now = search.shipped.engine.max_num_batched_tokens
    gaps = search.item.objective.partition(".")[0] in ("inter_token_latency", "time_per_output_token")
    if not gaps or search.simulated or now is None or not search.shipped.engine.enable_chunked_prefill:
        return
    for tokens in reversed([size for size in BUDGETS if size < now]):
        if search.meets(("budget", tokens), with_budget, search.shipped, tokens):
            yield WayOut(f"max_num_batched_tokens of {tokens:,}", {"max_num_batched_tokens": tokens})
            return


def _faster(search: _Search) -> Iterator[WayOut]:
    """An accelerator so many times as fast in bandwidth and arithmetic; as it ships, and with what is considered."""
    alone = _factor(search, "", search.shipped)
    if alone is None:
        return
    card = sped_up(search.shipped, alone).hardware.accelerator
    most = max(card.arithmetic_flop_per_s.values(), default=None)
    speeds = f"{bandwidth(card.bandwidth_bytes_per_s)}{f', {arithmetic(most)}' if most else ''}"
    helped: list[str] = []
    for item in _considered(search.plan):
        factor = _factor(search, item.title, _with_lever(search.plan, item))
        if factor is not None and factor <= STEP:
            yield WayOut(f"{item.title} (considered)", {"lever": item.use})
        elif factor is not None and factor < alone / STEP:
            helped.append(f"{significant(factor, 2)} times with {item.title}")
    also = f", {', '.join(helped)}" if helped else ""
    yield WayOut(f"an accelerator {significant(alone, 2)} times as fast ({speeds}){also}", {"faster": alone})


def _factor(search: _Search, title: str, plan: Plan) -> float | None:
    """The smallest factor on speed that is enough, to a fiftieth; None where none up to 16 is."""
    if search.simulated or not search.meets(("faster", title, FASTEST), sped_up, plan, FASTEST):
        return None
    low, high = 1.0, FASTEST
    while high / low > STEP:
        middle = math.sqrt(low * high)
        enough = search.meets(("faster", title, middle), sped_up, plan, middle)
        low, high = (low, middle) if enough else (middle, high)
    return high


def _considered(plan: Plan) -> Iterator[LeverUse]:
    return (item for item in plan.levers if item.status == "consider" and item.use != "change")


def _with_lever(plan: Plan, item: LeverUse) -> Plan:
    return configure(plan, with_lever(plan, item))


def _tried(search: _Search) -> Iterator[tuple[str, LeverUse]]:
    """Levers that may be tried with no more said than a format; those that are considered have steps of their own."""
    said = {item.use for item in search.plan.levers if item.use != "change"}
    for use, parameters, _ in TRIED:
        module = levers.get(use)
        item = LeverUse(use, module.CLASS, parameters=parameters)
        if use not in said and not module.applies(search.shipped, item):
            yield f"{use} to {parameters['format']} (changes the output)", item


def _levers(search: _Search) -> Iterator[WayOut]:
    found: set[str] = set()
    for text, item in _tried(search):
        if item.use not in found and search.meets(text, _with_lever, search.plan, item):
            found.add(item.use)
            yield WayOut(text, {"lever": item.use, **item.parameters})


def _load(search: _Search) -> Iterator[WayOut]:
    """The most load that is served in time. Of simulated rates `rate-that-holds` says it."""
    load, metric = search.shipped.workload.load, search.item.objective.partition(".")[0]
    if search.simulated:
        return
    if metric in WITH_LOAD:
        yield from _more_load(search)
    elif load.kind == "concurrency" and load.concurrency and load.concurrency > 1:
        most = _largest(search, "concurrency", int(load.concurrency) - 1, partial(with_concurrency, search.shipped))
        if most:
            yield WayOut(f"a concurrency of {most:,} at most", {"largest_concurrency": most})
    elif load.kind == "rate" and load.rate_per_s:
        hundredths = _largest(search, "rate", 99, lambda n: at_rate(search.shipped, (load.rate_per_s or 0.0) * n / 100))
        if hundredths:
            per_s = load.rate_per_s * hundredths / 100
            yield WayOut(f"{rate(per_s, 'requests')} at most", {"largest_rate_per_s": per_s})


def _more_load(search: _Search) -> Iterator[WayOut]:
    """The smallest closed loop that yields enough, where the engine has room for it."""
    load = search.shipped.workload.load
    if load.kind == "concurrency" and load.concurrency:
        now = int(load.concurrency)
        found = search.smallest("concurrency", now * MORE, partial(with_concurrency, search.shipped), now + 1)
        if found is not None:
            yield WayOut(f"a concurrency of {found:,}", {"least_concurrency": found})


def _largest(search: _Search, key: str, most: int, plan: Callable[[int], Plan]) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if search.meets((key, middle), plan, middle) else (low, middle - 1)
    return low


def _lengths(search: _Search) -> Iterator[WayOut]:
    """Shorter answers where the whole request counts, shorter prompts where the first token does; one class alone."""
    metric, classes = search.item.objective.partition(".")[0], search.shipped.workload.classes
    name = {"time_to_first_token": "prompt", "request_latency": "output", "deadline": "output"}.get(metric)
    length: Length | None = getattr(classes[0], name) if name and len(classes) == 1 else None
    if name is None or length is None or search.simulated:
        return
    hundredths = _largest(search, name, 99, lambda n: shortened(search.shipped, name, n / 100))
    tokens = math.floor(length.maximum * hundredths / 100)
    if tokens >= 1:
        what = "prompts" if name == "prompt" else "answers"
        share = "" if length.fixed else f" ({hundredths} % of today's)"
        yield WayOut(f"{what} of {count(tokens)} tokens at most{share}", {f"largest_{name}_tokens": tokens})


def _together(search: _Search, sizes: tuple[int, ...]) -> Iterator[WayOut]:
    """Where nothing is enough alone: a lever, considered ones too, with a larger tensor-parallel size."""
    considered = ((item.title, item) for item in _considered(search.plan))
    for text, item in () if search.simulated else (*considered, *_tried(search)):
        pulled = _with_lever(search.plan, item)
        for size in sizes:
            if search.meets((text, size), at_tensor_size, pulled, size):
                total = at_tensor_size(pulled, size).hardware.count
                yield WayOut(f"{text} with tensor_parallel_size {size} ({total} accelerators)", {"lever": item.use})
                return
