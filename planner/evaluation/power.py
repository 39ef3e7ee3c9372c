"""What the deployment draws: one accelerator in each phase, the mean at a load, and the most."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.domain.accelerator import Hardware
from planner.domain.evaluation import Latency, Throughput
from planner.domain.plan import Plan
from planner.evaluation.phases import Phases
from planner.evaluation.power_figures import PowerFigures, power_figures
from planner.physics.energy import busy_share, mean_share, running_share

STEADY = ("concurrency", "offline")
"""Loads that leave no time without a step."""


@dataclass(frozen=True, slots=True)
class Rating:
    """Of one accelerator, the mean of unlike cards. rated_w: as the maker says; limit_w: as capped, if it is."""

    rated_w: float
    limit_w: float

    @property
    def limit(self) -> float:
        """Share of the rated power."""
        return self.limit_w / self.rated_w


@dataclass(frozen=True, slots=True)
class Draw:
    """Watts. prefill_w None: the spec gives no prompts. mean_w: accelerators and hosts of the whole deployment."""

    rating: Rating
    figures: PowerFigures
    idle_w: float
    decode_w: float
    prefill_w: float | None
    mean_w: float


def rating_of(hardware: Hardware) -> Rating | None:
    """None where neither the catalogue nor the spec knows the power of every card."""
    limit = hardware.power.limit_w
    powers = [card.power_w if card.power_w is not None else limit for card in hardware.cards]
    known = [power for power in powers if power is not None]
    if len(known) < len(powers):
        return None
    capped = math.fsum(min(power, limit) if limit is not None else power for power in known)
    return Rating(math.fsum(known) / len(known), capped / len(known))


def busy_of(plan: Plan, throughput: Throughput, latency: Latency, ranks: int) -> float:
    """Share of time in which an engine rank runs steps."""
    load, rate, stays = plan.workload.load, throughput.requests_per_s, latency.request_latency_s.mean
    if load.kind in STEADY or load.requests is not None or rate is None or stays is None:
        return 1.0
    inside = rate / ranks * max(stays - math.fsum(plan.workload.fixed_s.values()), 0.0)
    return min(inside, 1.0) if load.kind == "period" else float(busy_share(inside))


def draw(plan: Plan, phases: Phases, busy: float) -> Draw | None:
    """The deployment with `busy` of the time in steps. None where the power of an accelerator is not known."""
    hardware, figures = plan.hardware, power_figures(plan.hardware.accelerator)
    rating = rating_of(hardware)
    if rating is None:
        return None
    shares = figures.shares
    idle = min(shares.idle, rating.limit)
    decode = running_share(shares, phases.decode.bandwidth, phases.decode.arithmetic, rating.limit)
    prefill = phases.prefill
    prompts = running_share(shares, prefill.bandwidth, prefill.arithmetic, rating.limit) if prefill else None
    mean = mean_share(idle, decode, prompts if prompts is not None else decode, busy, phases.prefill_share)
    replicas = max(1, hardware.replicas.minimum)
    serving = replicas * hardware.count * mean + hardware.spares * idle
    watts = serving * rating.rated_w + replicas * (hardware.power.host_w or 0.0)
    of_one = (idle * rating.rated_w, decode * rating.rated_w, None if prompts is None else prompts * rating.rated_w)
    return Draw(rating, figures, *of_one, watts)


def most_w(hardware: Hardware, accelerator_w: float, idle_w: float) -> float:
    """Every replica that may run, each accelerator at `accelerator_w`; hosts, and spares that idle, beside."""
    replicas = max(1, hardware.replicas.most)
    running = replicas * (hardware.count * accelerator_w + (hardware.power.host_w or 0.0))
    return running + hardware.spares * idle_w


def rack_w(hardware: Hardware, accelerator_w: float) -> float | None:
    """One full rack, hosts shared out over their accelerators. None where no rack is declared."""
    if hardware.power.rack_accelerators is None:
        return None
    return hardware.power.rack_accelerators * (accelerator_w + (hardware.power.host_w or 0.0) / hardware.count)
