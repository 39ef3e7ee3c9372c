"""What is deployed, in a few words each: model, hardware, engine, load, lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from planner.domain.accelerator import Accelerator
from planner.domain.plan import Plan
from planner.domain.workload import Length, Load, RequestClass
from planner.format import bandwidth, count, dollars, duration, gigabytes, rate
from planner.report.report_model import Labelled

_MOST_CLASSES = 4
UNNAMED = "declared"
"""What the binding calls an accelerator or a model that the spec gives figures and no name."""


def hardware_of(plan: Plan) -> str:
    """ "2 replicas of 4 x NVIDIA H100 SXM"."""
    cards = Counter(card_name(card) for card in plan.hardware.cards)
    replica = " + ".join(_counted(number, name) for name, number in cards.items())
    replicas = plan.hardware.replicas
    if replicas.minimum != replicas.maximum:
        return f"{replicas.minimum} to {replicas.maximum} replicas of {replica}"
    return replica if replicas.minimum == 1 else f"{replicas.minimum} replicas of {replica}"


def deployed(plan: Plan, pools: Mapping[str, Plan]) -> str:
    """The hardware of the plan, or of each pool: prompts in one, answers in the other."""
    if not pools:
        return hardware_of(plan)
    return f"{hardware_of(pools['prefill'])} for prompts and {hardware_of(pools['decode'])} for answers"


def _counted(number: int, name: str) -> str:
    if not name.startswith("inline "):
        return f"{number} x {name}"
    return f"{number} {name}" if number == 1 else f"{number} {name.replace('accelerator', 'accelerators', 1)}"


def card_name(card: Accelerator) -> str:
    """Its name; of one that the spec gives by figures alone, those: "inline accelerator (80.0 GB, 1.00 TB/s)"."""
    if card.name != UNNAMED:
        return card.name
    return f"inline accelerator ({gigabytes(card.capacity_bytes)}, {bandwidth(card.bandwidth_bytes_per_s)})"


def facts(plan: Plan, pools: Mapping[str, Plan]) -> tuple[Labelled, ...]:
    """The deployment as the spec declares it. pools: of prompts and of answers, where each has its own."""
    price = plan.hardware.price_usd_per_hour
    rows = [
        Labelled("Model", f"{_model_name(plan)}, {_parameters(plan.model.parameters)} parameters, {plan.model.dtype}"),
        Labelled("Hardware", deployed(plan, pools)),
        Labelled("Engine", _engine(plan)),
        *(Labelled(f"Pool {name}", _engine(pool)) for name, pool in pools.items()),
        Labelled("Load", _load(plan.workload.load)),
        *(Labelled(f"Class {entry.name}", _lengths(entry)) for entry in plan.workload.classes[:_MOST_CLASSES]),
    ]
    if len(plan.workload.classes) > _MOST_CLASSES:
        rows.append(Labelled("Further classes", count(len(plan.workload.classes) - _MOST_CLASSES)))
    rows += _fallbacks(plan)
    if price is not None:
        rows.append(Labelled("Price", f"{dollars(price, 'USD/hour')} per accelerator, {_paid(plan, pools)}"))
    if plan.owner:
        rows.append(Labelled("Owner", plan.owner))
    return tuple(rows)


def _paid(plan: Plan, pools: Mapping[str, Plan]) -> str:
    """ "5.80 USD/hour in all", or for those that are always paid for where more may join or some are spare."""
    each = [pool.hardware for pool in pools.values()] or [plan.hardware]
    numbers = [hardware.count * hardware.replicas.minimum + hardware.spares for hardware in each]
    whole = sum(number * (hardware.price_usd_per_hour or 0.0) for number, hardware in zip(numbers, each, strict=True))
    fixed = all(not hardware.spares and hardware.replicas.minimum == hardware.replicas.maximum for hardware in each)
    return f"{dollars(whole, 'USD/hour')} " + ("in all" if fixed else f"for the {sum(numbers)} always paid for")


def _fallbacks(plan: Plan) -> list[Labelled]:
    """What the system does when a deadline is missed, of the deployment and of each class."""
    limits = [*plan.objectives.limits, *(limit for entry in plan.workload.classes for limit in entry.objectives)]
    return [
        Labelled(
            f"Deadline of {limit.request_class}" if limit.request_class else "Deadline",
            f"{duration(limit.limit)}; when it is missed: {limit.fallback}",
        )
        for limit in limits
        if limit.fallback
    ]


def _model_name(plan: Plan) -> str:
    return "inline architecture" if plan.model.name == UNNAMED else plan.model.name


def _parameters(number: float) -> str:
    return f"{number / 1e9:,.2f}e9" if number >= 1e9 else f"{number / 1e6:,.1f}e6"


def _engine(plan: Plan) -> str:
    engine = plan.engine
    sizes = (
        ("tensor", engine.tensor_parallel_size),
        ("pipeline", engine.pipeline_parallel_size),
        ("data", engine.data_parallel_size),
        ("expert", engine.expert_parallel_size),
    )
    parallel = ", ".join(f"{name} parallel {size}" for name, size in sizes if size != 1)
    named = f"{engine.name} {engine.version}" if engine.version else engine.name
    return f"{named}, {parallel}" if parallel else named


def _load(load: Load) -> str:
    match load.kind:
        case "concurrency":
            return f"{count(load.concurrency)} requests always in the system"
        case "offline":
            return "a queue that is never empty"
        case "rate":
            return f"{rate(load.rate_per_s, 'requests')}, {load.process} arrivals"
        case "trace":
            return f"recorded arrivals of {load.trace}" + (f", x{load.scale:g}" if load.scale != 1 else "")
        case "sessions":
            return f"{count(load.sessions)} live sessions"
        case "period":
            return f"control loop of {duration(load.period_s)}, one inference for {load.actions} periods"


def _lengths(entry: RequestClass) -> str:
    share = f"{entry.share * 100:g} % of requests, " if entry.share != 1 else ""
    if entry.context_tokens is not None:
        return f"{share}{count(entry.context_tokens)} tokens in the cache of each sequence"
    return f"{share}prompt {_length(entry.prompt)}{_images(entry)}, output {_length(entry.output)}"


def _images(entry: RequestClass) -> str:
    """ " and 1 image of 256 tokens"."""
    if not entry.image_count:
        return ""
    if entry.image_count == 1:
        return f" and 1 image of {count(entry.image_tokens)} tokens"
    return f" and {count(entry.image_count)} images of {count(entry.image_tokens)} tokens each"


def _length(length: Length | None) -> str:
    if length is None:
        return "n/a"
    if length.trace is not None:
        return f"as recorded in {length.trace}"
    if length.fixed:
        return f"{count(length.mean)} tokens"
    shown = length.declared or ("mean", "max")
    return ", ".join(f"{name} {count(length.at(name))}" for name in shown) + " tokens"
