"""From a plan to the coefficients of its step: work over achieved rates, and the engine's own time beside it."""

from __future__ import annotations

import math

from planner.domain.accelerator import Interconnect
from planner.domain.plan import Plan
from planner.evaluation.efficiencies import Efficiencies, efficiencies_of
from planner.evaluation.step_work import ExpertProducts, Products, StepWork, step_work
from planner.physics.collectives import LatencyTable, ring_table
from planner.physics.step import AttentionCost, CollectiveCost, ExpertCost, StepCost

SIZES = tuple(1024.0 * size for size in (1, 64, 256, 1024, 4096, 16384, 65536, 262144))
"""Message sizes, bytes, of a table by formula."""
ALL_REDUCES = 2.0
"""Of a layer: after attention and after the feed-forward."""
ACTIVATION_BYTES = 2.0


def step_cost_of(plan: Plan) -> StepCost:
    """Of a configured plan and an engine that is not ideal."""
    figure = efficiencies_of(plan)
    return compile_cost(plan, step_work(plan, windows=bool(figure("sliding_window"))), figure)


def compile_cost(plan: Plan, work: StepWork, figure: Efficiencies) -> StepCost:
    """Divide the work by achieved rates."""
    rates = _Rates(plan, figure)
    kernels, launched = _kernels(work, figure)
    cache = rates.bandwidth * rates.cache_share
    pair = rates.sixteen * figure("attention")
    weights_read = rates.bandwidth * rates.share("16")
    stages = work.parallel.pipeline
    return StepCost(
        linear_read_s=math.fsum(rates.read_s(item) for item in work.linear),
        linear_arithmetic_s=math.fsum(rates.arithmetic_s(item) for item in work.linear),
        head_read_s=rates.read_s(work.head) if work.head else 0.0,
        head_arithmetic_s=rates.arithmetic_s(work.head) if work.head else 0.0,
        experts=tuple(_expert(item, rates, figure, work.parallel.data) for item in work.experts),
        attention=tuple(
            AttentionCost(item.read_bytes / cache, item.decode_flop / pair, item.pair_flop / pair, item.window)
            for item in work.attention
        ),
        collectives=_collectives(plan, work, figure),
        state_s=work.state_bytes / weights_read,
        elementwise_s=work.elementwise_bytes / (weights_read * figure("elementwise_bandwidth")),
        unpack_s=_unpacked_bytes(work, figure) / weights_read,
        kernels_s=kernels * figure("kernel_s"),
        launch_s=launched * figure("launch_s"),
        captured=plan.techniques.cuda_graphs,
        captured_tokens=figure("captured_tokens") if plan.techniques.cuda_graphs else 0.0,
        captured_launches=figure("captured_launches"),
        host_s=figure("host_s"),
        sequence_s=figure("sequence_s"),
        hop_s=figure("hop_s") if stages > 1 else 0.0,
        hop_token_s=_hop_token_s(plan, work, figure) if stages > 1 else 0.0,
        stages=float(stages),
        exponent=figure("roofline_exponent"),
    )


class _Rates:
    """Achieved rates of the accelerator: declared shares of peak before measured ones."""

    def __init__(self, plan: Plan, figure: Efficiencies) -> None:
        self._figure, self._declared = figure, plan.hardware.derate
        card = plan.hardware.accelerator
        self._peaks = card.arithmetic_flop_per_s
        # Peaks of some cards are listed with sums in 32 bits; an engine that sums in 16 gets the chip's own rate.
        listed = card.efficiencies.get("fp32_accumulate_rate", 1.0)
        self._sums = 1.0 / listed if figure("sums_in_16_bits") else 1.0
        self.bandwidth = card.bandwidth_bytes_per_s
        self.sixteen = self._peak("bf16")

    def _peak(self, compute: str) -> float:
        names = (compute, "bf16", "fp16", "fp32")
        found = next((self._peaks[name] for name in names if self._peaks.get(name)), max(self._peaks.values()))
        return found * (self._sums if compute in ("bf16", "fp16") else 1.0)

    def share(self, kind: str) -> float:
        return self._declared.bandwidth if self._declared else self._figure("bandwidth", kind)

    @property
    def cache_share(self) -> float:
        return self._declared.bandwidth if self._declared else self._figure("cache_bandwidth")

    @property
    def expert_share(self) -> float:
        """Of the share of other weights: a declared share is one for all reads."""
        return 1.0 if self._declared else self._figure("expert_bandwidth")

    def read_s(self, item: Products) -> float:
        return item.read_bytes / (self.bandwidth * self.share(item.kind))

    def arithmetic_s(self, item: Products) -> float:
        share = self._declared.compute if self._declared else self._figure("arithmetic", item.kind)
        return item.flop / (self._peak(item.compute) * share)


def _expert(item: ExpertProducts, rates: _Rates, figure: Efficiencies, ranks: int) -> ExpertCost:
    return ExpertCost(
        rates.read_s(item.products) / rates.expert_share,
        rates.arithmetic_s(item.products) / figure("expert_arithmetic"),
        float(item.experts),
        float(item.experts_per_token),
        float(ranks),
    )


def _kernels(work: StepWork, figure: Efficiencies) -> tuple[float, float]:
    """Kernels of a step, and the launches that they come to where no graph is captured.

    Quantising activations adds kernels to a layer; an all-reduce does the work of the norms that follow it.
    """
    layers = work.layers
    added = (
        figure("kernels", "experts") * layers.expert
        + figure("kernels", "latent") * layers.latent
        + figure("kernels", "normed") * layers.normed
    )
    main = max((*work.linear, *(item.products for item in work.experts)), key=lambda item: item.parameters)
    quantised = figure("quantising_kernels", main.kind) * (layers.all - layers.expert / 2.0)
    plain = figure("kernels", "layer") * layers.all + figure("kernels", "recurrent") * layers.recurrent + quantised
    if work.parallel.tensor > 1:
        plain -= figure("fused_kernels") * layers.all
    collectives = figure("launches_of_collectives") * layers.all if work.parallel.tensor > 1 else 0.0
    return plain + added, plain + figure("launches_of_added") * added + collectives


def _unpacked_bytes(work: StepWork, figure: Efficiencies) -> float:
    """Written and read back where an engine unpacks weights to 16 bits before it multiplies many tokens."""
    stored = (*work.linear, *(item.products for item in work.experts))
    return figure("unpacked_bytes") * math.fsum(item.parameters for item in stored if item.kind == "weight-only")


def _collectives(plan: Plan, work: StepWork, figure: Efficiencies) -> tuple[CollectiveCost, ...]:
    """Sums over tensor-parallel ranks, two a layer; and of every layer of experts that data-parallel ranks share,
    whose tokens are gathered before and summed after: what one all-reduce of all their tokens does."""
    links, message = plan.hardware.links, work.hidden * ACTIVATION_BYTES
    tensor, data = work.parallel.tensor, work.parallel.data
    found: list[CollectiveCost] = []
    for ranks, count, size in (
        (tensor, ALL_REDUCES * work.layers.all, message),
        (data if work.experts else 1, work.layers.expert, message * data),
    ):
        if ranks > 1:
            scale = figure("all_reduce", fabric_of(links, ranks))
            found.append(CollectiveCost(count, size, all_reduce_table(links, ranks, figure), scale, scale))
    return tuple(found)


def _hop_token_s(plan: Plan, work: StepWork, figure: Efficiencies) -> float:
    """A token's activations to the next stage: every rank sends the whole of them."""
    return (
        work.hidden
        * ACTIVATION_BYTES
        / _link(plan.hardware.links, work.parallel.tensor * work.parallel.pipeline, figure)
    )


def all_reduce_table(links: Interconnect, ranks: int, figure: Efficiencies) -> LatencyTable:
    """Measured for these links and ranks, captured in a graph; else by the formula for the topology.

    Outside graphs the host's launches are counted apart (`launch_s`), so the captured curve holds there too.
    """
    measured = links.all_reduce.get((ranks, True))
    if measured:
        return LatencyTable.of(measured)
    fabric = fabric_of(links, ranks)
    link = _link(links, ranks, figure)
    size = str(next(known for known in (2, 4, 8, 16) if ranks <= known or known == 16))
    # The share is of the message's bytes, so the ring's own factor is taken off.
    achieved = link * figure("all_reduce_share", fabric, size) * 2.0 * (ranks - 1.0) / ranks
    return ring_table(ranks, achieved, figure("all_reduce_latency_s", fabric, size), SIZES)


def _link(links: Interconnect, ranks: int, figure: Efficiencies) -> float:
    """Bytes a second between `ranks` accelerators: inside their domain, else beyond it, else where no link is known."""
    inside = links.scale_up_bytes_per_s if ranks <= links.domain else None
    return inside or links.scale_out_bytes_per_s or figure("link_bytes_per_s")


def fabric_of(links: Interconnect, ranks: int) -> str:
    """`switched`: every rank reaches every other at full rate; `direct`: over the host or a ring of links."""
    return "switched" if links.topology in ("nvswitch", "xgmi-mesh", "torus") and ranks <= links.domain else "direct"
